#include "framework/report/csv/experiment_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/run/disturbance.hpp"
#include "framework/report/csv/run_csv.hpp"

namespace graphline {
namespace {

constexpr std::string_view trial_columns = "block,trial,counted,failed,affected,disturbed,";

/// A parameter may be called like a column that is always there.
std::string column_of(const std::string& key) {
  const auto fixed = fmt::format(",{}{}{}", experiment_csv_beginning, trial_columns, csv_header);
  const bool taken = fixed.find("," + key + ",") != fixed.npos || key == "duration_ns";
  return csv_field(taken ? "params." + key : key);
}

}  // namespace

void write_experiment_csv(text_sink& to, const experiment_record& record) {
  const experiment_labels labels(record.configurations);
  to.append(experiment_csv_beginning);
  for (const auto& key : labels.keys()) to.append(column_of(key)).append(",");
  to.append(trial_columns).append(csv_header);
  const auto affected = steadiness_of(record).affected_blocks;
  const counted_trials trials(record, affected);
  std::set<const run_record*> counted;  // in figures, as in the summary
  for (const auto& who : labels.all()) {
    const auto own = trials.of(who);
    counted.insert(own.begin(), own.end());
  }
  for (std::size_t t = 0; t < record.trials.size(); ++t) {
    const auto& trial = record.trials[t];
    const auto& configuration = record.configurations[trial.configuration];
    std::string values;
    for (const auto& value : labels.values(trial.configuration)) values += csv_field(value) + ",";
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      const auto& run = trial.members[m];
      write_csv_rows(
          to, run,
          fmt::format("{},{},{},{}{},{},{},{},{},{},", labels.id(trial.configuration),
                      csv_field(configuration.name), csv_field(configuration.members[m]), values,
                      trial.block, t, counted.contains(&run), run.failure.has_value(),
                      std::ranges::find(affected, trial.block) != affected.end(),
                      run.conditions && !disturbances_of(*run.conditions).empty()));
    }
  }
}

}  // namespace graphline
