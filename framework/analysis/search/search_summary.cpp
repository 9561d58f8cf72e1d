#include "framework/analysis/search/search_summary.hpp"

#include <algorithm>

#include "framework/analysis/experiment/comparisons.hpp"
#include "framework/analysis/run/overload.hpp"

namespace graphline {
namespace {

class search_judge {
 public:
  search_judge(const experiment_record& record, const experiment_summary& summary)
      : record_(record), search_(*record.search), summary_(summary) {
    if (search_.objective == search_metric::throughput) objective_ = figure::throughput;
    if (search_.objective == search_metric::p50) objective_ = figure::p50;
  }

  search_summary judge() {
    const counted_trials trials(record_, summary_.machine.affected_blocks);
    const std::size_t count = record_.configurations.size();
    const double outside = std::min(outside_95, 0.05 / static_cast<double>(count));
    const bool enough = trials.blocks().size() >= least_blocks;
    experiment_record pairs;
    pairs.how = record_.how;
    for (std::size_t c = 0; c < count; ++c) {
      auto& made = made_.confirmed.emplace_back();
      made.candidate = candidate_of(c);
      search_samples samples;
      const auto runs = trials.of({c, 0});
      for (const auto* run : runs) samples.add(*run);
      for (const auto& limit : search_.limits) {
        made.limits.push_back({samples.check(limit, outside), samples.value(limit.metric)});
        made.feasible = made.feasible && made.limits.back().verdict == bound_verdict::holds;
      }
      made.violation = violation_of(search_.limits, samples);
      const auto overload = overload_of(runs);
      const bool grows = percentile_of(search_.objective) && overload && overload->growth;
      if (enough && !grows) made.objective = samples.value(search_.objective);
      made.range = samples.range(search_.objective, outside_95 / static_cast<double>(count));
      for (std::size_t other = 0; other < count; ++other) {
        if (other != c) pairs.pairs.push_back({{c, 0}, {other, 0}});
      }
    }
    of_pairs_.comparisons = compare_figures(trials, pairs);
    choose();
    const auto nearest =
        std::ranges::min_element(made_.confirmed, {}, &confirmed_candidate::violation);
    if (count > 0) made_.nearest = nearest->candidate;
    find_front();
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

  void choose() {
    std::vector<std::size_t> order;
    for (std::size_t c = 0; c < made_.confirmed.size(); ++c) {
      if (made_.confirmed[c].feasible && made_.confirmed[c].objective) order.push_back(c);
    }
    if (order.empty()) return;
    const auto file =
        std::ranges::find(made_.confirmed, std::size_t{0}, &confirmed_candidate::candidate) -
        made_.confirmed.begin();
    const auto against_file = [&](std::size_t c) {
      return find_comparison(summary_, {{c, 0}, {static_cast<std::size_t>(file), 0}}, objective_);
    };
    // The race's choice, unless only others are conclusively better than the file's settings.
    const auto better = std::ranges::find_if(order, [&](std::size_t c) {
      const auto* const found = against_file(c);
      return found != nullptr && found->verdict == verdict::faster;
    });
    std::size_t best = better == order.end() ? order.front() : *better;
    for (const std::size_t c : order) {
      if (against(c, best) == verdict::faster) best = c;
    }
    std::ranges::sort(order, {}, [&](auto c) { return made_.confirmed[c].candidate; });
    std::erase_if(order, [&](std::size_t c) { return against(c, best) == verdict::slower; });
    made_.ties = order;
    made_.chosen = *std::ranges::find_if(
        order, [&](std::size_t c) { return against(c, best) == verdict::same; });
    if (const auto* const gain = against_file(*made_.chosen)) made_.gain = *gain;
  }

  /// Returns the verdict for a configuration against another, by intervals that hold together.
  verdict against(std::size_t what, std::size_t reference) const {
    if (what == reference) return verdict::same;
    const auto* const found = find_comparison(of_pairs_, {{what, 0}, {reference, 0}}, objective_);
    return found == nullptr ? verdict::inconclusive : found->verdict;
  }

  /// Finds the candidates that no other one beats in a metric without being worse in another,
  /// beyond the margin.
  void find_front() {
    const auto& all = search_.candidates;
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].latency && all[i].throughput && all[i].device_bytes) known.push_back(i);
    }
    std::ranges::stable_sort(known, {}, [&](std::size_t i) { return *all[i].latency; });
    const double margin = record_.how.margin;
    for (const std::size_t i : known) {
      const bool beaten = std::ranges::any_of(made_.front, [&](std::size_t other) {
        const auto bytes = static_cast<double>(*all[other].device_bytes);
        return *all[i].throughput <= *all[other].throughput * (1 + margin) &&
               static_cast<double>(*all[i].device_bytes) >= bytes * (1 - margin);
      });
      if (!beaten) made_.front.push_back(i);
    }
  }

  const experiment_record& record_;
  const search_record& search_;
  const experiment_summary& summary_;
  figure objective_ = figure::tail;  // in comparisons
  experiment_summary of_pairs_;      // only comparisons, of all pairs
  search_summary made_;
};

}  // namespace

search_summary summarize_search(const experiment_record& record,
                                const experiment_summary& summary) {
  return search_judge(record, summary).judge();
}

}  // namespace graphline
