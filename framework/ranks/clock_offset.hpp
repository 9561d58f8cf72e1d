#pragma once

#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// Times of one message and its answer. Rank 0 reads `sent` and `answered` from its clock, the
/// other rank `arrived` and `returned` from its own.
struct round_trip {
  nanoseconds sent = 0;
  nanoseconds arrived = 0;
  nanoseconds returned = 0;
  nanoseconds answered = 0;
};

/// How far a rank's clock is ahead of that of rank 0 at one moment.
struct clock_offset {
  nanoseconds at = 0;      ///< on the rank's clock
  nanoseconds offset = 0;  ///< the middle of the interval that holds it
  nanoseconds error = 0;   ///< half the width of the interval
};

/// Returns the offset by the quickest of the round trips. A message never arrives before it was
/// sent, so the offset lies between `returned - answered` and `arrived - sent`; the interval is as
/// wide as the messages took (D. Mills, "Internet time synchronization", 1991).
/// @pre `trips` is not empty.
clock_offset offset_of(const std::vector<round_trip>& trips);

/// Returns the offset at `at`, on the rank's clock, on the line through two measured offsets. Its
/// error is theirs if the clocks drift at a constant rate in between.
clock_offset offset_at(nanoseconds at, const clock_offset& before, const clock_offset& after);

}  // namespace graphline
