#pragma once

#include <cstddef>
#include <optional>

#include "framework/record/run_record.hpp"

namespace graphline {

/// Number of completed frames and the time in which they completed.
struct completed_frames {
  double count = 0;
  double time = 0;  ///< ns; 0 without frames or with too few scheduled frames
};

/// Minimum number of scheduled frames for a throughput. With fewer, a single early or late
/// completion would dominate it.
inline constexpr std::size_t least_scheduled_frames = 5;

/// Returns the number of slots, at least 1 even if a damaged file contains 0.
std::size_t slots_of(const run_record& record);

/// Returns true if frames arrive at a given rate or from a trace; false in a closed loop.
bool is_scheduled(const settings& run);

/// Returns the number of frames that count for throughput, and the time in which they completed.
/// Counts from completion to completion, which excludes the latency of the first frames and the
/// wait for the first due time. With K frames in flight, compares each completion with the
/// completion K earlier, which freed its slot. Frames that end in groups then count at their
/// long-run rate; frames of a batch count as one completion of several frames. In a closed loop
/// with one frame in flight, or with at most K frames, counts all frames from the first begin to
/// the last end.
///
/// Frames in flight at the first completion are already partly done, so completions alone can
/// overestimate the rate. The time per frame is therefore at least the mean busy time per frame of
/// every stage, host thread, stream and device.
///
/// Scheduled frames count only if there are at least `least_scheduled_frames`. The pipeline kept up
/// if no frame was dropped and, when the last frame was due, all passes but one were complete, or
/// all frames due earlier. In this case, the frames due after the first due time count over the
/// time from the first due time to the last. Otherwise completions count as above, but not faster
/// than arrivals.
completed_frames completions_of(const run_record& record);

/// Returns the mean time between completions in ns; empty if no time passed.
std::optional<double> frame_period(const run_record& record);

/// Returns the frames due after the first due time per second until the last, including incomplete
/// frames; empty if all are due at once.
std::optional<double> offered_rate(const run_record& record);

}  // namespace graphline
