#include "framework/report/csv/stamps_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/ready_times.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

/// The stamps of one measure of a stage or part. Its rows share the leading `fields`.
struct column {
  std::string fields;
  std::size_t index;  ///< of the stage
  const stage_record* stage;
  const part_record* part;  ///< null for a stage
  const std::vector<stamp_pair>* stamps;
  const std::vector<nanoseconds>* busy = nullptr;  ///< null if not reported
};

std::vector<column> columns_of(const run_record& record) {
  std::vector<column> result;
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    const auto& stage = record.stages[s];
    for (const auto what : measures_of(stage.on, record.run)) {
      result.push_back(
          {fmt::format("{},{},{}", csv_field(stage.name), to_word(stage.on), to_word(what)), s,
           &stage, nullptr, &stamps_of(stage, what),
           what == measure::device_time ? &stage.busy : nullptr});
    }
    for (const auto& part : stage.parts) {
      result.push_back({fmt::format("{},{},part_time", csv_field(stage.name + "/" + part.name),
                                    to_word(stage.on)),
                        s, &stage, &part, &part.device, &part.busy});
    }
  }
  return result;
}

/// Returns the number of rows; empty if the stage was skipped or has no `rows`.
std::string rows_of(const stage_record& stage, std::size_t frame) {
  const bool known = stage.capacity > 0 && !stage.rows.empty() && stage.rows[frame] >= 0;
  return known ? fmt::to_string(stage.rows[frame]) : "";
}

std::string in_field(const std::optional<nanoseconds>& time) {
  return time ? fmt::to_string(*time) : "";
}

/// `before`: leading fields of each row, with a trailing comma.
void write_csv_rows(text_sink& to, const run_record& record, std::string_view before = {}) {
  const auto columns = columns_of(record);
  fmt::memory_buffer text;
  const auto row = [&](std::size_t frame, std::string_view fields, stamp_pair stamps,
                       std::optional<nanoseconds> ready = {}, std::optional<nanoseconds> busy = {},
                       const std::string& rows = {}) {
    text.clear();
    fmt::format_to(std::back_inserter(text), "{}{},{},{},{},{},{},{}\n", before, frame, fields,
                   stamps.begin, stamps.end, busy.value_or(stamps.length()), rows, in_field(ready));
    to.append({text.data(), text.size()});
  };
  const bool scheduled = record.run.arrival != arrival::closed;
  const run_passes passes(record);
  for (std::size_t frame = 0; frame < record.frames.size(); ++frame) {
    const frame_record& at = record.frames[frame];
    row(frame, ",,end_to_end", {at.due, at.end}, at.begin);
    if (scheduled) row(frame, ",,queue_wait", {at.due, passes.joined(frame)});
    if (!record.batches.empty()) row(frame, ",,batch_wait", {passes.joined(frame), at.begin});
    const std::size_t pass = passes.of(frame);
    if (passes.first_frame(pass) != frame) continue;
    for (const auto& c : columns) {
      if (pass >= c.stamps->size()) continue;
      const auto rows = rows_of(*c.stage, pass);
      const auto ready =
          c.part != nullptr ? std::nullopt : ready_time(record, passes, c.index, pass);
      if (!ran(*c.stage, pass)) {
        if (c.part != nullptr) continue;
        to.append(fmt::format("{}{},{},{},,,{},{}\n", before, frame, c.fields,
                              (*c.stamps)[pass].begin, rows, in_field(ready)));
        continue;
      }
      if (c.part != nullptr && c.part->bucket != bucket_of(*c.stage, pass)) continue;
      const bool told = c.busy != nullptr && pass < c.busy->size();
      row(frame, c.fields, (*c.stamps)[pass], ready,
          told ? std::optional((*c.busy)[pass]) : std::nullopt, rows);
    }
  }
  const auto rows_without_end = [&](std::string_view fate, const std::vector<nanoseconds>& times) {
    for (const auto due : times) to.append(fmt::format("{},,,{},{},,,,\n", before, fate, due));
  };
  rows_without_end("dropped", record.load.dropped);
  rows_without_end("unfinished", record.load.unfinished);
}

constexpr std::string_view configuration_columns = "id,configuration,member,";
constexpr std::string_view trial_columns = "block,trial,counted,failed,affected,disturbed,";

/// Returns true if a spreadsheet would treat the text as a formula. Full-width signs count too.
bool begins_formula(std::string_view text) {
  constexpr std::string_view signs[] = {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  return std::ranges::any_of(signs, [&](auto sign) { return text.starts_with(sign); });
}

bool is_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

/// Returns the name of a varied column; "params.KEY" if a fixed column is called KEY.
std::string column_of(const std::string& key, std::string_view rank_column) {
  const auto fixed =
      fmt::format(",{}{}{}{}", configuration_columns, rank_column, trial_columns, csv_header);
  const bool taken = fixed.find("," + key + ",") != fixed.npos || key == "ready_ns";
  return csv_field(taken ? "params." + key : key);
}

}  // namespace

std::string csv_field(std::string_view name) {
  auto text = printable(name);
  if (begins_formula(text) && !is_number(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_run_csv(text_sink& to, const run_record& record) {
  to.append(csv_header);
  write_csv_rows(to, record);
}

void write_experiment_csv(text_sink& to, const experiment_record& record) {
  const experiment_labels labels(record.configurations);
  const bool on_ranks = std::ranges::any_of(
      record.trials, [](const trial_record& trial) { return trial.place.has_value(); });
  const std::string_view rank_column = on_ranks ? "rank," : "";
  to.append(configuration_columns);
  for (const auto& key : labels.keys()) to.append(column_of(key, rank_column)).append(",");
  to.append(rank_column);
  to.append(trial_columns).append(csv_header);
  const auto affected = steadiness_of(record).affected_blocks;
  const counted_trials trials(record, affected);
  std::set<const run_record*> counted;  // in the summary
  for (const auto& who : labels.all()) {
    const auto own = trials.of(who);
    counted.insert(own.begin(), own.end());
  }
  for (std::size_t t = 0; t < record.trials.size(); ++t) {
    const auto& trial = record.trials[t];
    const auto& configuration = record.configurations[trial.configuration];
    std::string values;
    for (const auto& value : labels.values(trial.configuration)) values += csv_field(value) + ",";
    if (on_ranks) values += trial.place ? fmt::format("{},", trial.place->rank) : ",";
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
