#pragma once

#include <cstddef>
#include <vector>

#include "framework/plan/plan.hpp"

namespace graphline {

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

/// Places every tensor that is not an input, and `scratch[stage]` bytes per stage (an empty vector
/// for none), at offsets aligned to 256 bytes. Outputs of the pipeline keep their bytes to the end
/// of the frame. Greedy by size, first fit.
placement place_buffers(const plan& p, const std::vector<std::size_t>& scratch);

}  // namespace graphline
