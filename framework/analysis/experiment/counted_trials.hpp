#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// The trials of an experiment that count: those of complete blocks, in which every configuration
/// has a completed trial and the process never stood still. Without such a block, all trials with
/// completed frames. Refers to the record.
class counted_trials {
 public:
  /// @param affected Disturbed blocks; do not count in an experiment that repeats them.
  explicit counted_trials(const experiment_record& record,
                          std::span<const std::size_t> affected = {});

  /// Indices of the counted complete blocks, ascending.
  const std::vector<std::size_t>& blocks() const noexcept { return blocks_; }

  /// Complete blocks in which the process stood still, ascending; not counted.
  const std::vector<std::size_t>& stood_still_blocks() const noexcept { return stood_still_; }

  /// Number of complete blocks, counted or not.
  std::size_t complete_blocks() const noexcept { return complete_blocks_; }

  /// Number of counted trials.
  std::size_t size() const noexcept;

  /// Runs of a pipeline, one per block, in order.
  std::vector<const run_record*> of(const configuration_member& member) const;

 private:
  std::size_t complete_blocks_ = 0;
  std::vector<std::size_t> blocks_;
  std::vector<std::size_t> stood_still_;
  std::vector<std::vector<const trial_record*>> trials_;  // by configuration
};

/// Times of a stage by run; empty for a run without the stage, since stages can depend on
/// parameters.
std::vector<std::vector<nanoseconds>> stage_times(const std::vector<const run_record*>& runs,
                                                  std::string_view name, measure what);

}  // namespace graphline
