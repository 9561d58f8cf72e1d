#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/plan/plan.hpp"

namespace graphline {

struct plan_target;

/// Where each tensor and scratch of one slot lies. Two share bytes only if every stage that touches
/// the one is complete before any that touches the other starts, under every strategy.
struct placement {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t device_bytes = 0;             ///< of one slot's device block
  std::size_t pinned_bytes = 0;             ///< of one slot's host block
  std::vector<std::size_t> tensor_offset;   ///< per tensor, in the block of its side; none: input
  std::vector<std::size_t> scratch_offset;  ///< per stage, in the device block; none: no scratch
  std::size_t device_bytes_without_reuse = 0;  ///< what separate buffers would take
  std::size_t pinned_bytes_without_reuse = 0;
};

/// Bytes before and after each tensor on the CPU that are nobody's with `guard: on`.
inline constexpr std::size_t guard_bytes = 4096;

/// Places every tensor that is not an input, and `scratch[stage]` bytes per stage (an empty vector
/// for none), at offsets aligned to 256 bytes. Outputs of the pipeline keep their bytes to the end
/// of the frame. Greedy by size, first fit.
placement place_buffers(const plan& p, const std::vector<std::size_t>& scratch);

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

/// Bytes that the record of a run takes of the host's memory once all frames are done; without
/// those of the parts of stages under `timing: layers`, which stages tell once they are prepared.
std::uint64_t record_bytes(const plan& p, const plan_target& target);

/// The same with what reports of the run take at most.
std::uint64_t record_and_report_bytes(const plan& p, const plan_target& target);

/// Sums and products that stay at 2^64 - 1.
std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept;
std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace graphline
