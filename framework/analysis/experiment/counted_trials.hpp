#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// The trials of an experiment that count: those of its complete blocks, in which every
/// configuration has one that ran to its end and the process never stood still. Where there is no
/// such block, all that measured anything. Refers to the record.
class counted_trials {
 public:
  /// `affected`: blocks in which the machine was disturbed; an experiment that repeats such blocks
  /// counts without them.
  explicit counted_trials(const experiment_record& record,
                          std::span<const std::size_t> affected = {});

  /// Indices of the complete blocks that count, ascending.
  const std::vector<std::size_t>& blocks() const noexcept { return blocks_; }

  /// Complete blocks in which the process stood still, ascending. They do not count.
  const std::vector<std::size_t>& stood_still_blocks() const noexcept { return stood_still_; }

  /// Complete blocks, those among them that do not count.
  std::size_t complete_blocks() const noexcept { return complete_blocks_; }

  /// Trials.
  std::size_t size() const noexcept;

  /// The runs of a pipeline: one for each block, in order.
  std::vector<const run_record*> of(const configuration_member& member) const;

 private:
  std::size_t complete_blocks_ = 0;
  std::vector<std::size_t> blocks_;
  std::vector<std::size_t> stood_still_;
  std::vector<std::vector<const trial_record*>> trials_;  // by configuration
};

/// The times of a stage by that name, run by run; empty for a run that has no such stage: stages
/// can depend on parameters.
std::vector<std::vector<nanoseconds>> stage_times(const std::vector<const run_record*>& runs,
                                                  std::string_view name, measure what);

}  // namespace graphline
