#pragma once

#include <cstdint>

#include "framework/run/executor.hpp"

namespace graphline {

/// Begins the frames of a batch in order, with at most `depth` in flight: `begin(frame)` by its
/// index, `finish_oldest()` waits for the oldest and counts it in `result.completed`. `next` begins
/// at 0 and tells, also after an exception of theirs, how many frames were begun wholly.
template <class Begin, class FinishOldest>
void run_frames_in_order(const batch& b, std::int64_t depth, batch_result& result,
                         std::int64_t& next, const Begin& begin,
                         const FinishOldest& finish_oldest) {
  // Frames `result.completed` to `next - 1` are in flight.
  for (; next < b.frames; ++next) {
    if (next - result.completed == depth) finish_oldest();
    if (b.stop != nullptr && b.stop->raised()) {
      result.interrupted = true;
      break;
    }
    begin(next);
    if (depth == 1) finish_oldest();
  }
  while (result.completed < next) finish_oldest();
}

}  // namespace graphline
