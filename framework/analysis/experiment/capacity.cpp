#include "framework/analysis/experiment/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/percentile_bound.hpp"
#include "framework/analysis/stats/reference_queue.hpp"

namespace graphline {
namespace {

constexpr std::size_t least_at_random = 16;  // runs; with fewer, the variation is unknown
constexpr std::size_t least_at_each_end = 3;

/// Returns each frame's due time, and its time to the end or `never` if dropped; by due time.
std::vector<std::pair<nanoseconds, nanoseconds>> due_and_times(const run_record& record) {
  std::vector<std::pair<nanoseconds, nanoseconds>> due;
  due.reserve(record.frames.size() + record.load.dropped.size());
  for (const auto& frame : record.frames) due.emplace_back(frame.due, frame.end - frame.due);
  for (const auto at : record.load.dropped) due.emplace_back(at, never);
  std::sort(due.begin(), due.end());
  return due;
}

std::size_t skipped_frames(const run_record& record) {
  return static_cast<std::size_t>(record.run.frames / 10);
}

bool keeps_growing(const capacity_run& run) {
  constexpr std::size_t parts = 4;
  const auto& frames = run.record.frames;
  const run_passes passes(run.record);
  const std::size_t length = passes.size() / parts;
  if (length < 5) return false;
  const double least = 1e9 / run.rate / 20;
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

/// Returns the own time of each run, relative to the same numbers of batches of each size with the
/// median over the runs.
std::vector<double> relative_own_times(std::span<const capacity_run_summary* const> runs) {
  std::map<std::size_t, std::vector<double>> means;
  for (const auto* run : runs) {
    for (const auto& [frames, own] : run->own_times) means[frames].push_back(own.mean());
  }
  std::map<std::size_t, double> usual;
  for (auto& [frames, of_runs] : means) usual[frames] = median_of(std::move(of_runs));
  std::vector<double> result;
  for (const auto* run : runs) {
    double sum = 0;
    double expected = 0;
    for (const auto& [frames, own] : run->own_times) {
      sum += own.sum;
      expected += static_cast<double>(own.passes) * usual[frames];
    }
    result.push_back(expected > 0 ? sum / expected : 1);
  }
  return result;
}

struct pooled_run {
  const capacity_run* run;
  const capacity_run_summary* summary;
};

/// Sets `disturbed` and `unsteady`, and returns the pooled runs that are not disturbed.
std::vector<pooled_run> undisturbed(const capacity_settings& how,
                                    std::span<const capacity_run> runs,
                                    std::span<const capacity_run_summary> summaries, bool noise,
                                    capacity_estimate& to) {
  constexpr std::size_t least_to_compare = 5;
  constexpr double scale = 1.4826;  // standard deviation / median absolute deviation
  std::vector<std::size_t> counted;
  std::vector<const capacity_run_summary*> of_counted;
  to.disturbed.assign(runs.size(), false);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!is_complete(runs[i])) continue;
    to.disturbed[i] = stood_still(runs[i].record);
    if (!runs[i].pooled || to.disturbed[i]) continue;
    counted.push_back(i);
    of_counted.push_back(&summaries[i]);
  }
  const auto own = relative_own_times(of_counted);
  double limit = std::numeric_limits<double>::infinity();
  if (noise && own.size() >= least_to_compare) {
    const double center = median_of(own);
    std::vector<double> off;
    for (const double time : own) off.push_back(std::abs(time - center));
    limit = center + std::max(5 * scale * median_of(std::move(off)), how.within / 2 * center);
    const auto above = std::count_if(own.begin(), own.end(), [&](double t) { return t > limit; });
    constexpr double most = 0.4;  // fraction of runs
    to.unsteady = static_cast<double>(above) > most * static_cast<double>(own.size());
    if (to.unsteady) limit = std::numeric_limits<double>::infinity();
  }
  std::vector<pooled_run> left;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const auto run = counted[i];
    to.disturbed[run] = own[i] > limit;
    if (!to.disturbed[run]) left.push_back({&runs[run], &summaries[run]});
  }
  return left;
}

/// Compares runs with a reference queue that has the same arrivals. Rates are in frames per second.
class random_arrivals {
 public:
  random_arrivals(const capacity_settings& how, std::optional<double> closed_loop,
                  std::span<const pooled_run> runs)
      : allowed_(1 - how.percentile) {
    double fastest = closed_loop.value_or(0);
    double highest = 0;
    for (const auto& [run, summary] : runs) {
      highest = std::max(highest, run->rate);
      // The reference must sustain all rates that the pipeline sustained.
      if (summary->held) fastest = std::max(fastest, 1.02 * run->rate);
      runs_.push_back({run->rate, summary->late, {}, skipped_frames(run->record)});
      counted_ += static_cast<double>(summary->times.size());
      for (const auto& [due, time] : due_and_times(run->record)) {
        runs_.back().arrivals.push_back(1e-9 * static_cast<double>(due));
      }
    }
    queue_.service = 1 / (fastest > 0 ? fastest : highest);
    queue_.burst = runs.front().run->record.run.burst;
  }

  double fastest() const { return 1 / queue_.service; }

  /// Returns the regression line's value at `rate` in standard errors; negative below the capacity.
  double evidence(double rate) const {
    const double limit = queue_.limit_for(rate, allowed_);
    // Nonzero if fewer frames wait in the reference than the percentile allows to be late.
    const double offset = allowed_ - queue_.late_share(rate, limit);
    struct point {
      double at;
      double difference;
      double weight;
    };
    std::vector<point> points;
    double w = 0, x = 0, xx = 0, y = 0, xy = 0;
    for (const auto& run : runs_) {
      const double expected = queue_.late_share(run.rate, limit);
      const double in_reference = queue_.late_share_of(run.arrivals, limit, run.skipped);
      const point p = {std::log(run.rate / rate), run.late - in_reference - offset,
                       1 / std::max(expected, allowed_ / 5)};
      w += p.weight;
      x += p.weight * p.at;
      xx += p.weight * p.at * p.at;
      y += p.weight * p.difference;
      xy += p.weight * p.at * p.difference;
      points.push_back(p);
    }
    const double determinant = w * xx - x * x;
    const double at_rate = (xx * y - x * xy) / determinant;
    const double slope = (w * xy - x * y) / determinant;
    double variance = 0;
    for (const auto& p : points) {
      const double share =
          p.weight * (xx - x * p.at) / determinant;  // weight of the point in `at_rate`
      const double leverage = p.weight * (xx - 2 * x * p.at + w * p.at * p.at) / determinant;
      const double rest = p.difference - at_rate - slope * p.at;
      const double error = share * rest / std::max(1 - leverage, 0.1);
      variance += error * error;
    }
    // The standard error is at least one frame, the resolution of the fractions.
    return at_rate / std::max(std::sqrt(variance), 1 / counted_);
  }

  /// Returns the slope of the reference's log odds of a late frame over log(rate), at least 1.
  double steepness(double rate) const {
    const double limit = queue_.limit_for(rate, allowed_);
    const auto log_odds = [&](double at) {
      const double late = std::clamp(queue_.late_share(at, limit), 1e-9, 1 - 1e-9);
      return std::log(late / (1 - late));
    };
    constexpr double step = 1.01;
    return std::max(1.0, (log_odds(rate) - log_odds(rate / step)) / std::log(step));
  }

 private:
  struct one_run {
    double rate;
    double late;
    std::vector<double> arrivals;
    std::size_t skipped;
  };

  double allowed_;
  double counted_ = 0;  // counted frames of all runs
  reference_queue queue_;
  std::vector<one_run> runs_;
};

/// Searches from `from` towards `to` for the first rate for which `within` is false.
template <class Within>
std::optional<double> crossing(double from, double to, Within within) {
  constexpr double step = 1.02;
  const double factor = to > from ? step : 1 / step;
  double in = from;
  for (;;) {
    double out = in * factor;
    const bool last = to > from ? out >= to : out <= to;
    if (last) out = to;
    if (!within(out)) {
      constexpr int bisections = 12;
      for (int i = 0; i < bisections; ++i) {
        const double middle = std::sqrt(in * out);
        (within(middle) ? in : out) = middle;
      }
      return out;
    }
    if (last) return std::nullopt;
    in = out;
  }
}

void estimate_random_arrivals(const capacity_settings& how, std::optional<double> closed_loop,
                              std::span<const pooled_run> runs, capacity_estimate& to) {
  constexpr std::size_t least_for_line = 4;
  const auto [slowest, fastest] = std::minmax_element(
      runs.begin(), runs.end(), [](auto& a, auto& b) { return a.run->rate < b.run->rate; });
  if (runs.size() < least_for_line || slowest->run->rate == fastest->run->rate) return;
  const random_arrivals compare(how, closed_loop, runs);
  const double highest = std::max(0.995 * compare.fastest(), slowest->run->rate);
  // Limit extrapolation beyond the measured rates.
  constexpr double extrapolation = 1.2;
  double low = slowest->run->rate / extrapolation;
  double high = std::min(highest, fastest->run->rate * extrapolation);
  const bool rises = compare.evidence(low) < 0 || compare.evidence(high) > 0;
  to.next = runs.size() % 2 == 0 ? high : low;
  if (!rises) return;  // too noisy, since late frames do not increase with the rate
  constexpr int bisections = 20;
  for (int i = 0; i < bisections; ++i) {
    const double middle = std::sqrt(low * high);
    (compare.evidence(middle) < 0 ? low : high) = middle;
  }
  const double rate = std::sqrt(low * high);
  const bool between = rate >= slowest->run->rate && rate <= fastest->run->rate;
  const double critical = student_t_critical(0.05, runs.size() - 2);
  const auto plausible = [&](double x) { return std::abs(compare.evidence(x)) <= critical; };
  to.rate = rate;
  to.low = crossing(rate, slowest->run->rate / 2, plausible);
  to.high = crossing(rate, highest, plausible).value_or(compare.fastest());
  to.enough = between && runs.size() >= least_at_random;
  // Alternate between rates below and above the capacity. They must be far enough apart to
  // determine the slope, but also close, because the relation is only locally linear.
  const double steepness = compare.steepness(rate);
  const double half = to.width() ? *to.width() / 2 : 1;
  // Batches resemble the reference less, and their relation bends sooner.
  const double most = runs.front().run->record.run.batch_frames > 1 ? 0.06 : 0.3;
  const double apart =
      std::min(std::clamp(2 * half, std::log(1.25) / steepness, std::log(2.5) / steepness), most);
  to.next = std::min(rate * std::exp(runs.size() % 2 == 0 ? apart : -apart), highest);
  for (const auto& [run, summary] : runs) {
    if (std::abs(std::log(run->rate / to.next)) < apart / 2) to.next = run->rate;
  }
}

void estimate_constant_rate(const capacity_settings& how, std::span<const pooled_run> runs,
                            capacity_estimate& to) {
  struct votes {
    std::size_t held = 0;
    std::size_t all = 0;
  };
  std::map<double, votes> rates;
  for (const auto& [run, summary] : runs) {
    rates[run->rate].all += 1;
    rates[run->rate].held += summary->held ? 1 : 0;
  }
  const auto holds = [](const auto& rate) { return 2 * rate.second.held > rate.second.all; };
  const auto first_failed = std::find_if_not(rates.begin(), rates.end(), holds);
  const auto last_held = std::find_if(rates.rbegin(), rates.rend(), holds).base();
  const double within = how.within;
  if (first_failed == rates.begin() || last_held == rates.end()) {
    // The measured rates do not enclose the capacity yet.
    constexpr double step = 1.1;
    if (rates.empty()) return;
    to.next =
        first_failed == rates.begin() ? rates.begin()->first / step : rates.rbegin()->first * step;
    if (first_failed != rates.begin()) to.low = std::prev(first_failed)->first;
    if (last_held != rates.end()) to.high = last_held->first;
    return;
  }
  const auto below = std::prev(first_failed);
  const double frames = static_cast<double>(runs.back().run->record.run.frames);
  const double queue = 1e-9 * static_cast<double>(how.bound) * below->first;
  to.low = below->first / (1 + std::min(queue / frames, within / 4));
  to.high = last_held->first;
  to.rate = below->first;
  // Bisect the gap, then repeat runs at its ends and at rates with contradictory results.
  const auto fewest =
      std::min_element(below, std::next(last_held),
                       [](const auto& a, const auto& b) { return a.second.all < b.second.all; });
  const bool contradict = std::next(below) != last_held;
  const double gap = last_held->first / below->first - 1;
  to.enough = fewest->second.all >= least_at_each_end;
  to.next = !contradict && (gap > within / 2 || (to.enough && *to.width() > within))
                ? std::sqrt(below->first * last_held->first)
                : fewest->first;
}

}  // namespace

bool is_complete(const capacity_run& run) noexcept {
  return (run.cut_off || !run.record.interrupted) && !run.record.failure;
}

capacity_run_summary summarize(const capacity_run& run, const capacity_settings& how) {
  capacity_run_summary result;
  const auto due = due_and_times(run.record);
  for (std::size_t i = skipped_frames(run.record); i < due.size(); ++i) {
    result.times.push_back(due[i].second);
  }
  result.times.insert(result.times.end(), static_cast<std::size_t>(run.overdue), never);
  const auto late = std::count_if(result.times.begin(), result.times.end(),
                                  [&](nanoseconds time) { return time > how.bound; });
  if (result.times.empty()) return result;
  result.late = static_cast<double>(late) / static_cast<double>(result.times.size());
  result.growing = how.arrival == arrival::constant && keeps_growing(run);
  constexpr double rounding = 1e-9;
  result.held = result.late <= 1 - how.percentile + rounding && !result.growing;
  result.own_times = own_times_of(run.record);
  return result;
}

capacity_estimate estimate_capacity(const capacity_settings& how, std::optional<double> closed_loop,
                                    std::span<const capacity_run> runs,
                                    std::span<const capacity_run_summary> summaries, bool noise) {
  capacity_estimate result;
  const auto left = undisturbed(how, runs, summaries, noise, result);
  result.runs = left.size();
  for (const auto& [run, summary] : left) result.frames += summary->times.size();
  if (left.empty()) return result;
  if (how.arrival == arrival::poisson) {
    estimate_random_arrivals(how, closed_loop, left, result);
  } else {
    estimate_constant_rate(how, left, result);
  }
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

std::vector<probe_summary> probes_of(const capacity_record& record,
                                     const std::vector<capacity_run_summary>& summaries,
                                     const std::vector<bool>& disturbed) {
  const auto& runs = record.runs;
  std::vector<probe_summary> probes;
  std::vector<std::vector<std::vector<nanoseconds>>> times;  // by probe and run
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
      .with("below", below, unit::frames_per_second)
      .with("lowest", lowest, unit::frames_per_second)
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
    return found("every_rate_held", how).with("highest", highest->rate, unit::frames_per_second);
  }
  std::optional<double> held;
  for (const auto& probe : probes) {
    if (held_in_all(probe)) held = std::max(held.value_or(0), probe.rate);
  }
  if (held) return found("search_ended_early", how).with("held", *held, unit::frames_per_second);
  auto made = found("no_rate_held", how).with("lowest", lowest->rate, unit::frames_per_second);
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

capacity_summary summarize(const capacity_record& record) {
  capacity_summary result;
  const auto& first = record.closed_loop;
  result.closed_loop = summarize(first).throughput;
  result.batch_frames = first.run.batch_frames;
  std::vector<capacity_run_summary> runs;
  std::vector<std::vector<nanoseconds>> alone;
  std::vector<std::vector<nanoseconds>> waiting;
  const auto add_alone = [&](const run_record& run) {
    auto times = times_alone(run);
    alone.push_back(std::move(times.from_begin));
    waiting.push_back(std::move(times.from_due));
  };
  add_alone(first);
  for (const auto& run : record.runs) {
    runs.push_back(summarize(run, record.how));
    add_alone(run.record);
  }
  result.alone = check_bound(alone, record.how.percentile, record.how.bound);
  if (const auto batches = batches_of(first); batches && first.run.batch_wait) {
    result.waiting = check_bound(waiting, record.how.percentile, record.how.bound);
    const auto full = batches->sizes.back().times->median();
    if (*first.run.batch_wait + full > record.how.bound) result.batch_wait = first.run.batch_wait;
  }
  result.estimate =
      estimate_capacity(record.how, result.closed_loop, record.runs, runs, !record.prediction);
  result.predicted = record.prediction.has_value();
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
