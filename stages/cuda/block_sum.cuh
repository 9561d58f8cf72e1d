#pragma once

#include "stages/cuda/elements.cuh"

namespace graphline {

/// Adds up what the threads of a block hold, numbers or anything that begins empty and has +=: 16
/// threads add up some of it each, then whoever wants the total those 16, always in the same order.
/// A barrier stands between the steps.
struct block_sum {
  static constexpr int most_threads = 256;
  static constexpr int sums = 16;

  /// Every thread takes part; `partial` has the sum of each.
  template <class Sum>
  GRAPHLINE_HOST_DEVICE static void gather(const Sum* partial, Sum* some, int thread, int threads) {
    if (thread >= sums) return;
    Sum sum{};
    for (int i = thread; i < threads; i += sums) sum += partial[i];
    some[thread] = sum;
  }

  template <class Sum>
  GRAPHLINE_HOST_DEVICE static Sum total(const Sum* some) {
    Sum sum{};
    for (int i = 0; i < sums; ++i) sum += some[i];
    return sum;
  }
};

}  // namespace graphline
