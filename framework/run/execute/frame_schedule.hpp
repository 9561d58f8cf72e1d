#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// When `count` frames are due, in nanoseconds after the load begins, ascending. `constant`: the
/// first at once, then every 1 / `rate` seconds. `poisson`: after exponential gaps, -ln(1 - u) /
/// `rate` seconds with u uniform in [0, 1), the same ones for the same seed. Not for `closed`.
std::vector<nanoseconds> arrival_times(arrival how, double rate, std::int64_t count,
                                       std::uint64_t seed);

/// The frames of an open load: when each is due, and the bounded queue in which those wait that are
/// due and cannot begin yet.
///
/// Nothing but a frame that begins leaves the queue. So it needs no thread: arrivals are put
/// through it, in order, when the next frame can begin, with the result that a queue watching the
/// clock would give. All memory is taken at construction.
class frame_schedule {
 public:
  /// `due` as by `arrival_times`; at least one place in the queue.
  frame_schedule(std::vector<nanoseconds> due, std::int64_t queue, queue_policy when_full);

  /// For whoever can begin a frame from the moment `at` of the host's clock on: when the one that
  /// is next was or will be due, on the same clock; it counts as begun. One that is yet to come
  /// waits in no queue. Moments ascend from call to call, and the load begins at the first. Nothing
  /// when no frame is left.
  std::optional<nanoseconds> next(nanoseconds at);

  /// What became of the frames, with times counted from `epoch`.
  load_record hand_over(nanoseconds epoch) &&;

 private:
  void arrive();

  /// At its front, the frames let into the queue so far; from `arrived_` on, those yet to come.
  std::vector<nanoseconds> due_;
  std::size_t room_;
  queue_policy when_full_;
  std::optional<nanoseconds> origin_;  ///< when the load began
  std::size_t arrived_ = 0;
  std::size_t head_ = 0;  ///< of the queue, which is `due_[head_]` to `due_[tail_ - 1]`
  std::size_t tail_ = 0;
  load_record load_;
};

}  // namespace graphline
