#pragma once

#include <cstdint>
#include <ctime>

namespace graphline {

/// A duration, or a point on the monotonic clock, as a whole number of nanoseconds.
using nanoseconds = std::int64_t;

/// The host's monotonic clock (CLOCK_MONOTONIC): the one clock every host stamp is taken from.
inline nanoseconds now() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return nanoseconds{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Tells the core that this is a polling loop, so that it saves power and leaves its sibling room.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace graphline
