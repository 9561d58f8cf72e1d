#pragma once

#include <cstdint>
#include <span>

#include "framework/base/clock.hpp"
#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// Returns the GPU's global timer in nanoseconds; its resolution is 32 to 1024 ns.
GRAPHLINE_HOST_DEVICE inline std::int64_t timer_now() {
#ifdef __CUDA_ARCH__
  std::int64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
#else
  return now();
#endif
}

/// Waits for the first timer tick before it measures `duration`, so that it never ends early.
struct spin_item {
  std::int64_t duration;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t /*item*/) const {
    const std::int64_t before = timer_now();
    std::int64_t begin = before;
    while (begin == before) begin = timer_now();
    while (timer_now() - begin < duration) {
    }
  }
};

template <class Launcher>
void run(const spin_form& form, std::span<void* const> /*operands*/, const Launcher& launch) {
  launch.items(spin_item{form.duration}, 1);
}

}  // namespace graphline::nn
