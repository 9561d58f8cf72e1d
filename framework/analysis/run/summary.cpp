#include "framework/analysis/run/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/base/units.hpp"

namespace graphline {

namespace {

load_summary load_of(const run_record& record) {
  load_summary result;
  result.dropped = record.load.dropped.size();
  result.due = record.frames.size() + result.dropped;
  result.queue_wait = distribution::of(queue_wait_times(record));
  result.offered = offered_rate(record);
  return result;
}

std::string why_no_throughput(const run_record& record) {
  const bool few = !record.frames.empty() && record.frames.size() < least_scheduled_frames;
  if (!few || !is_scheduled(record.run)) return {};
  return fmt::format("too few frames: on a schedule it needs {}", least_scheduled_frames);
}

std::vector<finding> findings_of(const run_record& record, const run_summary& summary) {
  std::vector<finding> result;
  const auto dropped = record.load.dropped.size();
  if (summary.overload) result.push_back(overload_finding(*summary.overload));
  const auto late = summary.deadline ? summary.deadline->missed : 0;
  if (late > 0 || (summary.deadline && dropped > 0)) {
    result.push_back(finding{"deadline_missed", finding_severity::failure}
                         .with("deadline", summary.deadline->limit, unit::duration)
                         .with("missed", late + dropped)
                         .with("frames", record.frames.size() + dropped));
    if (dropped > 0) result.back().with("dropped", dropped);
  }
  return result;
}

stage_summary summarize(const stage_record& stage, const settings& run,
                        const std::optional<distribution>& end_to_end) {
  stage_summary result;
  for (const auto what : measures_of(stage.on, run)) {
    result.columns.push_back({what, distribution::of(times_of(stage, what))});
  }
  const bool settled = end_to_end && end_to_end->why_unsettled().empty();
  if (!result.columns.empty() && result.columns.front().times && settled &&
      end_to_end->mean() > 0) {
    result.share = result.columns.front().times->mean() / end_to_end->mean();
  }
  const auto whole = distribution::of(device_times(stage));
  for (const auto& part : stage.parts) {
    auto& to = result.parts.emplace_back();
    to.times = distribution::of(device_times(part));
    if (to.times && whole && whole->mean() > 0) to.share = to.times->mean() / whole->mean();
  }
  return result;
}

std::optional<launch_times> launch_times_of(const stage_record& stage,
                                            const stage_summary& summary) {
  const distribution* device = nullptr;
  const distribution* enqueue = nullptr;
  for (const auto& column : summary.columns) {
    if (!column.times) continue;
    if (column.what == measure::device_time) device = &*column.times;
    if (column.what == measure::enqueue_time) enqueue = &*column.times;
  }
  if (device == nullptr || enqueue == nullptr) return std::nullopt;
  return launch_times{enqueue->mean(), device->mean(), !stage.busy.empty()};
}

/// Of all stages that are bound by their launches.
std::optional<finding> launch_warning(const run_record& record,
                                      const std::vector<stage_summary>& stages) {
  std::size_t bound = 0;
  std::size_t worst = 0;
  launch_times of_worst;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto times = launch_times_of(record.stages[s], stages[s]);
    if (!times || !is_launch_bound(*times)) continue;
    if (++bound > 1 && !is_more_launch_bound(*times, of_worst)) continue;
    worst = s;
    of_worst = *times;
  }
  if (bound == 0) return std::nullopt;
  return launch_bound_finding(record.stages[worst].name, of_worst, bound);
}

}  // namespace

std::string_view key_of(measure what) noexcept {
  switch (what) {
    case measure::device_time:
      return "device_time";
    case measure::synchronized_time:
      return "synchronized_time";
    case measure::enqueue_time:
      return "enqueue_time";
    case measure::cpu_time:
      return "cpu_time";
  }
  return "?";
}

const std::vector<stamp_pair>& stamps_of(const stage_record& stage, measure what) noexcept {
  switch (what) {
    case measure::device_time:
      return stage.device;
    case measure::synchronized_time:
      return stage.synced;
    case measure::enqueue_time:
      return stage.enqueued;
    case measure::cpu_time:
      break;
  }
  return stage.cpu;
}

std::vector<nanoseconds> times_of(const stage_record& stage, measure what) {
  return what == measure::device_time ? device_times(stage) : lengths(stamps_of(stage, what));
}

std::vector<measure> measures_of(side on, const settings& run) {
  if (run.timing == timing_method::none) return {};
  if (on == side::cpu) return {measure::cpu_time};
  switch (run.timing) {
    case timing_method::host:
      return {measure::enqueue_time};
    case timing_method::sync:
      return {measure::synchronized_time};
    default:
      if (run.graphs == graph_mode::frame) return {measure::device_time};
      return {measure::device_time, measure::enqueue_time};
  }
}

deadline_summary compare_with_deadline(nanoseconds limit, const std::vector<nanoseconds>& times) {
  std::vector<nanoseconds> late;
  for (const auto time : times) {
    if (time > limit) late.push_back(time - limit);
  }
  deadline_summary result{
      .limit = limit, .missed = late.size(), .median_late = {}, .worst_late = {}};
  if (const auto by = distribution::of(std::move(late))) {
    result.median_late = by->median();
    result.worst_late = by->max();
  }
  return result;
}

nanoseconds running_time(const run_record& record) {
  if (record.frames.empty()) return 0;
  const bool closed = record.run.arrival == arrival::closed || !record.run.rate;
  const auto from = [closed](const frame_record& f) { return closed ? f.begin : f.due; };
  nanoseconds begin = from(record.frames.front());
  nanoseconds end = record.frames.front().end;
  nanoseconds last_due = record.frames.front().due;
  for (const auto& frame : record.frames) {
    begin = std::min(begin, from(frame));
    last_due = std::max(last_due, frame.due);
    end = std::max(end, frame.end);
  }
  if (closed) return end - begin;
  if (const auto& dropped = record.load.dropped; !dropped.empty()) {
    begin = std::min(begin, dropped.front());
    last_due = std::max(last_due, dropped.back());
  }
  const auto gap = static_cast<nanoseconds>(std::round(1e9 / *record.run.rate));
  return std::max(end, last_due + gap) - begin;
}

std::vector<nanoseconds> end_to_end_times(const run_record& record) {
  std::vector<nanoseconds> times;
  times.reserve(record.frames.size());
  for (const auto& frame : record.frames) times.push_back(frame.end - frame.due);
  return times;
}

std::vector<nanoseconds> queue_wait_times(const run_record& record) {
  std::vector<nanoseconds> times;
  times.reserve(record.frames.size());
  for (const auto& frame : record.frames) times.push_back(frame.begin - frame.due);
  return times;
}

std::optional<nanoseconds> median_cpu_time(const stage_record& stage) {
  const auto times = distribution::of(lengths(stage.cpu));
  return times ? times->percentile(0.5) : std::nullopt;
}

run_summary summarize(const run_record& record) {
  run_summary result;
  auto times = end_to_end_times(record);
  if (record.run.deadline) result.deadline = compare_with_deadline(*record.run.deadline, times);
  result.end_to_end = distribution::of(std::move(times));
  if (const auto period = frame_period(record)) result.throughput = 1e9 / *period;
  result.why_no_throughput = why_no_throughput(record);
  if (record.run.arrival != arrival::closed) result.load = load_of(record);
  result.overload = overload_of(record);
  if (result.overload && result.overload->growth) {
    const char* why = "overloaded: latency grows with the run's length";
    result.end_to_end = std::move(*result.end_to_end).unsettled(why);
    result.load->queue_wait = std::move(*result.load->queue_wait).unsettled(why);
  }
  result.findings = findings_of(record, result);
  add_warnings(result.findings, record.warnings);
  for (const auto& stage : record.stages) {
    result.stages.push_back(summarize(stage, record.run, result.end_to_end));
  }
  if (auto warning = disturbance_finding(record)) result.findings.push_back(std::move(*warning));
  if (auto warning = launch_warning(record, result.stages)) {
    result.findings.push_back(std::move(*warning));
  }
  return result;
}

bool is_launch_bound(const launch_times& times) noexcept {
  constexpr double least_ratio = 0.8;
  return times.enqueue >= least_ratio * times.device;
}

bool is_more_launch_bound(const launch_times& times, const launch_times& other) noexcept {
  return times.enqueue * other.device > other.enqueue * times.device;
}

finding launch_bound_finding(std::string stage, const launch_times& worst, std::size_t stages) {
  finding made{worst.busy ? "device_waits_for_host" : "device_time_may_hold_waits",
               finding_severity::warning,
               {std::move(stage)}};
  made.with("enqueue", worst.enqueue, unit::duration).with("device", worst.device, unit::duration);
  if (stages > 1) made.with("stages", stages);
  return made;
}

std::vector<operation_summary> operations_of(const stage_record& stage) {
  std::vector<operation_summary> result;
  for (const auto& operation : stage.operations) {
    const auto times = distribution::of(operation.calls);
    const auto together = distribution::of(operation.together);
    if (!times || !together) continue;
    result.push_back({operation.name,
                      static_cast<double>(times->count()) / static_cast<double>(stage.traced_runs),
                      times->median(), together->median()});
  }
  return result;
}

}  // namespace graphline
