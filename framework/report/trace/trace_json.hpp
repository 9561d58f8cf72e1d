#pragma once

#include "framework/base/file/text_sink.hpp"
#include "framework/record/ranks_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Writes a run in the Trace Event Format (JSON object form), for Perfetto. Times are microseconds
/// with three decimals, so no nanoseconds are lost. Time 0 is the begin of the run, or the earliest
/// stamp if that is before.
///
/// - Process "frames" contains a row for each frame in flight, queue waits, and dropped frames. A
///   frame is a slice that starts at its begin. As asynchronous events from their due times, frames
///   would each get a track in Perfetto. The name of a frame says if it missed its deadline. Queue
///   waits are asynchronous events on one track.
/// - Process "host" contains a track for each thread.
/// - The process of the device contains a track for each stream, then one for copies. Layers are
///   within their stages.
/// - Arrows follow the edges of each frame, and connect launches to device stages. An arrow is
///   omitted if the clocks' error reverses its ends.
///
/// The slices of a track must nest. If stamps contradict this because of the clocks' error, the
/// earlier slice is shortened, and its `device_ns` or `host_ns` contains the measured length.
void write_trace(text_sink& to, const run_record& record);

/// Writes the runs of all ranks whose clocks are known on the clock of rank 0, each with processes
/// of its own. The offset is that of the first frame.
void write_trace(text_sink& to, const ranks_record& record);

}  // namespace graphline
