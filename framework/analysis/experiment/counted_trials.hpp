#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// Selects the trials of an experiment that count for metrics. A block is complete if every
/// configuration has a complete trial in it, all on the same rank. The trials of a complete block
/// count, except those with a standstill. If no block counts, all trials with complete frames
/// count. Holds pointers to the record.
class counted_trials {
 public:
  /// @param affected Disturbed blocks, which do not count if the experiment repeats them.
  explicit counted_trials(const experiment_record& record,
                          std::span<const std::size_t> affected = {});

  /// Returns the indices of the counted complete blocks, ascending.
  const std::vector<std::size_t>& blocks() const noexcept { return blocks_; }

  /// Returns the positions in `blocks` of the blocks that each rank ran, in the order of the ranks'
  /// first blocks. One list without MPI.
  const std::vector<std::vector<std::size_t>>& by_rank() const noexcept { return by_rank_; }

  /// Returns the complete blocks that do not count because the process stood still, ascending.
  const std::vector<std::size_t>& stood_still_blocks() const noexcept { return stood_still_; }

  /// Returns the number of complete blocks, counted or not.
  std::size_t complete_blocks() const noexcept { return complete_blocks_; }

  std::size_t size() const noexcept;

  /// Returns the counted trials of a configuration, in block order.
  const std::vector<const trial_record*>& of(std::size_t configuration) const {
    return trials_[configuration];
  }

  /// Returns the counted runs of a pipeline, in block order.
  std::vector<const run_record*> of(const configuration_member& member) const;

 private:
  std::size_t complete_blocks_ = 0;
  std::vector<std::size_t> blocks_;
  std::vector<std::vector<std::size_t>> by_rank_;
  std::vector<std::size_t> stood_still_;
  std::vector<std::vector<const trial_record*>> trials_;  // by configuration
};

/// Returns a stage's times by run. A run has no times if its parameters remove the stage.
std::vector<std::vector<nanoseconds>> stage_times(const std::vector<const run_record*>& runs,
                                                  std::string_view name, measure what);

}  // namespace graphline
