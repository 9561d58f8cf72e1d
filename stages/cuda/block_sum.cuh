#pragma once

#include "stages/cuda/elements.cuh"

namespace graphline {

/// Adds up what the threads of a block hold: 16 threads add up some of it each, then whoever wants
/// the total those 16, always in the same order. A barrier stands between the steps.
struct block_sum {
  static constexpr int most_threads = 256;
  static constexpr int sums = 16;

  /// Every thread takes part; `partial` has a float of each.
  GRAPHLINE_HOST_DEVICE static void gather(const float* partial, float* some, int thread,
                                           int threads) {
    if (thread >= sums) return;
    float sum = 0;
    for (int i = thread; i < threads; i += sums) sum += partial[i];
    some[thread] = sum;
  }

  GRAPHLINE_HOST_DEVICE static float total(const float* some) {
    float sum = 0;
    for (int i = 0; i < sums; ++i) sum += some[i];
    return sum;
  }
};

}  // namespace graphline
