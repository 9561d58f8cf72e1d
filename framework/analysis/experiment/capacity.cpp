#include "framework/analysis/experiment/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/percentile_bound.hpp"

namespace graphline {
namespace {

/// Returns each frame's due time, and its time to the end or `never` if dropped; by due time.
std::vector<std::pair<nanoseconds, nanoseconds>> due_and_times(const run_record& record) {
  std::vector<std::pair<nanoseconds, nanoseconds>> due;
  due.reserve(record.frames.size() + record.load.dropped.size());
  for (const auto& frame : record.frames) due.emplace_back(frame.due, frame.end - frame.due);
  for (const auto at : record.load.dropped) due.emplace_back(at, never);
  std::sort(due.begin(), due.end());
  return due;
}

/// Returns whether frames have to meet a bound: not those of batch jobs beside a set.
bool is_judged(const capacity_run& run, const run_record& member) {
  return run.members.size() == 1 || member.run.arrival != arrival::closed;
}

/// Returns the bound on the times of a run's frames.
nanoseconds bound_of(const capacity_settings& how, const run_record& record) {
  return how.bound > 0 ? how.bound : record.run.deadline.value_or(never);
}

/// Returns the number of frames that a horizon left unfinished after their bound.
std::ptrdiff_t unfinished_late(const run_record& record, nanoseconds bound) {
  return std::ranges::count_if(record.load.unfinished,
                               [&](nanoseconds due) { return record.load.ended - due > bound; });
}

/// @param rate Frames due per second.
bool keeps_growing(const run_record& record, double rate) {
  constexpr std::size_t parts = 4;
  const auto& frames = record.frames;
  const run_passes passes(record);
  const std::size_t length = passes.size() / parts;
  if (length < 5) return false;
  const double least = 1e9 / rate / 20;
  double before = 0;
  double iqr_before = 0;  // interquartile range of the waits in the previous quarter
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<nanoseconds> waits;
    for (std::size_t pass = part * length; pass < (part + 1) * length; ++pass) {
      // The last frame of a batch waits only for a free slot.
      const auto& last = frames[passes.first_frame(pass) + passes.frames_in(pass) - 1];
      waits.push_back(last.begin - last.due);
    }
    const auto all = *distribution::of(std::move(waits));
    const auto at = [&](double p) {
      return static_cast<double>(all.sorted()[rank_of(p, all.count())]);
    };
    const double iqr = at(0.75) - at(0.25);
    if (part > 0 && at(0.5) < before + std::max({least, iqr_before, iqr})) return false;
    before = at(0.5);
    iqr_before = iqr;
  }
  return true;
}

std::map<std::size_t, own_time> own_times_of(const run_record& record) {
  const auto full = static_cast<std::size_t>(record.run.batch_frames);
  const auto slots = slots_of(record);
  const run_passes passes(record);
  std::map<std::size_t, own_time> result;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    const auto count = passes.frames_in(pass);
    auto begin = count < full ? passes[pass].due + record.run.batch_wait.value_or(0)
                              : record.frames[passes.first_frame(pass) + count - 1].due;
    if (pass >= slots) begin = std::max(begin, passes[pass - slots].end);
    auto& own = result[count];
    own.sum += static_cast<double>(passes[pass].end - begin);
    ++own.passes;
  }
  return result;
}

}  // namespace

bool is_complete(const capacity_run& run) noexcept {
  return std::ranges::all_of(run.members, [&](const run_record& member) {
    return (run.cut_off || !member.interrupted) && !member.failure;
  });
}

capacity_run_summary summarize(const capacity_run& run, const capacity_settings& how) {
  constexpr double rounding = 1e-9;
  capacity_run_summary result;
  result.held = true;
  for (const run_record& member : run.members) {
    rate_sample& sample = result.members.emplace_back();
    if (!is_judged(run, member)) continue;
    sample.bound = bound_of(how, member);
    auto to_skip = member.run.frames / 10;
    for (const auto& [due, time] : due_and_times(member)) {
      sample.due.push_back(due);
      if (to_skip-- <= 0) sample.times.push_back(time);
    }
    const auto overdue = run.overdue + (run.cut_off ? 0 : unfinished_late(member, sample.bound));
    sample.times.insert(sample.times.end(), static_cast<std::size_t>(overdue), never);
    const auto late =
        std::ranges::count_if(sample.times, [&](nanoseconds time) { return time > sample.bound; });
    if (!sample.times.empty()) {
      sample.late = static_cast<double>(late) / static_cast<double>(sample.times.size());
    }
    sample.growing = how.arrival == arrival::constant && member.run.arrival != arrival::trace &&
                     keeps_growing(member, member.run.rate.value_or(run.rate));
    result.held &=
        !sample.times.empty() && sample.late <= 1 - how.percentile + rounding && !sample.growing;
  }
  if (run.members.size() == 1) result.own_times = own_times_of(run.members.front());
  return result;
}

namespace {

struct frame_times {
  std::vector<nanoseconds> from_begin;
  std::vector<nanoseconds> from_due;  ///< of frames that found a free slot
};

/// Returns the times to the end of frames that overlapped no other frame and no standstill.
frame_times times_alone(const run_record& record) {
  frame_times times;
  const auto held_up = frames_held_up(record);
  nanoseconds ended = 0;  // latest end of the previous frames
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const auto& frame = record.frames[i];
    const bool after = i == 0 || frame.begin >= ended;
    const bool before = i + 1 == record.frames.size() || record.frames[i + 1].begin >= frame.end;
    if (after && before && !held_up.contains(i)) {
      times.from_begin.push_back(frame.end - frame.begin);
      if (frame.due >= ended) times.from_due.push_back(frame.end - frame.due);
    }
    ended = std::max(ended, frame.end);
  }
  return times;
}

/// Returns whether `a` is closer to its bound than `b`, or further beyond it.
bool is_closer(const bound_check& a, nanoseconds bound_a, const bound_check& b,
               nanoseconds bound_b) {
  const auto share = [](const bound_check& of, nanoseconds bound) {
    return static_cast<double>(of.value.value_or(0)) / static_cast<double>(bound);
  };
  return std::pair(a.late_share(), share(a, bound_a)) >
         std::pair(b.late_share(), share(b, bound_b));
}

/// Sets `member` and what depends on it. `runs`: the summaries of the runs that count.
void add_closest(probe_summary& to, const capacity_settings& how,
                 const std::vector<const capacity_run_summary*>& runs) {
  if (runs.empty()) return;
  nanoseconds bound = 0;
  for (std::size_t m = 0; m < runs.front()->members.size(); ++m) {
    const nanoseconds own = runs.front()->members[m].bound;
    if (own == 0) continue;
    std::vector<std::vector<nanoseconds>> times;
    for (const auto* run : runs) times.push_back(run->members[m].times);
    auto check = check_bound(times, how.percentile, own);
    if (bound != 0 && !is_closer(check, own, to.times, bound)) continue;
    bound = own;
    to.member = m;
    to.times = std::move(check);
  }
  to.growing = static_cast<std::size_t>(std::ranges::count_if(
      runs, [&](const auto* run) { return run->members[to.member].growing; }));
}

std::vector<probe_summary> probes_of(const capacity_record& record,
                                     const std::vector<capacity_run_summary>& summaries,
                                     const std::vector<bool>& disturbed) {
  const auto& runs = record.runs;
  std::vector<probe_summary> probes;
  std::vector<std::vector<const capacity_run_summary*>> counted;  // by probe
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto at = std::find(numbers.begin(), numbers.end(), runs[i].probe) - numbers.begin();
    const auto index = static_cast<std::size_t>(at);
    if (index == probes.size()) {
      numbers.push_back(runs[i].probe);
      probes.emplace_back();
      counted.emplace_back();
    }
    auto& probe = probes[index];
    probe.rate = runs[i].rate;
    probe.pooled = runs[i].pooled;
    probe.cut_off |= runs[i].cut_off;
    for (const auto& member : runs[i].members) probe.dropped += member.load.dropped.size();
    if (!is_complete(runs[i])) {
      ++probe.incomplete;
    } else if (disturbed[i]) {
      ++probe.disturbed;
    } else {
      probe.runs.push_back(i);
      probe.held += summaries[i].held ? 1 : 0;
      counted[index].push_back(&summaries[i]);
    }
  }
  for (std::size_t i = 0; i < probes.size(); ++i) add_closest(probes[i], record.how, counted[i]);
  return probes;
}

/// Adds what the closed loop and the other runs of one pipeline show apart from the estimate.
void add_closed_loop(capacity_summary& to, const capacity_record& record) {
  const run_record& first = *record.closed_loop;
  to.closed_loop = summarize(first).throughput;
  to.batch_frames = first.run.batch_frames;
  std::vector<std::vector<nanoseconds>> alone;
  std::vector<std::vector<nanoseconds>> waiting;
  const auto add_alone = [&](const run_record& run) {
    auto times = times_alone(run);
    alone.push_back(std::move(times.from_begin));
    waiting.push_back(std::move(times.from_due));
  };
  add_alone(first);
  for (const auto& run : record.runs) add_alone(run.members.front());
  to.alone = check_bound(alone, record.how.percentile, record.how.bound);
  if (const auto batches = batches_of(first); batches && first.run.batch_wait) {
    to.waiting = check_bound(waiting, record.how.percentile, record.how.bound);
    const auto full = batches->sizes.back().times->median();
    if (*first.run.batch_wait + full > record.how.bound) to.batch_wait = first.run.batch_wait;
  }
}

finding found(std::string_view key, const capacity_settings& how) {
  finding made{key};
  made.with("percentile", percentile_name(how.percentile));
  if (how.bound == 0) return made.with("bound", "its deadline");
  return made.with("bound", how.bound, unit::duration);
}

finding estimate_of(const capacity_summary& summary, const capacity_settings& how) {
  const capacity_estimate& estimate = summary.estimate;
  auto made = found(summary.set ? "capacity_of_set" : "capacity", how);
  const probe_summary* late = nullptr;  // at the lowest rate above the capacity
  for (const auto& probe : summary.probes) {
    const bool fails = probe.rate > *estimate.rate && probe.held < probe.runs.size();
    if (fails && (late == nullptr || probe.rate < late->rate)) late = &probe;
  }
  if (summary.set && late != nullptr) made.with("first", summary.set->members[late->member]);
  made.with("rate", estimate.rate, summary.rate_unit());
  made.with("low", estimate.low, summary.rate_unit());
  made.with("high", estimate.high, summary.rate_unit());
  return made.with("runs", estimate.runs).with("frames", estimate.frames);
}

/// Reports an interval that is wider than requested or from too few runs. Suggests a number of
/// frames, since the width is inversely proportional to the number's square root.
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

/// Reports runs that failed at rates below the capacity's interval. With random arrivals, counts
/// rates below 80 % of the interval's lower end. At higher rates, some runs fail by chance.
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
  finding made{summary.predicted ? "predicted_runs_failed_below" : "runs_failed_below",
               finding_severity::warning};
  return made.with("failed", failed)
      .with("runs", runs)
      .with("below", below, summary.rate_unit())
      .with("lowest", lowest, summary.rate_unit())
      .with("batch_wait", summary.batch_wait, unit::duration);
}

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
    return found("every_rate_held", how).with("highest", highest->rate, summary.rate_unit());
  }
  std::optional<double> held;
  for (const auto& probe : probes) {
    if (held_in_all(probe)) held = std::max(held.value_or(0), probe.rate);
  }
  if (held) return found("search_ended_early", how).with("held", *held, summary.rate_unit());
  auto made = found("no_rate_held", how).with("lowest", lowest->rate, summary.rate_unit());
  if (summary.waiting.verdict == bound_verdict::fails) {
    made.with("wait", summary.batch_wait, unit::duration);
  }
  return made;
}

}  // namespace

std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop,
                              std::int64_t batch_frames) {
  constexpr std::int64_t least_batches = 40;
  const auto batches = batch_frames > 1 ? least_batches * batch_frames : 0;
  if (how.arrival != arrival::poisson) return batches;
  const double within_bound = std::max(0.0, closed_loop * 1e-9 * static_cast<double>(how.bound) -
                                                static_cast<double>(batch_frames - 1));
  const double relaxed = std::min(4 * within_bound * within_bound, 1e9);
  return std::max<std::int64_t>(batches, std::llround(relaxed));
}

const run_record& first_run(const capacity_record& record) {
  static const run_record none;
  if (record.closed_loop) return *record.closed_loop;
  return record.runs.empty() ? none : record.runs.front().members.front();
}

capacity_summary summarize(const capacity_record& record) {
  capacity_summary result;
  std::vector<capacity_run_summary> runs;
  for (const auto& run : record.runs) runs.push_back(summarize(run, record.how));
  if (record.closed_loop) add_closed_loop(result, record);
  result.estimate = estimate_capacity(record, result.closed_loop, runs);
  result.predicted = record.prediction.has_value();
  result.set = record.set;
  result.warning = disturbance_finding(record.conditions, first_run(record));
  result.probes = probes_of(record, runs, result.estimate.disturbed);
  return result;
}

std::vector<finding> findings_of(const capacity_summary& summary, const capacity_settings& how) {
  const auto& estimate = summary.estimate;
  if (!estimate.rate) return {nothing_found(summary, how)};
  std::vector<finding> list = {estimate_of(summary, how)};
  if (auto width = width_of(estimate, how)) list.push_back(std::move(*width));
  const auto left_out = std::count(estimate.disturbed.begin(), estimate.disturbed.end(), true);
  if (estimate.unsteady) {
    list.push_back(found("runs_unsteady", how));
  } else if (left_out > 0) {
    list.push_back(found("runs_disturbed", how).with("runs", left_out));
  }
  if (auto failures = failures_below(summary, how)) list.push_back(std::move(*failures));
  if (summary.batch_wait) {
    list.push_back(found("low_rates_wait", how).with("wait", summary.batch_wait, unit::duration));
  }
  if (!summary.closed_loop) return list;
  list.push_back(found("share_of_closed_loop", how)
                     .with("share", *estimate.rate / *summary.closed_loop, unit::share)
                     .with("closed_loop", *summary.closed_loop, unit::frames_per_second));
  const auto needed = frames_for_queue(how, *summary.closed_loop, summary.batch_frames);
  if (how.frames < needed) {
    list.push_back(found("runs_too_short", how).with("frames", how.frames).with("needed", needed));
  }
  return list;
}

}  // namespace graphline
