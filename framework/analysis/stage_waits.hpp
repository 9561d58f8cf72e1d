#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// What the stages of a run wait for. A record of an early version, which has no tensors and does
/// not say, is taken as one in which each stage waits for the one before.
class stage_waits {
 public:
  /// `record` must outlive this.
  explicit stage_waits(const run_record& record);

  std::span<const wait_record> of(std::size_t stage) const;

  /// Whether the record does not say, so that stamps may well show that a stage did not wait.
  bool assumed() const noexcept { return assumed_; }

 private:
  const run_record& record_;
  bool assumed_;
  std::vector<wait_record> in_turn_;  ///< of each stage but the first, where it is assumed
};

}  // namespace graphline
