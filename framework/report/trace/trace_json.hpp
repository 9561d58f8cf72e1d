#pragma once

#include "framework/base/file/text_sink.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Writes a run in the Trace Event Format (JSON object form), which Perfetto opens. Times are
/// microseconds with three decimals, so no nanoseconds are lost. Time 0 is the begin of the run, or
/// the earliest stamp if that is before.
///
/// - Process "frames" contains a row for each frame in flight, queue waits, and dropped frames. The
///   name of a frame that missed its deadline says so. Frames are slices that start at their begin.
///   As asynchronous events from their due time, frames would get a track each in Perfetto, and
///   under overload a row for each waiting frame. Queue waits are asynchronous events of one name
///   on one track.
/// - Process "host" contains a track for each thread. The process of the device contains a track
///   for each stream, then one for copies. Layers are within their stages.
/// - Arrows lead along the edges of each frame and from launches to device stages. An arrow is
///   omitted if the clocks' error reverses its ends.
///
/// Slices of a track must nest. If stamps contradict that, by at most the clocks' error, the
/// earlier slice is shortened; its `device_ns` or `host_ns` contains the measured length.
void write_trace(text_sink& to, const run_record& record);

}  // namespace graphline
