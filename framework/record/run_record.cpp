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

std::size_t frames_due(const run_record& record) noexcept {
  return record.frames.size() + record.load.dropped.size() + record.load.unfinished.size();
}

}  // namespace graphline
