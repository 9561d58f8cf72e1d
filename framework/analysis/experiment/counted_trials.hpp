#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// The trials of an experiment that count: those of its complete blocks, in which every
/// configuration has one that ran to its end. Refers to the record.
class counted_trials {
 public:
  explicit counted_trials(const experiment_record& record);

  /// Indices of the blocks, ascending.
  const std::vector<std::size_t>& blocks() const noexcept { return blocks_; }

  std::size_t size() const noexcept { return blocks_.size() * configurations_; }

  /// One run for each block, in order.
  std::vector<const run_record*> of(const configuration_member& member) const;

  /// These without those of some blocks.
  counted_trials without(std::span<const std::size_t> blocks) const;

 private:
  std::size_t configurations_ = 0;
  std::vector<std::size_t> blocks_;
  std::vector<const trial_record*> trials_;  // [block][configuration]
};

/// For where there is no complete block: all runs of a pipeline that measured anything, and how
/// many trials have one.
std::vector<const run_record*> measured_runs(const experiment_record& record,
                                             const configuration_member& member);
std::size_t measured_trials(const experiment_record& record);

}  // namespace graphline
