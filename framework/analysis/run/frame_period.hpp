#pragma once

#include <cstddef>
#include <optional>

#include "framework/record/run_record.hpp"

namespace graphline {

/// Number of completed frames and the time that they represent.
struct completed_frames {
  double count = 0;
  double time = 0;  ///< ns; 0 without frames or with too few scheduled ones
};

/// Minimum number of scheduled frames for a throughput: with fewer, a single early or late
/// completion would determine it.
inline constexpr std::size_t least_scheduled_frames = 5;

/// Number of slots, at least 1 (a damaged file may hold 0).
std::size_t slots_of(const run_record& record);

/// Whether frames arrive at a rate rather than when a slot becomes free.
bool is_scheduled(const settings& run);

/// Counts from completion to completion, so that the latency of the first frames and the wait for
/// the first due time do not contribute. With K frames in flight, compares each completion with the
/// one K before it, which frees the frame's slot: frames that end in groups are then counted at
/// their long-run rate, regardless of where the run begins and ends. In a closed loop with one
/// frame in flight, the first begin stands for the completion before it. With at most K frames,
/// counts all of them from first begin to last end.
///
/// Frames in flight at the first completion are already partly done, so completions alone can
/// overestimate the rate. The time per frame is therefore at least the mean busy time per frame of
/// every stage, host thread, stream and device.
///
/// Scheduled frames count from `least_scheduled_frames` on. If none was dropped and all others were
/// complete when the last was due, the pipeline kept up and completes frames at the rate of
/// arrivals; the time between due times counts. Otherwise completions count as above (first to last
/// if there are at most K frames), but not faster than arrivals.
completed_frames completions_of(const run_record& record);

/// Mean time between completions in ns, the inverse of the throughput; empty if no time passed.
std::optional<double> frame_period(const run_record& record);

/// Scheduled arrivals per second, including frames that were not completed; empty for fewer than
/// two.
std::optional<double> offered_rate(const run_record& record);

}  // namespace graphline
