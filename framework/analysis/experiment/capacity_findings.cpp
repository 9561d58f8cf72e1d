#include "framework/analysis/experiment/capacity_findings.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

quantity in_time(nanoseconds ns) {
  return {static_cast<double>(ns), unit::duration};
}

quantity rate(double frames_a_second) {
  return {frames_a_second, unit::frames_per_second};
}

finding found(std::string_view key, const capacity_settings& how) {
  return finding{key}
      .with("percentile", percentile_name(how.percentile))
      .with("bound", in_time(how.bound));
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
  if (!estimate.enough) return found("interval_of_few_runs", how);
  const auto width = estimate.width();
  if (!width) return found("interval_with_one_end", how);
  if (*width <= how.within) return std::nullopt;
  auto made = found("interval_too_wide", how);
  made.with("width", quantity{*width, unit::share})
      .with("within", quantity{how.within, unit::share});
  if (how.arrival == arrival::poisson) {
    const double more = *width / how.within;
    made.with("frames", std::ceil(static_cast<double>(how.frames) * more * more), unit::none);
  }
  return made;
}

/// The highest rate that held; where none held in all of its runs, the highest that held in some.
void add_highest_that_held(finding& to, const std::vector<probe_summary>& probes) {
  const probe_summary* most = nullptr;
  const auto in_all = [](const probe_summary& probe) { return probe.held == probe.runs.size(); };
  for (const auto& probe : probes) {
    if (probe.held == 0) continue;
    const auto order = [&](const probe_summary& p) { return std::pair(in_all(p), p.rate); };
    if (most == nullptr || order(probe) > order(*most)) most = &probe;
  }
  if (most == nullptr) return;
  if (in_all(*most)) {
    to.with("held", rate(most->rate));
  } else {
    to.with("held_in_some", rate(most->rate)).with("held_runs", most->held);
    to.with("of_runs", most->runs.size());
  }
}

/// Without an estimate.
finding nothing_found(const capacity_summary& summary, const capacity_settings& how) {
  if (summary.alone.verdict == bound_verdict::fails) {
    auto made = found("no_rate_possible", how);
    const auto& alone = summary.alone;
    if (alone.value) made.with("alone", in_time(*alone.value));
    if (alone.low && alone.high) {
      made.with("low", in_time(*alone.low)).with("high", in_time(*alone.high));
    }
    made.with("late", alone.late).with("frames", alone.frames);
    add_highest_that_held(made, summary.probes);
    return made;
  }
  const auto& probes = summary.probes;
  if (probes.empty()) return found("no_rate_judged", how);
  const auto holds = [](const auto& probe) { return probe.held == probe.runs.size(); };
  const auto by_rate = [](const auto& a, const auto& b) { return a.rate < b.rate; };
  const auto [lowest, highest] = std::minmax_element(probes.begin(), probes.end(), by_rate);
  if (std::all_of(probes.begin(), probes.end(), holds)) {
    return found("every_rate_held", how).with("highest", rate(highest->rate));
  }
  const bool none = std::none_of(probes.begin(), probes.end(), holds);
  auto made = found(none ? "no_rate_held" : "search_ended_early", how);
  made.with("lowest", rate(lowest->rate));
  add_highest_that_held(made, probes);
  return made;
}

}  // namespace

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
  if (!summary.closed_loop) return list;
  list.push_back(found("share_of_closed_loop", how)
                     .with("share", quantity{*estimate.rate / *summary.closed_loop, unit::share})
                     .with("closed_loop", rate(*summary.closed_loop)));
  const auto needed = frames_for_queue(how, *summary.closed_loop);
  if (how.frames < needed) {
    list.push_back(found("runs_too_short", how).with("frames", how.frames).with("needed", needed));
  }
  return list;
}

}  // namespace graphline
