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

}  // namespace graphline
