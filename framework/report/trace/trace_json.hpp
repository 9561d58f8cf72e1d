#pragma once

#include "framework/base/file/text_sink.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A run in the Trace Event Format (JSON object form), as Perfetto opens it.
/// Times are microseconds with three decimals, so that no nanosecond is lost; 0 is the run's
/// beginning, or the earliest stamp where a frame was due before that.
///
/// - Process "frames": a row for each frame in flight, what frames waited in the queue before, and
///   those that were dropped. A frame that missed its deadline is called late. Frames are slices in
///   rows, from their begin, because Perfetto gives asynchronous events of different names a track
///   each, and because under overload as many rows as frames would wait. Waits are asynchronous
///   events of one name, which share a track.
/// - Process "host": a track for each thread. Process of the device: a track for each stream, and
///   after them those for copies; layers within their stages.
/// - Arrows along the edges of each frame, and from launches to what they launched, but for those
///   whose ends the clock's error has put in the wrong order.
///
/// Slices of a track must nest. Where stamps contradict that, by at most the clocks' error, the
/// earlier slice is shown shorter, and its `device_ns` or `host_ns` has the measured length.
void write_trace(text_sink& to, const run_record& record);

}  // namespace graphline
