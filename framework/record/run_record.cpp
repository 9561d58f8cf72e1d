#include "framework/record/run_record.hpp"

namespace graphline {

std::string_view meaning_of(timing_method method) noexcept {
  switch (method) {
    case timing_method::none:
      return "stages are not timed, only each frame as a whole";
    case timing_method::host:
      return "host clock around the launch: the time to enqueue a stage, not to compute it";
    case timing_method::sync:
      return "host clock between two waits for the device: stage time, nothing overlapping it";
    case timing_method::event:
      return "device clock between an event before and one after the stage: device time";
  }
  return "";
}

}  // namespace graphline
