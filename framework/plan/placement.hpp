#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/plan/plan.hpp"

namespace graphline {

struct plan_target;

/// Offsets of the tensors and scratch memory of one slot. Two buffers share bytes only if, under
/// every strategy, all uses of one complete before any use of the other starts.
struct placement {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t device_bytes = 0;                ///< size of one slot's device blocks together
  std::vector<std::size_t> device_blocks;      ///< by device: size of one slot's block
  std::size_t pinned_bytes = 0;                ///< size of one slot's host block
  std::vector<std::size_t> tensor_offset;      ///< by tensor, in its block; none for an input
  std::vector<std::size_t> scratch_offset;     ///< by stage, in its block; none without scratch
  std::size_t device_bytes_without_reuse = 0;  ///< size if no two buffers shared bytes
  std::vector<std::size_t> device_blocks_without_reuse;  ///< by device
  std::size_t pinned_bytes_without_reuse = 0;
};

/// Bytes of each guard before and after a tensor on the CPU with `guard: on`.
inline constexpr std::size_t guard_bytes = 4096;

/// Places tensors, except inputs, and `scratch[stage]` bytes for each stage, at offsets aligned to
/// 256 bytes. With empty `scratch`, stages have none. Outputs of the pipeline keep their bytes to
/// the end of the frame. Greedy: the largest buffer first, at the lowest offset that fits.
placement place_buffers(const plan& p, const std::vector<std::size_t>& scratch);

/// Bytes that a plan needs in one kind of memory. Excludes scratch, which is unknown until stages
/// are made. Sums saturate at 2^64 - 1.
struct memory_part {
  std::uint64_t slot = 0;     ///< tensors of one frame
  std::uint64_t slots = 0;    ///< tensors of all frames in flight
  std::uint64_t inputs = 0;   ///< shared by all frames
  std::uint64_t weights = 0;  ///< 4 bytes per parameter
  std::uint64_t total() const noexcept;
};

memory_part sum_of(const memory_part& a, const memory_part& b) noexcept;

struct memory_need {
  memory_part device;                ///< of all devices
  std::vector<memory_part> devices;  ///< of each
  memory_part host;                  ///< pinned, except for the weights of CPU stages
};

/// @param placed result of `place_buffers` for the plan
memory_need need_of(const plan& p, const placement& placed);

/// Returns the bytes of host memory that a run's record takes after all frames. Excludes the parts
/// of stages under `timing: layers`, which are unknown until stages are made.
std::uint64_t record_bytes(const plan& p, const plan_target& target);

/// Same as `record_bytes`, plus an upper bound for the run's reports.
std::uint64_t record_and_report_bytes(const plan& p, const plan_target& target);

/// Results saturate at 2^64 - 1.
std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept;
std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace graphline
