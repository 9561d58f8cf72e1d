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

/// Minimum number of scheduled frames for a throughput: with fewer, a single early or late
/// completion would determine it.
inline constexpr std::size_t least_scheduled_frames = 5;

/// Returns the number of slots, at least 1 even if a damaged file contains 0.
std::size_t slots_of(const run_record& record);

/// Returns true if frames arrive at a rate, not when a slot becomes free.
bool is_scheduled(const settings& run);

/// Returns how many frames the run completed in which time. Counts from completion to completion,
/// so that the latency of the first frames and the wait for the first due time do not contribute.
/// With K frames in flight, compares each completion with the one K completions earlier, which
/// freed the frame's slot. Frames that end in groups then count at their long-run rate, regardless
/// of where the run begins and ends. In a closed loop with one frame in flight, the begin of the
/// first frame replaces the completion before it. With at most K frames, counts all frames from the
/// first begin to the last end.
///
/// Frames in flight at the first completion are already partly done, so completions alone can
/// overestimate the rate. The time per frame is therefore at least the mean busy time per frame of
/// every stage, host thread, stream and device.
///
/// Scheduled frames count only if there are at least `least_scheduled_frames`. If none was dropped
/// and all but one were complete when the last frame was due, the pipeline kept up. It then
/// completes frames at the rate of arrivals, and the time between the first and the last due time
/// counts. Otherwise completions count as above (from first to last if there are at most K frames),
/// but not faster than arrivals.
completed_frames completions_of(const run_record& record);

/// Returns the mean time between completions in ns, 1 / throughput; empty if no time passed.
std::optional<double> frame_period(const run_record& record);

/// Returns arrivals per second, including incomplete frames; empty for fewer than two arrivals.
std::optional<double> offered_rate(const run_record& record);

}  // namespace graphline
