#include "framework/analysis/run/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/launch_waits.hpp"
#include "framework/analysis/run/policy_choices.hpp"
#include "framework/base/units.hpp"
#include "framework/plan/schedules/schedule.hpp"

namespace graphline {

namespace {

load_summary load_of(const run_record& record) {
  load_summary result;
  result.due = frames_due(record);
  result.dropped = record.load.dropped.size();
  result.unfinished = record.load.unfinished.size();
  result.queue_wait = distribution::of(queue_wait_times(record));
  result.offered = offered_rate(record);
  return result;
}

/// Returns the stages in the order of the time that they take in all frames, longest first.
std::vector<std::size_t> by_time(const run_summary& summary) {
  const auto time_of = [&](std::size_t stage) {
    const auto& columns = summary.stages[stage].columns;
    if (columns.empty() || !columns.front().times) return 0.0;
    return columns.front().times->mean() * static_cast<double>(columns.front().times->count());
  };
  std::vector<std::size_t> order(summary.stages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), time_of);
  return order;
}

std::vector<finding> findings_of(const run_record& record, const run_summary& summary) {
  std::vector<finding> result;
  if (summary.overload) result.push_back(overload_finding(*summary.overload));
  if (summary.deadline && summary.deadline->misses.missed > 0) {
    const auto& misses = summary.deadline->misses;
    result.push_back(finding{"deadline_missed", finding_severity::failure}
                         .with("deadline", summary.deadline->limit, unit::duration)
                         .with("missed", misses.missed)
                         .with("frames", misses.frames));
    if (misses.dropped > 0) result.back().with("dropped", misses.dropped);
    if (misses.cut_short > 0) result.back().with("cut_short", misses.cut_short);
  }
  add_warnings(result, record.warnings);
  for (const auto& output : record.outputs) {
    if (output.finite) continue;
    result.push_back({"output_not_finite", finding_severity::warning, {output.tensor}});
  }
  for (const auto& warning :
       {disturbance_finding(record.conditions, record), launch_finding(record)}) {
    if (warning) result.push_back(*warning);
  }
  std::vector<finding> notes;
  for (const std::size_t s : by_time(summary)) {
    const auto& rows = summary.stages[s].rows;
    // Copies follow the stage that writes what they copy.
    if (!rows || record.stages[s].copy) continue;
    for (auto& found : rows_findings(record.stages[s], *rows, record.run)) {
      auto& list = found.how == finding_severity::note ? notes : result;
      const auto same = std::ranges::find_if(list, [&found](const finding& other) {
        return other.key == found.key && other.figures == found.figures;
      });
      if (same == list.end()) {
        list.push_back(std::move(found));
      } else {
        same->subjects.push_back(found.subjects.front());
      }
    }
  }
  const run_record* const runs[] = {&record};
  if (auto choices = policy_finding(runs)) notes.push_back(std::move(*choices));
  if (auto inversions = inversion_finding(summary.waits)) {
    (inversions->how == finding_severity::note ? notes : result).push_back(std::move(*inversions));
  }
  result.insert(result.end(), notes.begin(), notes.end());
  return result;
}

/// Returns the sum over all frames of a stage's time in their pass, in ns.
double time_of_frames(const stage_record& stage, measure what, const run_passes& passes) {
  const auto times = times_by_frame(stage, what);
  double sum = 0;
  for (std::size_t pass = 0; pass < times.size(); ++pass) {
    if (!ran(stage, pass)) continue;
    sum += static_cast<double>(passes.frames_in(pass)) * static_cast<double>(times[pass]);
  }
  return sum;
}

stage_summary summarize(const stage_record& stage, const settings& run, const run_passes& passes,
                        const std::optional<distribution>& end_to_end) {
  stage_summary result;
  for (const auto what : measures_of(stage.on, run)) {
    result.columns.push_back({what, distribution::of(times_of(stage, what))});
  }
  const bool settled = end_to_end && end_to_end->why_unsettled().empty();
  if (!result.columns.empty() && result.columns.front().times && settled &&
      end_to_end->mean() > 0) {
    result.share = time_of_frames(stage, result.columns.front().what, passes) /
                   (end_to_end->mean() * static_cast<double>(end_to_end->count()));
  }
  result.rows = rows_of(stage, run);
  std::optional<distribution> whole;  // times of the stage in the bucket of the part
  for (std::size_t p = 0; p < stage.parts.size(); ++p) {
    const part_record& part = stage.parts[p];
    if (p == 0 || part.bucket != stage.parts[p - 1].bucket) {
      whole = distribution::of(of_frames_run(stage, device_times(stage), part.bucket));
    }
    auto& to = result.parts.emplace_back();
    to.times = distribution::of(of_frames_run(stage, device_times(part), part.bucket));
    if (to.times && whole && whole->mean() > 0) to.share = to.times->mean() / whole->mean();
  }
  return result;
}

}  // namespace

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

std::vector<nanoseconds> times_by_frame(const stage_record& stage, measure what) {
  return what == measure::device_time ? device_times(stage) : lengths(stamps_of(stage, what));
}

std::vector<nanoseconds> of_frames_run(const stage_record& stage, std::vector<nanoseconds> column,
                                       std::optional<std::size_t> bucket) {
  if (stage.rows.empty()) return column;
  std::size_t kept = 0;
  for (std::size_t frame = 0; frame < column.size(); ++frame) {
    if (!ran(stage, frame) || (bucket && bucket_of(stage, frame) != *bucket)) continue;
    column[kept++] = column[frame];
  }
  column.resize(kept);
  return column;
}

std::vector<nanoseconds> times_of(const stage_record& stage, measure what) {
  return of_frames_run(stage, times_by_frame(stage, what));
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
      if (properties_of(run).one_launch) return {measure::device_time};
      return {measure::device_time, measure::enqueue_time};
  }
}

deadline_misses misses_of(const run_record& record, nanoseconds limit) {
  const auto& load = record.load;
  const auto late = [limit](const frame_record& f) { return f.end - f.due > limit; };
  const auto overdue = [&](nanoseconds due) { return load.ended - due > limit; };
  const auto completed_late = std::ranges::count_if(record.frames, late);
  const auto cut_off = static_cast<std::size_t>(std::ranges::count_if(load.unfinished, overdue));
  const auto dropped = load.dropped.size();
  return {.missed = static_cast<std::size_t>(completed_late) + dropped + cut_off,
          .dropped = dropped,
          .cut_short = static_cast<std::size_t>(load.cut_short),
          .frames = record.frames.size() + dropped + cut_off};
}

deadline_summary compare_with_deadline(nanoseconds limit, std::span<const run_record* const> runs) {
  deadline_summary result{.limit = limit, .misses = {}, .median_late = {}, .worst_late = {}};
  std::vector<nanoseconds> late;
  for (const auto* run : runs) {
    const auto of = misses_of(*run, limit);
    result.misses.missed += of.missed;
    result.misses.dropped += of.dropped;
    result.misses.cut_short += of.cut_short;
    result.misses.frames += of.frames;
    for (const auto time : end_to_end_times(*run)) {
      if (time > limit) late.push_back(time - limit);
    }
  }
  if (const auto by = distribution::of(std::move(late))) {
    result.median_late = by->median();
    result.worst_late = by->max();
  }
  return result;
}

std::vector<stage_deadline> stage_deadlines_of(std::span<const run_record* const> runs) {
  std::vector<stage_deadline> result;
  if (runs.empty()) return result;
  for (const stage_record& first : runs.front()->stages) {
    if (!first.deadline) continue;
    stage_deadline made{first.name, *first.deadline, 0, {}};
    std::vector<nanoseconds> lateness;
    for (const auto* run : runs) {
      const auto stage = std::ranges::find(run->stages, first.name, &stage_record::name);
      if (stage == run->stages.end()) continue;
      const run_passes passes(*run);
      for (std::size_t frame = 0; frame < run->frames.size(); ++frame) {
        const auto work = work_stamps(*stage, passes.of(frame));
        if (work) lateness.push_back(work->end - run->frames[frame].due - made.limit);
      }
    }
    const auto is_late = [](nanoseconds by) { return by > 0; };
    made.late = static_cast<std::size_t>(std::ranges::count_if(lateness, is_late));
    made.lateness = distribution::of(std::move(lateness));
    result.push_back(std::move(made));
  }
  return result;
}

nanoseconds running_time(const run_record& record) {
  if (record.frames.empty()) return 0;
  const bool scheduled = is_scheduled(record.run);
  const auto from = [scheduled](const frame_record& f) { return scheduled ? f.due : f.begin; };
  nanoseconds begin = from(record.frames.front());
  nanoseconds end = record.frames.front().end;
  nanoseconds last_due = record.frames.front().due;
  for (const auto& frame : record.frames) {
    begin = std::min(begin, from(frame));
    last_due = std::max(last_due, frame.due);
    end = std::max(end, frame.end);
  }
  if (!scheduled) return end - begin;
  if (const auto& dropped = record.load.dropped; !dropped.empty()) {
    begin = std::min(begin, dropped.front());
    last_due = std::max(last_due, dropped.back());
  }
  if (!record.load.unfinished.empty()) {
    last_due = std::max(last_due, record.load.unfinished.back());
  }
  const auto rate = record.run.rate ? record.run.rate : offered_rate(record);
  const auto gap = rate ? static_cast<nanoseconds>(std::round(1e9 / *rate)) : 0;
  return std::max(end, last_due + gap) - begin;
}

std::vector<nanoseconds> end_to_end_times(const run_record& record) {
  std::vector<nanoseconds> times;
  times.reserve(record.frames.size());
  for (const auto& frame : record.frames) times.push_back(frame.end - frame.due);
  return times;
}

run_summary summarize(const run_record& record) {
  run_summary result;
  const run_record* const runs[] = {&record};
  if (record.run.deadline) {
    result.deadline = compare_with_deadline(*record.run.deadline, runs);
  }
  result.end_to_end = distribution::of(end_to_end_times(record));
  if (const auto period = frame_period(record)) result.throughput = 1e9 / *period;
  if (record.run.arrival != arrival::closed) result.load = load_of(record);
  result.overload = overload_of(record);
  if (result.overload && result.overload->growth) {
    const char* why = latency_grows_with_length;
    result.end_to_end = std::move(*result.end_to_end).unsettled(why);
    result.load->queue_wait = std::move(*result.load->queue_wait).unsettled(why);
  }
  const run_passes passes(record);
  for (const auto& stage : record.stages) {
    result.stages.push_back(summarize(stage, record.run, passes, result.end_to_end));
  }
  result.batches = batches_of(record);
  result.stage_deadlines = stage_deadlines_of(runs);
  result.waits = contention_of(record);
  result.findings = findings_of(record, result);
  return result;
}

std::vector<operation_summary> operations_of(const stage_record& stage) {
  std::vector<operation_summary> result;
  for (const auto& operation : stage.operations) {
    const auto times = distribution::of(operation.calls);
    const auto together = distribution::of(operation.together);
    if (!times || !together) continue;
    result.push_back({operation.name, operation.part,
                      static_cast<double>(times->count()) / static_cast<double>(stage.traced_runs),
                      times->median(), together->median()});
  }
  return result;
}

}  // namespace graphline
