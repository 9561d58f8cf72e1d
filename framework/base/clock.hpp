#pragma once

#include <cstdint>
#include <ctime>

namespace graphline {

/// A duration or a time stamp in nanoseconds.
using nanoseconds = std::int64_t;

/// Reads CLOCK_MONOTONIC, the clock of all host time stamps.
inline nanoseconds now() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return nanoseconds{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Spin-wait hint (x86 PAUSE, Arm YIELD). Saves power and frees the core for a sibling thread.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace graphline
