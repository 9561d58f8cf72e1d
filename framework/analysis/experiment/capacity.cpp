#include "framework/analysis/experiment/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

/// From begin to end of the frames that no other was beside and no standstill held up.
std::vector<nanoseconds> times_alone(const run_record& record) {
  std::vector<nanoseconds> times;
  const auto held_up = frames_held_up(record);
  nanoseconds ended = 0;  // the last of those before
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const auto& frame = record.frames[i];
    const bool after = i == 0 || frame.begin >= ended;
    const bool before = i + 1 == record.frames.size() || record.frames[i + 1].begin >= frame.end;
    if (after && before && !held_up.contains(i)) times.push_back(frame.end - frame.begin);
    ended = std::max(ended, frame.end);
  }
  return times;
}

/// In the order in which probes began.
std::vector<probe_summary> probes_of(const capacity_record& record,
                                     const std::vector<capacity_run_summary>& summaries,
                                     const std::vector<bool>& disturbed) {
  const auto& runs = record.runs;
  std::vector<probe_summary> probes;
  std::vector<std::vector<std::vector<nanoseconds>>> times;  // of the probes' runs
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto at = std::find(numbers.begin(), numbers.end(), runs[i].probe) - numbers.begin();
    const auto index = static_cast<std::size_t>(at);
    if (index == probes.size()) {
      numbers.push_back(runs[i].probe);
      probes.emplace_back();
      times.emplace_back();
    }
    auto& probe = probes[index];
    probe.rate = runs[i].rate;
    probe.pooled = runs[i].pooled;
    probe.cut_off |= runs[i].cut_off;
    probe.dropped += runs[i].record.load.dropped.size();
    if (!is_complete(runs[i])) {
      ++probe.incomplete;
    } else if (disturbed[i]) {
      ++probe.disturbed;
    } else {
      probe.runs.push_back(i);
      probe.held += summaries[i].held ? 1 : 0;
      probe.growing += summaries[i].growing ? 1 : 0;
      times[index].push_back(summaries[i].times);
    }
  }
  for (std::size_t i = 0; i < probes.size(); ++i) {
    probes[i].times = check_bound(times[i], record.how.percentile, record.how.bound);
  }
  return probes;
}

finding found(std::string_view key, const capacity_settings& how) {
  return finding{key}
      .with("percentile", percentile_name(how.percentile))
      .with("bound", how.bound, unit::duration);
}

finding estimate_of(const capacity_estimate& estimate, const capacity_settings& how) {
  auto made = found("capacity", how);
  made.with("rate", estimate.rate, unit::frames_per_second);
  made.with("low", estimate.low, unit::frames_per_second);
  made.with("high", estimate.high, unit::frames_per_second);
  return made.with("runs", estimate.runs).with("frames", estimate.frames);
}

/// When the interval is not as narrow as asked for. Its width falls with the square root of the
/// number of frames.
std::optional<finding> width_of(const capacity_estimate& estimate, const capacity_settings& how) {
  const auto width = estimate.width();
  if (!estimate.enough || !width) return found("interval_of_few_runs", how);
  if (*width <= how.within) return std::nullopt;
  auto made = found("interval_too_wide", how);
  made.with("width", *width, unit::share).with("within", how.within, unit::share);
  if (how.arrival == arrival::poisson) {
    const double more = *width / how.within;
    made.with("frames", std::ceil(static_cast<double>(how.frames) * more * more), unit::none);
  }
  return made;
}

/// Runs that failed where they should have held by the estimate. With random arrivals some do so
/// near it.
std::optional<finding> failures_below(const capacity_summary& summary,
                                      const capacity_settings& how) {
  if (!summary.estimate.low) return std::nullopt;
  const double below = *summary.estimate.low * (how.arrival == arrival::poisson ? 0.8 : 1);
  std::size_t failed = 0;
  std::size_t runs = 0;
  double lowest = below;
  for (const auto& probe : summary.probes) {
    if (probe.rate >= below) continue;
    runs += probe.runs.size();
    failed += probe.runs.size() - probe.held;
    if (probe.held < probe.runs.size()) lowest = std::min(lowest, probe.rate);
  }
  if (failed == 0) return std::nullopt;
  finding made{"runs_failed_below", finding_severity::warning};
  return made.with("failed", failed)
      .with("runs", runs)
      .with("below", below, unit::frames_per_second)
      .with("lowest", lowest, unit::frames_per_second);
}

/// Without an estimate.
finding nothing_found(const capacity_summary& summary, const capacity_settings& how) {
  const auto& alone = summary.alone;
  if (alone.verdict == bound_verdict::fails) {
    auto made = found("no_rate_possible", how);
    made.with("alone", alone.value, unit::duration);
    return made.with("late", alone.late).with("frames", alone.frames);
  }
  auto probes = summary.probes;
  std::erase_if(probes, [](const probe_summary& p) { return p.runs.empty(); });
  if (probes.empty()) return found("no_rate_judged", how);
  const auto held_in_all = [](const probe_summary& p) { return p.held == p.runs.size(); };
  const auto [lowest, highest] = std::ranges::minmax_element(probes, {}, &probe_summary::rate);
  const bool judged_all = probes.size() == summary.probes.size();
  if (judged_all && std::ranges::all_of(probes, held_in_all)) {
    return found("every_rate_held", how).with("highest", highest->rate, unit::frames_per_second);
  }
  std::optional<double> held;
  for (const auto& probe : probes) {
    if (held_in_all(probe)) held = std::max(held.value_or(0), probe.rate);
  }
  if (held) return found("search_ended_early", how).with("held", *held, unit::frames_per_second);
  return found("no_rate_held", how).with("lowest", lowest->rate, unit::frames_per_second);
}

}  // namespace

std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop) {
  if (how.arrival != arrival::poisson) return 0;
  const double within_bound = closed_loop * 1e-9 * static_cast<double>(how.bound);
  return std::llround(std::min(4 * within_bound * within_bound, 1e9));
}

capacity_summary summarize(const capacity_record& record) {
  capacity_summary result;
  result.closed_loop = summarize(record.closed_loop).throughput;
  std::vector<capacity_run_summary> runs;
  std::vector<std::vector<nanoseconds>> alone = {times_alone(record.closed_loop)};
  for (const auto& run : record.runs) {
    runs.push_back(summarize(run, record.how));
    alone.push_back(times_alone(run.record));
  }
  result.alone = check_bound(alone, record.how.percentile, record.how.bound);
  result.estimate = estimate_capacity(record.how, result.closed_loop, record.runs, runs);
  result.warning = disturbance_finding(record.conditions, record.closed_loop);
  result.probes = probes_of(record, runs, result.estimate.disturbed);
  return result;
}

std::vector<finding> findings_of(const capacity_summary& summary, const capacity_settings& how) {
  const auto& estimate = summary.estimate;
  if (!estimate.rate) return {nothing_found(summary, how)};
  std::vector<finding> list = {estimate_of(estimate, how)};
  if (auto width = width_of(estimate, how)) list.push_back(std::move(*width));
  const auto left_out = std::count(estimate.disturbed.begin(), estimate.disturbed.end(), true);
  if (estimate.unsteady) {
    list.push_back(found("runs_unsteady", how));
  } else if (left_out > 0) {
    list.push_back(found("runs_disturbed", how).with("runs", left_out));
  }
  if (auto failures = failures_below(summary, how)) list.push_back(std::move(*failures));
  if (!summary.closed_loop) return list;
  list.push_back(found("share_of_closed_loop", how)
                     .with("share", *estimate.rate / *summary.closed_loop, unit::share)
                     .with("closed_loop", *summary.closed_loop, unit::frames_per_second));
  const auto needed = frames_for_queue(how, *summary.closed_loop);
  if (how.frames < needed) {
    list.push_back(found("runs_too_short", how).with("frames", how.frames).with("needed", needed));
  }
  return list;
}

}  // namespace graphline
