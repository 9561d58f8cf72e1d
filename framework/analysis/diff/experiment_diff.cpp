#include "framework/analysis/diff/experiment_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "framework/analysis/experiment/comparisons.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {

namespace {

/// A metric of one experiment. `variance` is the variance of its logarithm or, for late frames, of
/// the fraction; empty if unknown.
struct side_figure {
  std::optional<double> value;
  std::optional<double> variance;
  std::size_t trials = 0;
  std::size_t degrees_of_freedom = 0;
};

/// A pipeline of a configuration, with its metrics in the order of `all_figures`.
struct side_member {
  std::string name;
  configuration_member who;
  std::array<side_figure, all_figures.size()> figures;
  bool overloaded = false;
};

std::vector<side_member> members_of(const experiment_record& record) {
  const counted_trials counted(record, steadiness_of(record).affected_blocks);
  std::vector<side_member> result;
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    const auto& [name, assignments, members] = record.configurations[c];
    for (std::size_t m = 0; m < members.size(); ++m) {
      auto& added = result.emplace_back();
      added.name = members.size() == 1 ? name : fmt::format("{}: {}", name, members[m]);
      added.who = {c, m};
      const auto runs = counted.of(added.who);
      if (runs.empty()) continue;
      auto by_rank = counted.by_rank();
      if (by_rank.empty()) {  // there is no complete block, so no interval either
        by_rank.emplace_back(runs.size());
        std::iota(by_rank.front().begin(), by_rank.front().end(), std::size_t{0});
      }
      const sampled_blocks blocks(std::move(by_rank), 1);
      const auto figures = figures_of(runs, record.how.tail, blocks);
      added.overloaded = figures.latency_grows;
      for (std::size_t i = 0; i < all_figures.size(); ++i) {
        const auto& figure = figures.of[i];
        if (!figure) continue;
        auto& to = added.figures[i];
        to.value = figure->value;
        to.trials = runs.size();
        if (counted.blocks().empty()) continue;
        to.degrees_of_freedom = blocks.count().degrees_of_freedom();
        const auto error = all_figures[i] == graphline::figure::late
                               ? share_error(*figure, blocks.count())
                               : log_error(*figure, blocks.count());
        if (error) to.variance = *error * *error;
      }
    }
  }
  return result;
}

const side_member* find(const std::vector<side_member>& in, const std::string& name) {
  const auto found = std::ranges::find(in, name, &side_member::name);
  return found == in.end() ? nullptr : &*found;
}

std::vector<std::string> missing_in(const std::vector<side_member>& other,
                                    const std::vector<side_member>& from) {
  std::vector<std::string> names;
  for (const auto& member : from) {
    if (find(other, member.name) == nullptr) names.push_back(member.name);
  }
  return names;
}

/// Estimated logarithm of a ratio (for late frames, a difference), with its standard error.
struct estimated_change {
  double value = 0;
  double error = 0;
  std::size_t freedom = 1;

  interval range(double level) const {
    const double reach = student_t_critical(level, freedom) * error;
    return {value - reach, value + reach};
  }
};

std::optional<estimated_change> change_between(const side_figure& before, const side_figure& after,
                                               figure what) {
  if (!before.variance || !after.variance) return std::nullopt;
  const double a = *before.variance;
  const double b = *after.variance;
  estimated_change result{
      what == figure::late ? *after.value - *before.value : std::log(*after.value / *before.value),
      std::sqrt(a + b), 1};
  const auto part = [](double variance, std::size_t degrees_of_freedom) {
    return variance * variance / static_cast<double>(degrees_of_freedom);
  };
  // Without variation between trials, the interval is a point, and `freedom` has no effect.
  if (const double parts = part(a, before.degrees_of_freedom) + part(b, after.degrees_of_freedom);
      parts > 0) {
    result.freedom = static_cast<std::size_t>(std::max((a + b) * (a + b) / parts, 1.0));
  }
  return result;
}

}  // namespace

std::optional<double> configuration_change::change() const noexcept {
  if (!values.before || !values.after) return std::nullopt;
  if (figure == graphline::figure::late) return *values.after - *values.before;
  if (!(*values.before > 0)) return std::nullopt;
  return *values.after / *values.before - 1;
}

std::optional<interval> configuration_change::change_range() const noexcept {
  return figure == graphline::figure::late ? difference_range : change_of(ratio_range);
}

namespace {

std::size_t ranks_of(const experiment_record& record) {
  return std::max<std::size_t>(1, counted_trials(record).by_rank().size());
}

}  // namespace

experiment_diff compare(const experiment_record& before, const experiment_record& after,
                        before_after<std::string> files) {
  const auto first = members_of(before);
  const auto second = members_of(after);
  experiment_diff result{.files = std::move(files),
                         .margin = before.how.margin,
                         .tail = {before.how.tail, after.how.tail},
                         .changes = {},
                         .only_before = missing_in(second, first),
                         .only_after = missing_in(first, second),
                         .interrupted = {before.interrupted, after.interrupted},
                         .failure = {before.failure, after.failure},
                         .needed = blocks_needed(std::max(ranks_of(before), ranks_of(after)))};
  std::vector<std::optional<estimated_change>> estimates;
  std::vector<before_after<bool>> grows;  // whether latency grows, by change
  for (const auto& member : first) {
    const auto* other = find(second, member.name);
    if (other == nullptr) continue;
    const bool overloaded = member.overloaded || other->overloaded;
    for (std::size_t i = 0; i < all_figures.size(); ++i) {
      const auto what = all_figures[i];
      const auto& from = member.figures[i];
      const auto& to = other->figures[i];
      if (what == figure::tail && before.how.tail != after.how.tail) continue;
      const bool withheld = overloaded && (what == figure::p50 || what == figure::tail);
      if (!from.value && !to.value && !withheld) continue;
      result.changes.push_back({.name = member.name,
                                .who = member.who,
                                .figure = what,
                                .values = {from.value, to.value},
                                .trials = {from.trials, to.trials},
                                .overloaded = overloaded && what != figure::throughput});
      estimates.push_back(change_between(from, to, what));
      grows.push_back({member.overloaded, other->overloaded});
    }
  }
  const auto intervals = std::count_if(estimates.begin(), estimates.end(),
                                       [](const auto& one) { return one.has_value(); });
  const double level = 1 - std::pow(0.95, 1 / std::max(static_cast<double>(intervals), 1.0));
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    if (!estimates[i]) continue;
    auto& change = result.changes[i];
    const auto [low, high] = estimates[i]->range(level);
    if (change.figure == figure::late) {
      change.difference_range = interval{std::max(low, -1.0), std::min(high, 1.0)};
      change.verdict =
          verdict_of_late(*change.difference_range, result.margin, grows[i].after, grows[i].before);
    } else {
      change.ratio_range = interval{std::exp(low), std::exp(high)};
      change.verdict =
          verdict_of(*change.ratio_range, result.margin, change.figure == figure::throughput);
    }
  }
  return result;
}

}  // namespace graphline
