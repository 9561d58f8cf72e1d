#pragma once

#include <cfloat>
#include <cmath>
#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// Computes the maximum and the sum of exp(value - maximum) in one pass. inf - inf is NaN, so a row
/// that contains infinity gives NaN, as in PyTorch.
struct exponential_sum {
  float largest = -FLT_MAX;
  float sum = 0;

  GRAPHLINE_HOST_DEVICE void add(float value) {
    if (value > largest) {
      sum = sum * expf(largest - value) + (1.0F + (value - value));
      largest = value;
    } else {
      sum += expf(value - largest);
    }
  }
  GRAPHLINE_HOST_DEVICE void operator+=(const exponential_sum& other) {
    const float top = other.largest > largest ? other.largest : largest;
    sum = sum * expf(largest - top) + other.sum * expf(other.largest - top);
    largest = top;
  }
  GRAPHLINE_HOST_DEVICE float share(float value) const { return expf(value - largest) / sum; }
};

/// Each item is a line along the middle of [outer, extent, inner].
template <class From, class To>
struct softmax_lines {
  const From* from;
  To* to;
  std::int64_t extent;
  std::int64_t inner;
  std::int64_t pitch;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const std::int64_t lane = take_digit(item, inner);
    const std::int64_t begin = item * pitch + lane;
    exponential_sum all;
    for (std::int64_t i = 0; i < extent; ++i) all.add(to_float(from[begin + i * inner]));
    for (std::int64_t i = 0; i < extent; ++i) {
      from_float(all.share(to_float(from[begin + i * inner])), to[begin + i * inner]);
    }
  }
};

/// Each block computes a row of adjacent elements.
template <class From, class To>
struct softmax_rows {
  static constexpr int phases = 3;
  static constexpr int shared_floats = 2 * (block_sum::sums + block_sum::most_threads);

  const From* from;
  To* to;
  std::int64_t extent;
  std::int64_t pitch;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int threads, float* shared) const {
    const From* row = from + block * pitch;
    auto* some = reinterpret_cast<exponential_sum*>(shared);
    exponential_sum* partial = some + block_sum::sums;
    if constexpr (phase == 0) {
      exponential_sum mine;
      for (std::int64_t i = thread; i < extent; i += threads) mine.add(to_float(row[i]));
      partial[thread] = mine;
    } else if constexpr (phase == 1) {
      block_sum::gather(partial, some, thread, threads);
    } else {
      const exponential_sum all = block_sum::total(some);
      To* result = to + block * pitch;
      for (std::int64_t i = thread; i < extent; i += threads) {
        from_float(all.share(to_float(row[i])), result[i]);
      }
    }
  }
};

/// Launches a softmax.
template <class Launcher>
void run(const softmax_form& form, std::span<void* const> operands, const Launcher& launch) {
  with_elements(form.from, form.to, operands, [&]<class From, class To>(const From* from, To* to) {
    constexpr std::int64_t long_row = 64;
    const axis_extents& axis = form.axis;
    const std::int64_t pitch = form.pitch > 0 ? form.pitch : axis.extent * axis.inner;
    if (axis.inner == 1 && axis.extent >= long_row) {
      const int threads = axis.extent >= 512 ? block_sum::most_threads : 32;
      launch.blocks(softmax_rows<From, To>{from, to, axis.extent, pitch}, axis.outer, threads);
    } else {
      launch.items(softmax_lines<From, To>{from, to, axis.extent, axis.inner, pitch},
                   axis.outer * axis.inner);
    }
  });
}

}  // namespace graphline::nn
