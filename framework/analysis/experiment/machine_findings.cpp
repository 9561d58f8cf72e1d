#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/analysis/run/disturbance.hpp"

namespace graphline {

namespace {

/// Whose p50 tells how the machine was: "the baseline".
std::string judges(const experiment_record& record) {
  if (record.pairs.empty()) return "the pipeline";
  const auto other = [&](const compared_pair& pair) {
    return pair.reference != record.pairs.front().reference;
  };
  const bool several = std::any_of(record.pairs.begin(), record.pairs.end(), other);
  return several ? "the median baseline" : "the baseline";
}

std::string drift_text(double drift, const experiment_record& record) {
  return fmt::format(
      "the machine drifted: from the first block to the last, the p50 of {} changed by {} %; each "
      "block holds a trial of every configuration, so that all share it",
      judges(record), percent_change(1 + drift));
}

std::string affected_text(const std::vector<std::size_t>& blocks, const experiment_record& record) {
  std::vector<std::string> numbers;
  for (const auto block : blocks) numbers.push_back(fmt::format("{}", block + 1));
  return fmt::format(
      "the machine was not itself in block{} {}, where {} was far from the blocks around; {}",
      blocks.size() == 1 ? "" : "s", listed(numbers, 8), judges(record),
      record.how.repeat_affected ? "left out"
                                 : "counted all the same ('repeat_affected: on' would repeat)");
}

/// Trials with anything else at work beside them, with what it was in the first; empty where none
/// had.
std::string disturbed_text(const experiment_record& record) {
  const auto disturbed = disturbed_trials_of(record);
  if (disturbed.count == 0) return {};
  return fmt::format("{} of {} trials {} disturbed (machine noise){}: {}", disturbed.count,
                     record.trials.size(), disturbed.count == 1 ? "was" : "were",
                     disturbed.count == 1 ? "" : ", the first of them", disturbed.first);
}

}  // namespace

void add_machine_findings(const finding_source& from, findings_list& to) {
  const auto& machine = from.summary.machine;
  if (machine.drift) to.push_back(drift_text(*machine.drift, from.record));
  if (!machine.affected_blocks.empty()) {
    to.push_back(affected_text(machine.affected_blocks, from.record));
  }
  if (auto text = disturbed_text(from.record); !text.empty()) to.push_back(std::move(text));
}

}  // namespace graphline
