#pragma once

#include <cstddef>
#include <optional>

#include "framework/record/run_record.hpp"

namespace graphline {

/// So many frames were completed in so much time.
struct completed_frames {
  double count = 0;
  double time = 0;  ///< ns; 0 without frames, and with too few on a schedule
};

/// On a schedule fewer frames have no throughput: one early or late completion would decide it.
inline constexpr std::size_t least_scheduled_frames = 5;

/// Whether frames are due at a rate, not when there is room for them.
bool is_scheduled(const settings& run);

/// From completion to completion, so that neither the time that the first frames took nor a wait
/// for the first to be due counts. With K frames in flight each completion is compared with the one
/// K before it, which frees the slot of the frame: frames that end in groups count as they do in
/// the long run, wherever the run begins and ends. In a closed loop with one frame in flight the
/// first begin stands for a completion before it. All frames from first begin to last end where
/// there are no more than K.
///
/// Frames in flight at the first completion have part of their work done by then, so completions
/// alone can come faster than work can be done. So they never count as faster than the mean time
/// that a frame kept busy what does one thing at a time: a stage, a host thread, a stream, the
/// device.
///
/// On a schedule nothing below `least_scheduled_frames`. Where none was dropped and all others were
/// complete when the last was due, the pipeline kept up: frames are completed as fast as they are
/// due, and the times between these count. Elsewhere completions count, as above but with the first
/// and the last where there are no more than K, and never as faster than frames were due.
completed_frames completions_of(const run_record& record);

/// The frame period: nanoseconds from one completion to the next, on average, and so one over the
/// throughput. Nothing where no time passed.
std::optional<double> frame_period(const run_record& record);

/// Frames due in a second on a schedule, whatever became of them. Nothing below two.
std::optional<double> offered_rate(const run_record& record);

}  // namespace graphline
