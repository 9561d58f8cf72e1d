#pragma once

#include <cstdint>

#include "framework/plan/placement.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// Bytes of one kind of memory that a plan needs before its stages are prepared: without scratch,
/// which only they know. Sums stay at 2^64 - 1 instead of running over.
struct memory_part {
  std::uint64_t slot = 0;     ///< tensors of one frame in flight
  std::uint64_t slots = 0;    ///< of all frames in flight
  std::uint64_t inputs = 0;   ///< shared by all of them
  std::uint64_t weights = 0;  ///< 4 bytes per parameter
  std::uint64_t total() const noexcept;
};

struct memory_need {
  memory_part device;
  memory_part host;  ///< pinned, but for the weights of CPU stages
};

/// `placed` is what `place_buffers` made of the plan.
memory_need need_of(const plan& p, const placement& placed);

/// Bytes of a stage's weights at 4 each, at most 2^64 - 1.
std::uint64_t weight_bytes(const planned_stage& stage) noexcept;

/// Sums and products that stay at 2^64 - 1.
std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept;
std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace graphline
