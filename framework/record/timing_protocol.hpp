#pragma once

#include <string_view>

#include "framework/base/words.hpp"

namespace graphline {

struct timing_traits {
  std::string_view meaning;     ///< of a device stage's time, for tables and help
  bool tells_spans = false;     ///< reports start and end of each device stage
  bool by_events = false;       ///< by timed events, on the device's clock
  bool needs_launches = false;  ///< the host must launch each stage by itself
};

constexpr timing_traits traits_of(timing_method method) noexcept {
  switch (method) {
    case timing_method::none:
      return {.meaning = "stages are not timed, only each frame as a whole"};
    case timing_method::host:
      return {.meaning = "host clock around the launch: time to enqueue, not to compute",
              .needs_launches = true};
    case timing_method::sync:
      return {.meaning = "host clock between two waits for the device, which prevent overlap",
              .needs_launches = true};
    case timing_method::callback:
      return {.meaning =
                  "host clock between two host functions that the device calls in the "
                  "stream, before the stage and after it: with the way to the host and back",
              .tells_spans = true,
              .needs_launches = true};
    case timing_method::event:
      return {.meaning = "device time between an event before the stage and one after it",
              .tells_spans = true,
              .by_events = true};
    case timing_method::layers:
      return {.meaning =
                  "device time as under event, with further events between the parts of a "
                  "stage, which keep them apart and so lengthen it",
              .tells_spans = true,
              .by_events = true};
  }
  return {};
}

/// Runs one device stage under a timing method. Defines the order of launches, waits, events and
/// clock reads. `Operations` provides
///
///   nanoseconds now();            the host's clock
///   void launch();                enqueue the stage's work
///   void launch_in_parts();       the same, with timed events between its parts
///   void record_begin();          timed event before the work
///   void record_end();            timed event after it
///   void call_begin();            host function that records the host time, before the work
///   void call_end();              host function after it
///   void synchronize();           wait until the device is idle
///   void keep_enqueued(nanoseconds begin, nanoseconds end);
///   void keep_synced(nanoseconds begin, nanoseconds end);
///
/// Samples are kept only after all calls succeeded, so an exception leaves no partial sample.
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
    case timing_method::callback: {
      const auto begin = ops.now();
      ops.call_begin();
      ops.launch();
      ops.call_end();
      const auto end = ops.now();
      ops.keep_enqueued(begin, end);
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
