#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/comparison_text.hpp"
#include "framework/analysis/finding_parts.hpp"

namespace graphline {

namespace {

std::string drift_text(double drift) {
  return fmt::format(
      "the machine drifted: from the first block to the last, the baseline's p50 changed by {} %; "
      "comparisons are made within blocks, where all configurations share it",
      percent_change(1 + drift));
}

std::string affected_text(const std::vector<std::size_t>& blocks, const experiment_settings& how) {
  std::vector<std::string> numbers;
  for (const auto block : blocks) numbers.push_back(fmt::format("{}", block + 1));
  return fmt::format(
      "the machine was not itself in block{} {}, where the baseline was far from its other blocks; "
      "{}",
      blocks.size() == 1 ? "" : "s", listed(numbers, 8),
      how.repeat_affected ? "left out and repeated"
                          : "counted all the same ('repeat_affected: on' would repeat)");
}

}  // namespace

void add_machine_findings(const finding_source& from, findings_list& to) {
  const auto& machine = from.summary.machine;
  if (machine.drift) to.push_back(drift_text(*machine.drift));
  if (!machine.affected_blocks.empty()) {
    to.push_back(affected_text(machine.affected_blocks, from.record.how));
  }
}

}  // namespace graphline
