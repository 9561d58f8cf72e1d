#include "framework/record/run_record.hpp"

namespace graphline {

std::vector<nanoseconds> lengths(const std::vector<stamp_pair>& stamps) {
  std::vector<nanoseconds> times;
  times.reserve(stamps.size());
  for (const auto& pair : stamps) times.push_back(pair.length());
  return times;
}

std::vector<nanoseconds> device_times(const stage_record& stage) {
  return stage.busy.empty() ? lengths(stage.device) : stage.busy;
}

std::vector<nanoseconds> device_times(const part_record& part) {
  return part.busy.empty() ? lengths(part.device) : part.busy;
}

std::string_view meaning_of(timing_method method) noexcept {
  switch (method) {
    case timing_method::none:
      return "stages are not timed, only each frame as a whole";
    case timing_method::host:
      return "host clock around the launch: time to enqueue, not to compute";
    case timing_method::sync:
      return "host clock between two waits for the device, which prevent overlap";
    case timing_method::event:
      return "device time between an event before the stage and one after it";
    case timing_method::layers:
      return "device time as under event, with further events between the parts of a stage, which "
             "keep them apart and so lengthen it";
  }
  return "";
}

}  // namespace graphline
