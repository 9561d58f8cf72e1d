#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// When a frame is due, and from when it can begin, in nanoseconds after the load began. A frame
/// waits in the queue from its release. Its latency counts from its due time.
struct frame_arrival {
  nanoseconds due = 0;
  nanoseconds release = due;
};

/// Returns the next arrival; empty if none is left. Both times ascend.
using arrival_source = std::function<std::optional<frame_arrival>()>;

/// Returns a source of `run.frames` arrivals, or fewer if the trace ends before. Each due time has
/// `run.burst` frames, so a gap below is `burst` / `rate` seconds. All due times are delayed by
/// `run.phase`. Random numbers are reproducible by seed.
/// - `constant`: the first at 0, then one after each gap.
/// - `poisson`: exponential times of -ln(1 - u) gaps between them, with u uniform in [0, 1).
/// - `trace`: the times of `trace`; with `run.rate`, all multiplied by the gap over their mean gap.
///
/// A frame is released a random time after it is due, uniform in [0, `run.jitter`], but not before
/// the frame due before it.
/// @pre `run.arrival` is not `closed`; `trace` outlives the source, and is null only without trace.
arrival_source arrival_times(const settings& run, std::uint64_t seed,
                             const arrival_trace* trace = nullptr);

/// Frames that begin together.
struct begun_frames {
  std::span<const nanoseconds> due;  ///< ascending; empty: no frame begins. Valid to the next call
  nanoseconds ready =
      0;  ///< when the first was released and a slot free: from here on it waits for others
};

/// How many due frames begin together.
struct frame_batching {
  std::int64_t up_to = 1;
  nanoseconds wait = 0;  ///< longest wait of the first due frame for others, from its release
};

/// Due times of an open load, and the bounded queue of frames that are due and cannot begin yet.
///
/// The queue needs no thread. Because it changes only when a frame begins or is dropped, arrivals
/// can enter it later, in order, when the next frame can begin.
///
/// One thread begins frames; any thread may close and end the load.
class frame_schedule {
 public:
  /// @param give_up Longest time from a frame's due time to its begin; the frame is dropped then.
  /// @pre `queue` >= 1.
  /// @pre `batching.up_to` <= `queue`
  frame_schedule(arrival_source arrivals, std::int64_t queue, queue_policy when_full,
                 frame_batching batching = {}, nanoseconds give_up = INT64_MAX);

  /// Returns the earliest time, past or future, at which `begin_frames` may begin frames; empty if
  /// no frame is left. Call at host time `at` when a slot is free. The first call begins the load.
  /// @pre `at` does not decrease between calls.
  std::optional<nanoseconds> next(nanoseconds at);

  /// Begins the oldest frames that are due at host time `at` and removes them from the queue: as
  /// many as may begin together, or fewer once the first has waited long enough for others. Drops
  /// frames that are too late.
  /// @param completed Number of completed calls, in the order they began frames.
  begun_frames begin_frames(std::int64_t completed, nanoseconds at);

  /// Lets no further frame begin.
  void close();

  /// Ends the recording of the load. Returns its outcome up to `ended`, with times relative to
  /// `epoch`.
  /// @param completed As for `begin_frames`.
  load_record end(nanoseconds epoch, nanoseconds ended, std::int64_t completed);

 private:
  void arrive();

  nanoseconds first_release() const { return (queue_.empty() ? *coming_ : queue_.front()).release; }
  void forget(std::int64_t completed);

  std::size_t room_;
  queue_policy when_full_;
  frame_batching batching_;
  nanoseconds give_up_;

  std::mutex lock_;  // guards everything below
  arrival_source arrivals_;
  std::optional<frame_arrival> coming_;  ///< the next arrival
  std::optional<nanoseconds> origin_;    ///< host time at which the load began
  std::optional<nanoseconds> asked_;     ///< first call of `next` since frames began
  std::vector<nanoseconds> taken_;       ///< due times of the frames that began last, in host time
  std::deque<nanoseconds> begun_;        ///< due times of frames in flight
  std::deque<std::size_t> together_;     ///< how many of `begun_` began together
  std::int64_t done_ = 0;                ///< number of completed calls of `begin_frames`
  std::deque<frame_arrival> queue_;
  std::deque<nanoseconds> dropped_;
  bool closed_ = false;
  load_record load_;
};

/// Returns the longest time from a frame's due time to its begin: with `late: drop` and
/// `skip_rest`, the deadline.
nanoseconds give_up_time(const settings& run) noexcept;

/// Returns null for `arrival: closed`. The pipeline's name is mixed into the seed, so that arrivals
/// of concurrent pipelines differ.
/// @param run As executed; `p.run` apart from values of one run.
/// @pre `p` outlives the schedule
std::unique_ptr<frame_schedule> make_frame_schedule(const plan& p, const settings& run,
                                                    std::uint64_t seed);

/// Returns how many frames of the plan's load are due before `horizon`, at most `most`.
/// @param rate In frames per second; empty for the plan's.
/// @pre The plan's arrival is not `closed`.
std::int64_t frames_due_before(nanoseconds horizon, const plan& p, std::optional<double> rate,
                               std::uint64_t seed, std::int64_t most);

/// Longest intervals at which a waiting thread checks for a stop request and for completed device
/// work.
inline constexpr nanoseconds stop_poll_interval = 50'000'000;
inline constexpr nanoseconds device_poll_interval = 20'000;

/// Waits for host clock times: `spin` polls the clock, `yield` also yields the core, and `block`
/// sleeps. A `block` object reduces the timer slack of the calling thread while it exists.
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

/// Waits until `due` and returns true; returns false if `look()` ends the wait by returning empty.
/// Otherwise `look()` returns the number of nanoseconds after which it must be called again.
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
