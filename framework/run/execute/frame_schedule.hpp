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

/// Tells of one frame after another when it is due, in nanoseconds after the load begins,
/// ascending; nothing when no frame is left.
using arrival_source = std::function<std::optional<nanoseconds>()>;

/// Of `count` frames, each time made when it is asked for. `constant`: the first at once, then
/// every 1 / `rate` seconds. `poisson`: after exponential gaps, -ln(1 - u) / `rate` seconds with u
/// uniform in [0, 1), the same ones for the same seed. Not for `closed`.
arrival_source arrival_times(arrival how, double rate, std::int64_t count, std::uint64_t seed);

/// The frames of an open load: when each is due, and the bounded queue in which those wait that are
/// due and cannot begin yet.
///
/// Nothing but a frame that begins leaves the queue. So it needs no thread: arrivals are put
/// through it, in order, when the next frame can begin, with the result that a queue watching the
/// clock would give. It holds frames that wait, are in flight or were dropped, and none to come.
///
/// One thread begins frames; any may close and end the load.
class frame_schedule {
 public:
  /// At least one place in the queue.
  frame_schedule(arrival_source arrivals, std::int64_t queue, queue_policy when_full);

  /// For whoever can begin a frame from the moment `at` of the host's clock on: when the one that
  /// is next was or will be due, on the same clock. Moments ascend from call to call, and the load
  /// begins at the first. Nothing when no frame is left.
  std::optional<nanoseconds> next(nanoseconds at);

  /// The frame that `next` told of begins, as it is due or later. It leaves the queue; one that was
  /// yet to come has waited in none. `completed`: frames, the first of those begun, that are done.
  void begin_frame(std::int64_t completed);

  /// No frame begins after this.
  void close();

  /// What became of the frames that were due up to `ended`, of which the first `completed` that
  /// began are done; with times counted from `epoch`. No frame begins after this.
  load_record end(nanoseconds epoch, nanoseconds ended, std::int64_t completed);

 private:
  void arrive();

  std::size_t room_;
  queue_policy when_full_;

  std::mutex lock_;  // of all else
  arrival_source arrivals_;
  std::optional<nanoseconds> coming_;  ///< when the next frame arrives
  std::optional<nanoseconds> origin_;  ///< when the load began
  std::deque<nanoseconds> begun_;      ///< frames that are not known to be done
  std::int64_t done_ = 0;              ///< frames that are
  std::deque<nanoseconds> queue_;
  std::deque<nanoseconds> dropped_;
  bool closed_ = false;
  load_record load_;
};

/// Longest time between two looks of a waiting thread at a stop request, and at work of the device
/// that is about to end.
inline constexpr nanoseconds stop_poll_interval = 50'000'000;
inline constexpr nanoseconds device_poll_interval = 20'000;

/// Waits of the calling thread for moments of the host's clock: `spin` polls it, `yield` polls it
/// and yields the core, `block` sleeps. While one exists that blocks, the system wakes the thread
/// as punctually as it can.
class due_wait {
 public:
  explicit due_wait(wait_mode how) noexcept;
  ~due_wait();
  due_wait(const due_wait&) = delete;
  due_wait& operator=(const due_wait&) = delete;

  static nanoseconds now() noexcept { return graphline::now(); }

  /// Polls once more, or sleeps until the moment `at`.
  void pause(nanoseconds at) const noexcept;

 private:
  wait_mode how_;
  int slack_ = -1;  ///< of the thread before, in nanoseconds; negative: left as it was
};

/// Returns true from the moment `due` on. Until then calls `look()`, at least once, which says for
/// how many nanoseconds it need not be called again; nothing ends the wait at once, with false.
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
