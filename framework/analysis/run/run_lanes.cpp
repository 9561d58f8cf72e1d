#include "framework/analysis/run/run_lanes.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "framework/analysis/run/frame_activities.hpp"

namespace graphline {

run_lanes::run_lanes(const run_record& record) : record_(record) {
  const bool one_at_a_time = record.device.one_at_a_time;
  std::map<std::string_view, std::size_t> numbers;
  for (const auto& stage : record.stages) {
    const std::string_view name = one_at_a_time ? std::string_view() : stage.stream;
    streams_.push_back(numbers.try_emplace(name, numbers.size()).first->second);
  }
  stream_count_ = numbers.size();

  // A frame that is alone in flight shares its threads with no other, and the gaps within a frame's
  // graph are the device's.
  if (record.run.in_flight <= 1 || record.run.graphs == graph_mode::frame) return;
  threads_.resize(std::max<std::size_t>(1, record.threads.size()));
  for (std::size_t stage = 0; stage < record.stages.size(); ++stage) {
    const auto& of = record.stages[stage];
    for (const auto* column : {&of.enqueued, &of.synced, &of.cpu}) add(*column, stage);
  }
  for (auto& thread : threads_) {
    std::sort(thread.begin(), thread.end(),
              [](const stamp_pair& a, const stamp_pair& b) { return a.begin < b.begin; });
  }
}

void run_lanes::add(const std::vector<stamp_pair>& column, std::size_t stage) {
  const auto frames = std::min(column.size(), record_.frames.size());
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const auto lane = of_thread(stage, frame);
    const auto stamps = sound_stamps(column, frame);
    if (!lane || !stamps || *lane - stream_count_ >= threads_.size()) continue;
    threads_[*lane - stream_count_].push_back(*stamps);
  }
}

std::optional<std::size_t> run_lanes::of_thread(std::size_t stage, std::size_t frame) const {
  const auto& threads = record_.stages[stage].threads;
  if (frame < threads.size()) return stream_count_ + threads[frame];
  const bool one_thread =
      record_.run.strategy != strategy::overlap && record_.run.graphs != graph_mode::frame;
  return one_thread ? std::optional(of_main()) : std::nullopt;
}

std::optional<nanoseconds> run_lanes::busy_until(std::size_t lane, nanoseconds from,
                                                 nanoseconds to) const {
  if (lane < stream_count_ || lane - stream_count_ >= threads_.size()) return std::nullopt;
  const auto& thread = threads_[lane - stream_count_];
  const auto next =
      std::lower_bound(thread.begin(), thread.end(), to,
                       [](const stamp_pair& s, nanoseconds at) { return s.begin < at; });
  if (next == thread.begin()) return std::nullopt;
  const nanoseconds end = std::prev(next)->end;
  return end > from && end <= to ? std::optional(end) : std::nullopt;
}

}  // namespace graphline
