#include <utility>

#include "framework/analysis/run/summary.hpp"
#include "framework/report/html/experiment_data_parts.hpp"

namespace graphline {

using json = nlohmann::ordered_json;

json trial_data(const experiment_source& from) {
  json who = json::array();
  json block = json::array();
  json begun = json::array();
  json p50 = json::array();
  for (const auto& trial : from.record.trials) {
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      const auto& run = trial.members[m];
      if (run.frames.empty()) continue;
      who.push_back(from.place_of({trial.configuration, m}));
      block.push_back(trial.block);
      begun.push_back(trial.begun);
      p50.push_back(lower_median(end_to_end_times(run)));
    }
  }
  return {{"who", std::move(who)},
          {"block", std::move(block)},
          {"begun", std::move(begun)},
          {"p50", std::move(p50)}};
}

}  // namespace graphline
