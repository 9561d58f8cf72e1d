#pragma once

#include <cstdint>
#include <optional>

#include "framework/run/execute/due_wait.hpp"
#include "framework/run/execute/executor.hpp"

namespace graphline {

/// Begins the frames of a batch in order, with at most `depth` in flight: `begin(frame, due)` by
/// its index, `oldest_ended()` tells whether the oldest in flight is complete, `finish_oldest()`
/// waits for it and counts it in `result.completed`. `next` begins at 0 and tells, also after an
/// exception of theirs, how many frames were begun wholly.
///
/// With a schedule a frame begins when it is due, there is room for it in flight, and those before
/// it have begun; the thread waits by `how`, and sees frames end meanwhile. Without one, frames
/// are due when they begin and `due` is nothing.
template <class Begin, class OldestEnded, class FinishOldest>
void run_frames_in_order(const batch& b, std::int64_t depth, wait_mode how, batch_result& result,
                         std::int64_t& next, const Begin& begin, const OldestEnded& oldest_ended,
                         const FinishOldest& finish_oldest) {
  // Frames `result.completed` to `next - 1` are in flight.
  const auto stopped = [&] {
    result.interrupted = b.stop != nullptr && b.stop->raised();
    return result.interrupted;
  };
  const auto look = [&]() -> std::optional<nanoseconds> {
    while (result.completed < next && oldest_ended()) finish_oldest();
    if (stopped()) return std::nullopt;
    return result.completed < next ? glance_at_device : glance_at_stop;
  };
  std::optional<due_wait> wait;
  if (b.schedule != nullptr) wait.emplace(how);
  for (;; ++next) {
    if (next - result.completed == depth) finish_oldest();
    std::optional<nanoseconds> due;
    if (wait) {
      due = b.schedule->next(now());
      if (!due || !wait->until(*due, look)) break;
    } else if (next == b.frames || stopped()) {
      break;
    }
    begin(next, due);
    if (depth == 1) finish_oldest();
  }
  while (result.completed < next) finish_oldest();
}

}  // namespace graphline
