#include "framework/analysis/experiment/experiment_summary.hpp"

#include <algorithm>

#include "framework/analysis/experiment/comparisons.hpp"
#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/experiment/member_summary.hpp"

namespace graphline {
namespace {

counted_trials without_repeated(const counted_trials& complete, const experiment_record& record,
                                const steadiness& machine) {
  return record.how.repeat_affected ? complete.without(machine.affected_blocks) : complete;
}

bool reaches_at_most(double far, const comparison& comparison) {
  if (!comparison.ratio_range) return false;
  const auto& [low, high] = *comparison.ratio_range;
  return high <= comparison.ratio * (1 + far) && low >= comparison.ratio * (1 - far);
}

}  // namespace

experiment_summary summarize(const experiment_record& record) {
  experiment_summary result;
  const counted_trials complete(record);
  result.machine = steadiness_of(record);
  const auto trials = without_repeated(complete, record, result.machine);
  result.complete_blocks = complete.blocks().size();
  result.counted_blocks = trials.blocks().size();
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    const auto& configuration = record.configurations[c];
    auto& summary = result.configurations.emplace_back();
    summary.name = configuration.name;
    for (std::size_t m = 0; m < configuration.members.size(); ++m) {
      const auto runs =
          result.complete_blocks == 0 ? measured_runs(record, {c, m}) : trials.of({c, m});
      summary.members.push_back(summarize_member(configuration.members[m], runs, record.how.tail));
    }
  }
  const std::size_t shown = result.complete_blocks == 0 ? measured_trials(record) : trials.size();
  result.trials_left_out = record.trials.size() - shown;
  result.comparisons = compare_figures(trials, record);
  result.stage_comparisons = compare_stages(trials, record, result.configurations);
  return result;
}

bool narrow_enough(const experiment_record& record, double narrow_to) {
  const counted_trials complete(record);
  const auto trials = without_repeated(
      complete, record, record.how.repeat_affected ? steadiness_of(record) : steadiness());
  const auto comparisons = compare_figures(trials, record);
  return !comparisons.empty() &&
         std::all_of(comparisons.begin(), comparisons.end(), [&](const comparison& c) {
           return c.figure != figure::p50 || reaches_at_most(narrow_to, c);
         });
}

}  // namespace graphline
