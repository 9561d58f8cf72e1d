#pragma once

#include <cmath>
#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// Each block normalizes a row. Computes the mean first and the variance from differences, as
/// PyTorch does, because a sum of squares loses digits if the mean is large.
template <class From, class To>
struct layer_norm_rows {
  static constexpr int phases = 5;
  static constexpr int shared_floats = 2 * block_sum::sums + block_sum::most_threads;

  const From* from;
  const float* weight;
  const float* bias;
  To* to;
  std::int64_t extent;
  float eps;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int threads, float* shared) const {
    const From* row = from + block * extent;
    float* of_values = shared;
    float* of_squares = shared + block_sum::sums;
    float* partial = shared + 2 * block_sum::sums;
    if constexpr (phase == 0) {
      float sum = 0;
      for (std::int64_t i = thread; i < extent; i += threads) sum += to_float(row[i]);
      partial[thread] = sum;
    } else if constexpr (phase == 1) {
      block_sum::gather(partial, of_values, thread, threads);
    } else if constexpr (phase == 2) {
      const float mean = mean_of(of_values);
      float sum = 0;
      for (std::int64_t i = thread; i < extent; i += threads) {
        const float difference = to_float(row[i]) - mean;
        sum += difference * difference;
      }
      partial[thread] = sum;
    } else if constexpr (phase == 3) {
      block_sum::gather(partial, of_squares, thread, threads);
    } else {
      const float mean = mean_of(of_values);
      const float deviation = sqrtf(mean_of(of_squares) + eps);
      To* result = to + block * extent;
      for (std::int64_t i = thread; i < extent; i += threads) {
        from_float((to_float(row[i]) - mean) / deviation * weight[i] + bias[i], result[i]);
      }
    }
  }

 private:
  GRAPHLINE_HOST_DEVICE float mean_of(const float* some) const {
    return block_sum::total(some) / static_cast<float>(extent);
  }
};

template <class Launcher>
void run(const layer_norm_form& form, std::span<void* const> operands, const Launcher& launch) {
  with_elements(form.from, form.to, operands, [&]<class From, class To>(const From* x, To* y) {
    const int threads = form.extent >= 512 ? block_sum::most_threads : 32;
    launch.blocks(
        layer_norm_rows<From, To>{x, static_cast<const float*>(operands[1]),
                                  static_cast<const float*>(operands[2]), y, form.extent, form.eps},
        form.rows, threads);
  });
}

}  // namespace graphline::nn
