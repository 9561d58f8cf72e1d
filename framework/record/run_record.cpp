#include "framework/record/run_record.hpp"

#include <algorithm>

namespace graphline {

std::size_t bucket_of(const stage_record& stage, std::size_t frame) noexcept {
  if (stage.buckets.empty() || frame >= stage.rows.size()) return 0;
  const auto& buckets = stage.buckets;
  const auto holds = std::ranges::lower_bound(buckets, stage.rows[frame], {}, &bucket_record::rows);
  return static_cast<std::size_t>(std::min(holds, buckets.end() - 1) - buckets.begin());
}

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

const predicted_figure* figure_of(const prediction_record& of, std::string_view name) noexcept {
  const auto known = std::ranges::find(of.figures, name, &predicted_figure::name);
  return known == of.figures.end() ? nullptr : &*known;
}

bool goes_back(const run_record& record) noexcept {
  const auto back = [](const std::vector<stamp_pair>& column) {
    return std::ranges::any_of(column, [](const stamp_pair& of) { return of.end < of.begin; });
  };
  const auto& frames = record.frames;
  const auto frame_back = [](const frame_record& of) {
    return of.begin < of.due || of.end < of.begin;
  };
  if (std::ranges::any_of(frames, frame_back) || back(record.launches)) return true;
  if (!frames.empty() && frames.back().end < frames.front().begin) return true;
  return std::ranges::any_of(record.stages, [&](const stage_record& of) {
    return back(of.enqueued) || back(of.device) || back(of.synced) || back(of.cpu) ||
           std::ranges::any_of(of.parts, back, &part_record::device);
  });
}

std::size_t frames_due(const run_record& record) noexcept {
  return record.frames.size() + record.load.dropped.size() + record.load.unfinished.size();
}

}  // namespace graphline
