#include "framework/record/run_record.hpp"

namespace graphline {

std::string_view meaning_of(timing_method method) noexcept {
  switch (method) {
    case timing_method::none:
      return "stages are not timed, only each frame as a whole";
    case timing_method::host:
      return "host clock around the launch: time to enqueue, not to compute";
    case timing_method::sync:
      return "host clock between two waits for the device, which serialise";
    case timing_method::event:
      return "device time between an event before the stage and one after it";
    case timing_method::layers:
      return "device time as under event, with further events between the parts of a stage, which "
             "keep them apart and so lengthen it";
  }
  return "";
}

}  // namespace graphline
