#include "framework/report/csv/experiment_csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/report/csv/csv_rows.hpp"

namespace graphline {

void write_experiment_csv(text_sink& to, const experiment_record& record) {
  to.append(experiment_csv_beginning).append(csv_columns);
  for (const auto& trial : record.trials) {
    const auto& configuration = record.configurations[trial.configuration];
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      write_csv_rows(to, trial.members[m],
                     fmt::format("{},{},{},", csv_field(configuration.name),
                                 csv_field(configuration.members[m]), trial.block));
    }
  }
}

std::uint64_t expected_experiment_csv_bytes(const experiment_plan& planned) {
  std::uint64_t block = 0;
  for (const auto& configuration : planned.configurations) {
    const auto& what = configuration.what;
    for (std::size_t m = 0; m < configuration.members.size(); ++m) {
      const auto& member = configuration.members[m];
      // Both names, quotes around them, three commas and the number of a block.
      const std::uint64_t before = what.name.size() + what.members[m].size() + 12;
      block += expected_csv_row_bytes(member.run.frames, member.stages.size()) +
               before * expected_csv_rows(member.run.frames, member.stages.size());
    }
  }
  return experiment_csv_beginning.size() + csv_columns.size() +
         static_cast<std::uint64_t>(std::max<std::int64_t>(planned.how.trials, 0)) * block;
}

}  // namespace graphline
