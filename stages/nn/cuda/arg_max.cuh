#pragma once

#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/operations/greatest.hpp"

namespace graphline::nn {

/// Each block reads a row of adjacent elements.
struct arg_max_rows {
  static constexpr int phases = 3;
  static constexpr int shared_floats = 2 * (block_sum::sums + block_sum::most_threads);
  static_assert(sizeof(greatest) == 2 * sizeof(float));

  const float* from;
  std::int64_t* indices;
  float* values;
  std::int64_t extent;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int threads, float* shared) const {
    const float* row = from + block * extent;
    auto* some = reinterpret_cast<greatest*>(shared);
    greatest* partial = some + block_sum::sums;
    if constexpr (phase == 0) {
      greatest mine;
      for (std::int64_t i = thread; i < extent; i += threads) {
        mine += {row[i], static_cast<std::int32_t>(i)};
      }
      partial[thread] = mine;
    } else if constexpr (phase == 1) {
      block_sum::gather(partial, some, thread, threads);
    } else if (thread == 0) {
      const greatest found = block_sum::total(some);
      indices[block] = found.index;
      values[block] = found.value;
    }
  }
};

template <class Launcher>
void run(const arg_max_form& form, std::span<void* const> operands, const Launcher& launch) {
  launch.blocks(
      arg_max_rows{static_cast<const float*>(operands[0]), static_cast<std::int64_t*>(operands[1]),
                   static_cast<float*>(operands[2]), form.extent},
      form.rows, form.extent >= 512 ? block_sum::most_threads : 32);
}

}  // namespace graphline::nn
