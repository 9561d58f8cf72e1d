#include "framework/analysis/diff/experiment_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/experiment/member_figures.hpp"
#include "framework/analysis/experiment/verdicts.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {

namespace {

const saved_configuration* find(const saved_experiment& in, const std::string& name) {
  const auto& all = in.configurations;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> missing_in(const saved_experiment& other, const saved_experiment& from) {
  std::vector<std::string> names;
  for (const auto& configuration : from.configurations) {
    if (find(other, configuration.name) == nullptr) names.push_back(configuration.name);
  }
  return names;
}

/// A figure of one side, and the variance of its logarithm where the trials tell it.
struct side_figure {
  std::optional<double> value;
  std::optional<double> variance;
  std::size_t trials = 0;
};

std::optional<double> log_variance(const resampled_figure& figure, std::size_t trials) {
  const auto above_zero = [](double draw) { return draw > 0; };
  const auto& draws = figure.draws;
  if (draws.empty() || !std::all_of(draws.begin(), draws.end(), above_zero)) return std::nullopt;
  std::vector<double> logs(draws.size());
  std::transform(draws.begin(), draws.end(), logs.begin(), [](double v) { return std::log(v); });
  const double deviation = *stddev_of(logs);
  // The bootstrap's variance of a mean of n values is too small by (n - 1) / n.
  const auto n = static_cast<double>(trials);
  return deviation * deviation * n / (n - 1);
}

/// In the order of `all_figures`.
std::array<side_figure, all_figures.size()> figures_of(const saved_experiment& experiment,
                                                       const saved_configuration& configuration) {
  std::array<side_figure, all_figures.size()> result;
  const auto count = configuration.trials.size();
  if (count == 0) return result;
  std::vector<const run_record*> trials;
  for (const auto& trial : configuration.trials) trials.push_back(&trial);
  const auto figures = figures_of(trials, experiment.tail, draws_for(count, 1));
  for (std::size_t i = 0; i < all_figures.size(); ++i) {
    if (!figures[i]) continue;
    auto& to = result[i];
    to.value = figures[i]->value;
    to.trials = count;
    if (experiment.complete) to.variance = log_variance(*figures[i], count);
  }
  return result;
}

/// The logarithm of a ratio with its standard error and how well that is known.
struct log_ratio {
  double value = 0;
  double error = 0;
  std::size_t freedom = 1;

  interval range(double level) const {
    const double reach = student_t_critical(level, freedom) * error;
    return {std::exp(value - reach), std::exp(value + reach)};
  }
};

std::optional<log_ratio> log_ratio_of(const side_figure& before, const side_figure& after) {
  if (!before.variance || !after.variance) return std::nullopt;
  const double a = *before.variance;
  const double b = *after.variance;
  log_ratio result{std::log(*after.value / *before.value), std::sqrt(a + b), 1};
  const auto part = [](double variance, std::size_t trials) {
    return variance * variance / static_cast<double>(trials - 1);
  };
  // Trials that are all alike tell of no spread: the interval is a point, whatever its freedom.
  if (const double parts = part(a, before.trials) + part(b, after.trials); parts > 0) {
    result.freedom = static_cast<std::size_t>(std::max((a + b) * (a + b) / parts, 1.0));
  }
  return result;
}

}  // namespace

saved_experiment saved_experiment_of(const experiment_record& record, std::string file) {
  saved_experiment result{.file = std::move(file),
                          .margin = record.how.margin,
                          .tail = record.how.tail,
                          .complete = true,
                          .configurations = {},
                          .interrupted = record.interrupted,
                          .failure = record.failure};
  counted_trials counted(record);
  if (record.how.repeat_affected) {
    counted = counted.without(steadiness_of(record).affected_blocks);
  }
  result.complete = !counted.blocks().empty();
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    const auto& [name, assignments, members] = record.configurations[c];
    for (std::size_t m = 0; m < members.size(); ++m) {
      auto& added = result.configurations.emplace_back();
      added.who = {c, m};
      added.name = members.size() == 1 ? name : fmt::format("{}: {}", name, members[m]);
      const auto runs = result.complete ? counted.of({c, m}) : measured_runs(record, {c, m});
      for (const auto* run : runs) added.trials.push_back(*run);
    }
  }
  return result;
}

std::optional<double> configuration_change::relative() const noexcept {
  if (!values.before || !values.after || !(*values.before > 0)) return std::nullopt;
  return *values.after / *values.before - 1;
}

experiment_diff compare(const saved_experiment& before, const saved_experiment& after) {
  experiment_diff result{.files = {before.file, after.file},
                         .margin = before.margin,
                         .tail = {before.tail, after.tail},
                         .changes = {},
                         .only_before = missing_in(after, before),
                         .only_after = missing_in(before, after),
                         .interrupted = {before.interrupted, after.interrupted},
                         .failure = {before.failure, after.failure}};
  std::vector<std::optional<log_ratio>> ratios;
  for (const auto& configuration : before.configurations) {
    const auto* other = find(after, configuration.name);
    if (other == nullptr) continue;
    const auto from = figures_of(before, configuration);
    const auto to = figures_of(after, *other);
    for (std::size_t i = 0; i < all_figures.size(); ++i) {
      if (all_figures[i] == figure::tail && before.tail != after.tail) continue;
      if (!from[i].value && !to[i].value) continue;
      result.changes.push_back({.name = configuration.name,
                                .who = configuration.who,
                                .figure = all_figures[i],
                                .values = {from[i].value, to[i].value},
                                .trials = {from[i].trials, to[i].trials}});
      ratios.push_back(log_ratio_of(from[i], to[i]));
    }
  }
  const auto intervals = std::count_if(ratios.begin(), ratios.end(),
                                       [](const auto& ratio) { return ratio.has_value(); });
  const double level = 1 - std::pow(0.95, 1 / std::max(static_cast<double>(intervals), 1.0));
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (!ratios[i]) continue;
    auto& change = result.changes[i];
    change.ratio_range = ratios[i]->range(level);
    change.verdict =
        verdict_of(*change.ratio_range, result.margin, change.figure == figure::throughput);
  }
  return result;
}

}  // namespace graphline
