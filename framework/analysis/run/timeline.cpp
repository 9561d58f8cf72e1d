#include "framework/analysis/run/timeline.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/policy_choices.hpp"

namespace graphline {

namespace {

constexpr std::size_t no_lane = static_cast<std::size_t>(-1);

/// Returns the column of host stamps that the timing method fills for a stage.
const std::vector<stamp_pair>& host_stamps(const stage_record& stage) {
  if (stage.on == side::cpu) return stage.cpu;
  return stage.synced.empty() ? stage.enqueued : stage.synced;
}

timeline_span::kind host_kind(const stage_record& stage) {
  if (stage.on == side::cpu) return timeline_span::kind::cpu;
  return stage.synced.empty() ? timeline_span::kind::launch : timeline_span::kind::synced;
}

/// Returns the interval in which a stage or part worked. Like `work_stamps`, but without checks.
template <class Timed>
stamp_pair at_work(const Timed& of, std::size_t pass) {
  auto stamps = of.device[pass];
  if (pass < of.busy.size() && of.busy[pass] >= 0 && of.busy[pass] < stamps.length()) {
    stamps.begin = stamps.end - of.busy[pass];
  }
  return stamps;
}

/// Returns true if a pass that ran the stage has times of the part.
bool has_part(const stage_record& stage, const part_record& part, std::size_t pass) {
  return pass < part.device.size() && bucket_of(stage, pass) == part.bucket;
}

bool on_stream(const stage_record& stage) {
  return stage.on == side::device && !stage.device.empty();
}

/// Returns true if all stages of a stream are copies, timed or not.
bool copies_only(const run_record& record, std::string_view stream) {
  return std::all_of(record.stages.begin(), record.stages.end(), [&](const stage_record& stage) {
    return stage.on != side::device || stage.stream != stream || stage.copy;
  });
}

}  // namespace

timeline::timeline(const run_record& record)
    : record_(record),
      lane_of_thread_(record.threads.size(), no_lane),
      lane_of_stage_(record.stages.size(), no_lane) {
  std::vector<bool> used(record.threads.size(), false);
  if (!used.empty()) used[0] = !record.launches.empty();
  for (const auto& stage : record.stages) {
    const std::size_t timed = host_stamps(stage).size();
    for (std::size_t pass = 0; pass < std::min(timed, stage.threads.size()); ++pass) {
      used[stage.threads[pass]] = true;
    }
  }
  for (std::size_t thread = 0; thread < used.size(); ++thread) {
    if (!used[thread]) continue;
    lane_of_thread_[thread] = lanes_.size();
    lanes_.push_back({timeline_lane::kind::thread, record.threads[thread]});
  }
  for (std::size_t d = 0; d < std::max<std::size_t>(1, record.devices.size()); ++d) {
    add_streams(d, timeline_lane::kind::stream);
    add_streams(d, timeline_lane::kind::copies);
  }
}

void timeline::add_streams(std::size_t device, timeline_lane::kind what) {
  const std::size_t first = lanes_.size();
  for (std::size_t i = 0; i < record_.stages.size(); ++i) {
    const stage_record& stage = record_.stages[i];
    if (!on_stream(stage) || stage.device_index != device) continue;
    if (copies_only(record_, stage.stream) != (what == timeline_lane::kind::copies)) continue;
    std::size_t lane = first;
    while (lane < lanes_.size() && lanes_[lane].name != stage.stream) ++lane;
    if (lane == lanes_.size()) lanes_.push_back({what, stage.stream, device});
    lane_of_stage_[i] = lane;
  }
}

void timeline::add_device_spans(std::size_t index, std::size_t pass,
                                std::vector<timeline_span>& to) const {
  using kind = timeline_span::kind;
  const auto& stage = record_.stages[index];
  if (pass >= stage.device.size()) return;
  const auto& between = stage.device[pass];
  const auto work = at_work(stage, pass);
  const auto add = [&](kind what, const stamp_pair& stamps) {
    to.push_back({what, lane_of_stage_[index], index, 0, stamps.begin, stamps.end});
  };
  const bool held = work.begin > between.begin;
  if (held) add(kind::held, between);
  const bool in_parts = std::ranges::any_of(
      stage.parts, [&](const part_record& part) { return has_part(stage, part, pass); });
  if (!held || !in_parts) add(stage.copy ? kind::copy : kind::device, work);
}

std::vector<timeline_span> timeline::spans_of(std::size_t pass) const {
  using kind = timeline_span::kind;
  std::vector<timeline_span> spans;
  if (pass >= run_passes(record_).size()) return spans;
  const auto add = [&](kind what, std::size_t lane, std::optional<std::size_t> stage,
                       const std::vector<stamp_pair>& stamps) {
    if (pass >= stamps.size()) return;
    spans.push_back({what, lane, stage, 0, stamps[pass].begin, stamps[pass].end});
  };
  // The main thread, which is first in the record, launches the frames' graphs.
  if (!lane_of_thread_.empty()) {
    add(kind::launch, lane_of_thread_.front(), std::nullopt, record_.launches);
  }
  for (std::size_t i = 0; i < record_.stages.size(); ++i) {
    const stage_record& stage = record_.stages[i];
    if (!ran(stage, pass)) continue;
    if (pass < stage.threads.size()) {
      const std::size_t before = spans.size();
      add(host_kind(stage), lane_of_thread_[stage.threads[pass]], i, host_stamps(stage));
      if (spans.size() > before) spans.back().instead_of = preferred_in(stage, pass);
    }
    if (!on_stream(stage)) continue;
    add_device_spans(i, pass, spans);
  }
  std::stable_sort(spans.begin(), spans.end(), [](const timeline_span& a, const timeline_span& b) {
    return a.begin < b.begin;
  });
  std::vector<timeline_span> with_parts;
  for (const auto& span : spans) {
    with_parts.push_back(span);
    if (span.what != kind::device && span.what != kind::held) continue;
    const auto& parts = record_.stages[*span.stage].parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!has_part(record_.stages[*span.stage], parts[i], pass)) continue;
      const auto [begin, end] = at_work(parts[i], pass);
      with_parts.push_back({kind::part, span.lane, span.stage, i, begin, end});
    }
  }
  return with_parts;
}

std::vector<timeline_span> timeline::skipped_in(std::size_t pass) const {
  std::vector<timeline_span> spans;
  for (std::size_t i = 0; i < record_.stages.size(); ++i) {
    const stage_record& stage = record_.stages[i];
    if (ran(stage, pass)) continue;
    const bool threaded = pass < stage.threads.size() && pass < host_stamps(stage).size();
    const auto& stamps = threaded ? host_stamps(stage) : stage.device;
    const std::size_t lane = threaded ? lane_of_thread_[stage.threads[pass]] : lane_of_stage_[i];
    if (lane == no_lane || pass >= stamps.size()) continue;
    const bool skip = stage.rows[pass] == skipped;
    spans.push_back({skip ? timeline_span::kind::skip : timeline_span::kind::no_rows, lane, i, 0,
                     stamps[pass].begin, stamps[pass].begin});
  }
  return spans;
}

}  // namespace graphline
