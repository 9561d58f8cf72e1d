#include "framework/analysis/run/device_use.hpp"

#include <algorithm>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/passes.hpp"

namespace graphline {

std::vector<std::optional<double>> busy_shares(const run_record& record) {
  std::vector<std::optional<double>> shares(record.devices.size());
  if (record.frames.empty()) return shares;
  const nanoseconds begin = std::ranges::min(record.frames, {}, &frame_record::begin).begin;
  const nanoseconds end = std::ranges::max(record.frames, {}, &frame_record::end).end;
  const std::size_t passes = run_passes(record).size();
  for (std::size_t device = 0; device < shares.size(); ++device) {
    double busy = 0;                // as the device reports it
    std::vector<stamp_pair> spans;  // else between events
    for (const stage_record& stage : record.stages) {
      if (stage.on != side::device || stage.device_index != device) continue;
      for (const nanoseconds time : stage.busy) busy += static_cast<double>(time);
      for (std::size_t pass = 0; stage.busy.empty() && pass < passes; ++pass) {
        if (const auto stamps = work_stamps(stage, pass)) spans.push_back(*stamps);
      }
    }
    for (const stamp_pair& span : merged(std::move(spans))) {
      busy += static_cast<double>(span.length());
    }
    if (busy == 0 || end <= begin) continue;
    shares[device] = busy / static_cast<double>(end - begin);
  }
  return shares;
}

}  // namespace graphline
