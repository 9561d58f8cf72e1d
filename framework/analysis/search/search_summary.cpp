#include "framework/analysis/search/search_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/analysis/experiment/comparisons.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {
namespace {

class search_judge {
 public:
  search_judge(const experiment_record& record, const experiment_summary& summary)
      : record_(record),
        search_(*record.search),
        summary_(summary),
        trials_(record, summary.machine.affected_blocks),
        blocks_(trials_.blocks().size()) {}

  search_summary judge() {
    for (const auto& candidate : search_.candidates) made_.frames += candidate.frames;
    made_.frames += search_.source_frames;
    if (!record_.trials.empty()) confirm();
    made_.nearest = nearest();
    made_.front = front();
    return std::move(made_);
  }

 private:
  /// Returns the candidate that a configuration runs: the first, unless another has its name.
  std::size_t candidate_of(std::size_t configuration) const {
    const auto& name = record_.configurations[configuration].name;
    const auto found = std::ranges::find(search_.candidates, name, &search_candidate::name);
    return found == search_.candidates.end()
               ? 0
               : static_cast<std::size_t>(found - search_.candidates.begin());
  }

  void confirm() {
    const std::size_t count = record_.configurations.size();
    const double outside = std::min(outside_95, 0.05 / static_cast<double>(count));
    const auto draws = draws_for(std::max<std::size_t>(1, blocks_), record_.how.seed);
    for (std::size_t c = 0; c < count; ++c) {
      const auto runs = trials_.of({c, 0});
      auto& made = made_.confirmed.emplace_back();
      made.candidate = candidate_of(c);
      search_samples& samples = samples_.emplace_back();
      for (const auto* run : runs) samples.add(*run);
      made_.confirmed_frames += samples.frames();
      for (const auto& limit : search_.limits) {
        made.limits.push_back(samples.check(limit, outside));
        made.of.push_back(samples.value(limit.metric));
      }
      auto& figure = figures_.emplace_back();
      if (blocks_ >= least_blocks && runs.size() == blocks_) {
        figure = figures_of(runs, record_.how.tail, draws)
                     .of[static_cast<std::size_t>(figure_of(search_.objective))];
      }
      if (!figure) continue;
      made.objective = figure->value;
      made.range = range_of(*figure);
    }
    choose();
  }

  std::optional<interval> range_of(const resampled_figure& of) const {
    const double t = student_t_critical(0.05, blocks_ - 1);
    if (search_.objective == search_metric::late) {
      const double reach = t * share_error(of, blocks_).value_or(1);
      return interval{std::max(0.0, of.value - reach), std::min(1.0, of.value + reach)};
    }
    const auto error = log_error(of, blocks_);
    if (!error) return std::nullopt;
    return interval{of.value * std::exp(-t * *error), of.value * std::exp(t * *error)};
  }

  /// Returns the configurations in the order of preference.
  std::vector<std::size_t> preferred() const {
    std::vector<std::size_t> order(made_.confirmed.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!search_.prefers_file && !order.empty()) {
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return order;
  }

  void choose() {
    auto order = preferred();
    std::erase_if(order, [&](std::size_t c) {
      return !made_.confirmed[c].feasible() || !made_.confirmed[c].objective;
    });
    if (order.empty()) return;
    std::size_t best = order.front();
    for (const std::size_t c : order) {
      if (against(c, best) == verdict::faster) best = c;
    }
    for (const std::size_t c : order) {
      if (c == best || against(c, best) != verdict::slower) made_.ties.push_back(c);
    }
    std::ranges::sort(made_.ties, {}, [&](auto c) { return made_.confirmed[c].candidate; });
    best = *std::ranges::find_if(made_.ties,
                                 [&](std::size_t c) { return against(c, best) == verdict::same; });
    made_.chosen = best;
    const auto* const gain =
        find_comparison(summary_, {{best, 0}, {0, 0}}, figure_of(search_.objective));
    if (gain != nullptr) made_.gain = *gain;
  }

  /// Returns the verdict for a configuration against another, corrected for the number of others.
  verdict against(std::size_t what, std::size_t reference) const {
    if (what == reference) return verdict::same;
    const auto others = static_cast<double>(record_.configurations.size() - 1);
    const double t = student_t_critical(0.05 / others, blocks_ - 1);
    const auto& [value, of] = std::tie(*figures_[what], *figures_[reference]);
    const double margin = record_.how.margin;
    if (search_.objective == search_metric::late) {
      const auto range = contrast::of_shares(value, of, blocks_).difference_range(t);
      return verdict_of({1 + range.low, 1 + range.high}, margin, false);
    }
    const auto by = contrast::of(value, of, blocks_);
    if (!by) return verdict::inconclusive;
    return verdict_of(by->ratio_range(t), margin, search_.objective == search_metric::throughput);
  }

  /// Returns the sum of a candidate's violations, by the confirmation if it took part.
  double violation(std::size_t candidate) const {
    double sum = 0;
    for (std::size_t c = 0; c < made_.confirmed.size(); ++c) {
      if (made_.confirmed[c].candidate != candidate) continue;
      for (const auto& limit : search_.limits) {
        sum += violation_of(limit, samples_[c].estimate(limit.metric));
      }
    }
    return sum;
  }

  std::size_t nearest() const {
    std::size_t best = 0;
    std::optional<double> least;
    if (!made_.confirmed.empty()) {
      for (const std::size_t c : preferred()) {
        const double by = violation(made_.confirmed[c].candidate);
        if (least && by >= *least) continue;
        least = by;
        best = made_.confirmed[c].candidate;
      }
      return best;
    }
    const double sign = search_.objective == search_metric::throughput ? -1 : 1;
    for (std::size_t i = 0; i < search_.candidates.size(); ++i) {
      const auto& of = search_.candidates[i];
      const bool dropped =
          of.outcome == search_outcome::violates || of.outcome == search_outcome::failed;
      if (dropped || !of.objective || (least && sign * *of.objective >= *least)) continue;
      least = sign * *of.objective;
      best = i;
    }
    return best;
  }

  /// Returns the points that no other one beats in a metric without being worse in another, beyond
  /// the margin.
  std::vector<front_point> front() const {
    std::vector<front_point> points;
    for (std::size_t i = 0; i < search_.candidates.size(); ++i) {
      const auto& of = search_.candidates[i];
      if (!of.latency || !of.throughput || !of.device_bytes) continue;
      points.push_back({i, *of.latency, *of.throughput, *of.device_bytes});
    }
    const auto latency_metric =
        percentile_of(search_.objective) ? search_.objective : search_metric::p50;
    for (std::size_t c = 0; c < made_.confirmed.size(); ++c) {
      const auto known =
          std::ranges::find(points, made_.confirmed[c].candidate, &front_point::candidate);
      const auto latency = samples_[c].value(latency_metric);
      if (known == points.end() || !latency) continue;
      known->latency = *latency;
      known->throughput = samples_[c].estimate(search_metric::throughput);
      known->confirmed = true;
    }
    std::ranges::stable_sort(points, {}, &front_point::latency);
    std::vector<front_point> kept;
    for (const auto& point : points) {
      const bool beaten = std::ranges::any_of(kept, [&](const front_point& other) {
        const auto bytes = static_cast<double>(other.device_bytes);
        return point.throughput <= other.throughput * (1 + record_.how.margin) &&
               static_cast<double>(point.device_bytes) >= bytes * (1 - record_.how.margin);
      });
      if (!beaten) kept.push_back(point);
    }
    return kept;
  }

  const experiment_record& record_;
  const search_record& search_;
  const experiment_summary& summary_;
  counted_trials trials_;
  std::size_t blocks_;
  std::vector<search_samples> samples_;                   // by configuration
  std::vector<std::optional<resampled_figure>> figures_;  // of the objective
  search_summary made_;
};

}  // namespace

bool confirmed_candidate::feasible() const noexcept {
  return std::ranges::all_of(limits, [](auto verdict) { return verdict == bound_verdict::holds; });
}

search_summary summarize_search(const experiment_record& record,
                                const experiment_summary& summary) {
  return search_judge(record, summary).judge();
}

}  // namespace graphline
