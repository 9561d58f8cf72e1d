#include "framework/analysis/experiment/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/reference_queue.hpp"

namespace graphline {
namespace {

constexpr std::size_t least_at_random = 16;  // runs; with fewer, the variation is unknown
constexpr std::size_t least_at_each_end = 3;

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
std::vector<pooled_run> undisturbed(const capacity_record& record,
                                    std::span<const capacity_run_summary> summaries,
                                    capacity_estimate& to) {
  const auto& runs = record.runs;
  const bool compares_times = !record.prediction && !record.set;
  constexpr std::size_t least_to_compare = 5;
  constexpr double scale = 1.4826;  // standard deviation / median absolute deviation
  std::vector<std::size_t> counted;
  std::vector<const capacity_run_summary*> of_counted;
  to.disturbed.assign(runs.size(), false);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!is_complete(runs[i])) continue;
    to.disturbed[i] = std::ranges::any_of(runs[i].members, stood_still);
    if (!runs[i].pooled || to.disturbed[i]) continue;
    counted.push_back(i);
    of_counted.push_back(&summaries[i]);
  }
  const auto own = relative_own_times(of_counted);
  double limit = std::numeric_limits<double>::infinity();
  if (compares_times && own.size() >= least_to_compare) {
    const double center = median_of(own);
    std::vector<double> off;
    for (const double time : own) off.push_back(std::abs(time - center));
    limit =
        center + std::max(5 * scale * median_of(std::move(off)), record.how.within / 2 * center);
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
      const rate_sample& sample = summary->members.front();
      const std::size_t skipped = sample.due.size() - sample.times.size();
      runs_.push_back({run->rate, sample.late, {}, skipped});
      counted_ += static_cast<double>(sample.times.size());
      for (const nanoseconds due : sample.due) {
        runs_.back().arrivals.push_back(1e-9 * static_cast<double>(due));
      }
    }
    queue_.service = 1 / (fastest > 0 ? fastest : highest);
    queue_.burst = runs.front().run->members.front().run.burst;
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
  const double most = runs.front().run->members.front().run.batch_frames > 1 ? 0.06 : 0.3;
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
  // The longest queue in which no frame exceeds its bound, as a fraction of the frames.
  double queue = 0;
  const auto& [last, sampled] = runs.back();
  for (std::size_t m = 0; m < last->members.size(); ++m) {
    const settings& run = last->members[m].run;
    const double rate = run.rate.value_or(last->rate) * below->first / last->rate;
    const double longest = 1e-9 * static_cast<double>(sampled->members[m].bound) * rate;
    queue = std::max(queue, longest / static_cast<double>(run.frames));
  }
  to.low = below->first / (1 + std::min(queue, within / 4));
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

capacity_estimate estimate_capacity(const capacity_record& record,
                                    std::optional<double> closed_loop,
                                    std::span<const capacity_run_summary> summaries) {
  const auto& how = record.how;
  capacity_estimate result;
  const auto left = undisturbed(record, summaries, result);
  result.runs = left.size();
  for (const auto& [run, summary] : left) {
    for (const rate_sample& member : summary->members) result.frames += member.times.size();
  }
  if (left.empty()) return result;
  if (how.arrival == arrival::poisson) {
    estimate_random_arrivals(how, closed_loop, left, result);
  } else {
    estimate_constant_rate(how, left, result);
  }
  return result;
}

}  // namespace graphline
