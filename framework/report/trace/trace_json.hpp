#pragma once

#include "framework/base/file/text_sink.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A run in the Trace Event Format (JSON object form), as Perfetto opens it.
/// Times are microseconds with three decimals, which keeps nanoseconds; 0 is the begin of the run,
/// or the earliest due time if a frame was due before.
///
/// - Process "frames": a row for each frame in flight, queue waits, and dropped frames. Names of
/// frames
///   that missed their deadline say so. Frames are slices in rows from their begin, since Perfetto
///   gives asynchronous events of different names a track each, and since under overload there
///   would be as many rows as waiting frames. Queue waits are asynchronous events of one name on
///   one track.
/// - Process "host": a track for each thread. Process of the device: a track for each stream, then
/// for
///   copies; layers are within their stages.
/// - Arrows along the edges of each frame and from launches to device stages, except where the
/// clocks'
///   error reverses the ends.
///
/// Slices of a track must nest. If stamps contradict that, by at most the clocks' error, the
/// earlier slice is shortened; its `device_ns` or `host_ns` holds the measured length.
void write_trace(text_sink& to, const run_record& record);

}  // namespace graphline
