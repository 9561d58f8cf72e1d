#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns the due time of the next frame, in nanoseconds after the begin of the load, ascending;
/// empty if no frame is left.
using arrival_source = std::function<std::optional<nanoseconds>()>;

/// Returns the due times of `count` frames, generated on demand. `constant`: the first at 0, then
/// every 1 / `rate` seconds. `poisson`: exponential gaps, -ln(1 - u) / `rate` seconds with u
/// uniform in [0, 1), reproducible by seed.
/// @pre `how` is not `closed`.
arrival_source arrival_times(arrival how, double rate, std::int64_t count, std::uint64_t seed);

/// Due times of an open load, and the bounded queue of frames that are due and cannot begin yet.
///
/// Frames leave the queue only when a frame begins or is dropped. The queue therefore needs no
/// thread: arrivals enter it, in order, when the next frame can begin, with the same result as if
/// they had entered at their due times. The queue stores frames that wait, are in flight or were
/// dropped, but no future frames.
///
/// One thread begins frames; any thread may close and end the load.
class frame_schedule {
 public:
  /// @pre `queue` >= 1.
  frame_schedule(arrival_source arrivals, std::int64_t queue, queue_policy when_full);

  /// Returns the due time of the next frame, past or future, for a caller that can begin one at
  /// host time `at` or later; empty if no frame is left. `at` ascends from call to call; the first
  /// call begins the load.
  std::optional<nanoseconds> next(nanoseconds at);

  /// Begins the frame returned by `next`, at its due time or later, and removes it from the queue.
  /// @param completed Number of frames completed so far, in the order they began.
  void begin_frame(std::int64_t completed);

  /// Prevents any more frames from beginning.
  void close();

  /// Closes the load and returns the outcome of the frames due up to `ended`. Of the frames begun,
  /// the first `completed` are complete. Times are relative to `epoch`.
  load_record end(nanoseconds epoch, nanoseconds ended, std::int64_t completed);

 private:
  void arrive();

  std::size_t room_;
  queue_policy when_full_;

  std::mutex lock_;  // guards everything below
  arrival_source arrivals_;
  std::optional<nanoseconds> coming_;  ///< due time of the next arrival
  std::optional<nanoseconds> origin_;  ///< host time at which the load began
  std::deque<nanoseconds> begun_;      ///< due times of frames in flight
  std::int64_t done_ = 0;              ///< number of completed frames
  std::deque<nanoseconds> queue_;
  std::deque<nanoseconds> dropped_;
  bool closed_ = false;
  load_record load_;
};

/// Longest time between checks, by a waiting thread, of a stop request and of device work about to
/// complete.
inline constexpr nanoseconds stop_poll_interval = 50'000'000;
inline constexpr nanoseconds device_poll_interval = 20'000;

/// How the calling thread waits for host clock times: `spin` polls the clock, `yield` polls it and
/// yields the core, `block` sleeps. A `block` object reduces the thread's timer slack while it
/// exists.
class due_wait {
 public:
  explicit due_wait(wait_mode how) noexcept;
  ~due_wait();
  due_wait(const due_wait&) = delete;
  due_wait& operator=(const due_wait&) = delete;

  static nanoseconds now() noexcept { return graphline::now(); }

  /// Returns at once (`spin`), yields the core (`yield`), or sleeps until `at` (`block`).
  void pause(nanoseconds at) const noexcept;

 private:
  wait_mode how_;
  int slack_ = -1;  ///< timer slack to restore, in ns; negative: unchanged
};

/// Waits until `due` and returns true. Calls `look()` at least once. `look()` returns after how
/// many nanoseconds it must be called again, or empty to end the wait; then returns false.
template <class Waits, class Look>
bool wait_until(nanoseconds due, const Waits& waits, const Look& look) {
  while (true) {
    const std::optional<nanoseconds> unwatched = look();
    if (!unwatched) return false;
    const nanoseconds at = waits.now();
    if (at >= due) return true;
    waits.pause(due - at < *unwatched ? due : at + *unwatched);
  }
}

}  // namespace graphline
