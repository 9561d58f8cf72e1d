#pragma once

#include "framework/base/words.hpp"

namespace graphline {

/// Carries out one device stage under a timing method: the order of launches, waits, events and
/// clock reads, apart from what they are. `Operations` offers
///
///   nanoseconds now();            the host's clock
///   void launch();                enqueue the stage's work
///   void launch_in_parts();       the same, with timed events between its parts
///   void record_begin();          timed event before the work
///   void record_end();            timed event after it
///   void synchronize();           wait until the device is idle
///   void keep_enqueued(nanoseconds begin, nanoseconds end);
///   void keep_synced(nanoseconds begin, nanoseconds end);
///
/// Nothing is kept unless everything before it succeeded: an exception leaves no half sample.
template <class Operations>
void time_device_stage(timing_method method, Operations& ops) {
  switch (method) {
    case timing_method::none:
      ops.launch();
      return;
    case timing_method::host: {
      const auto begin = ops.now();
      ops.launch();
      const auto end = ops.now();
      ops.keep_enqueued(begin, end);
      return;
    }
    case timing_method::sync: {
      ops.synchronize();
      const auto begin = ops.now();
      ops.launch();
      ops.synchronize();
      const auto end = ops.now();
      ops.keep_synced(begin, end);
      return;
    }
    case timing_method::event:
    case timing_method::layers: {
      const auto begin = ops.now();
      ops.record_begin();
      if (method == timing_method::layers) {
        ops.launch_in_parts();
      } else {
        ops.launch();
      }
      ops.record_end();
      const auto end = ops.now();
      ops.keep_enqueued(begin, end);
      return;
    }
  }
}

}  // namespace graphline
