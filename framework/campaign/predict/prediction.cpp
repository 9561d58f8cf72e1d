#include "framework/campaign/predict/prediction.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/base/units.hpp"
#include "framework/campaign/predict/predictor.hpp"
#include "framework/campaign/predict/worst_case.hpp"

namespace graphline {
namespace {

constexpr double most_stage_runs = 4e6;  // of all replicates
constexpr std::int64_t least_replicates = 40;

/// Errors of the model: of 306 predictions on `host`, 96 % of p50, 98 % of the throughput and 95 %
/// of p95 were nearer to real runs (docs/measured/prediction_host.txt). The mean takes that of p50,
/// the other percentiles that of p95.
constexpr double model_error = 0.07;
constexpr double model_error_tail = 0.12;

/// Figures of replicates, by name and source.
class figure_samples {
 public:
  explicit figure_samples(std::size_t sources) : sources_(sources) {}

  void add(const run_record& record, std::size_t source) {
    const run_summary summary = summarize(record);
    if (summary.throughput) add("throughput", source, *summary.throughput);
    if (!summary.end_to_end || !summary.end_to_end->why_unsettled().empty()) return;
    add("mean", source, summary.end_to_end->mean());
    for (const auto& [name, p] : shown_percentiles) {
      const auto value = summary.end_to_end->percentile(p);
      if (value) add(std::string(name), source, static_cast<double>(*value));
    }
  }

  /// Returns the 95 % intervals in which a further run's figures lie, in the order of reports.
  /// Within a source, a figure's logarithm varies as in its replicates, widened by `widened`;
  /// between sources, as their medians, by Student's t for a further one. Both, and the error of
  /// the model, are independent.
  std::vector<predicted_figure> intervals(double widened) const {
    std::vector<predicted_figure> made;
    std::vector<std::string> names = {"mean"};
    for (const auto& [name, p] : shown_percentiles) names.emplace_back(name);
    names.emplace_back("throughput");
    for (const std::string& name : names) {
      const auto known = logarithms_.find(name);
      if (known == logarithms_.end()) continue;
      const bool tail = name.starts_with('p') && name != "p50";
      const double error = tail ? model_error_tail : model_error;
      if (auto interval = interval_of(known->second, widened, error)) {
        made.push_back({name, interval->first, interval->second});
      }
    }
    return made;
  }

 private:
  using samples = std::vector<std::vector<double>>;  // by source

  /// Ignores 0, the time of frames whose stages take none.
  void add(const std::string& name, std::size_t source, double value) {
    if (value <= 0) return;
    logarithms_.try_emplace(name, sources_).first->second[source].push_back(std::log(value));
  }

  std::optional<std::pair<double, double>> interval_of(samples by_source, double widened,
                                                       double error) const {
    std::vector<double> medians;
    std::vector<double> residuals;
    for (std::vector<double>& values : by_source) {
      if (values.size() * sources_ < static_cast<std::size_t>(least_replicates)) return {};
      std::ranges::sort(values);
      medians.push_back(values[rank_of(0.5, values.size())]);
      for (const double value : values) residuals.push_back(value - medians.back());
    }
    std::ranges::sort(residuals);
    const auto residual = [&](double p) {
      return widened * residuals[rank_of(p, residuals.size())];
    };
    const double middle = mean_of(medians);
    double between = 0;
    if (sources_ > 1) {
      const auto n = static_cast<double>(sources_);
      between = student_t_critical(0.05, sources_ - 1) * stddev_of(medians).value_or(0) *
                std::sqrt(1 + 1 / n);
    }
    return std::pair{std::exp(middle - std::hypot(between, residual(0.025), error)),
                     std::exp(middle + std::hypot(between, residual(0.975), error))};
  }

  std::size_t sources_;
  std::map<std::string, samples> logarithms_;
};

/// Returns warnings of what a prediction ignores.
std::vector<std::string> ignored_placement(const plan& p) {
  std::vector<std::string> warnings;
  for (const planned_stage& stage : p.stages) {
    if (stage.cores.empty()) continue;
    warnings.push_back(fmt::format(
        "'cores' of stage '{}' is ignored: in the prediction, it runs on any core", stage.name));
  }
  if (p.run.realtime > 0) {
    warnings.push_back(fmt::format(
        "realtime: {} is ignored: stages take the times that they had where they were measured",
        p.run.realtime));
  }
  return warnings;
}

/// Warns of stages that took longer than their stated time, and of a bound that does not hold.
void add_warnings(const plan& p, const source_times& times,
                  const std::map<std::string, nanoseconds>& at_most, const worst_case& found,
                  std::vector<std::string>& warnings) {
  std::vector<std::string> longer;
  for (const auto& [name, stated] : at_most) {
    const nanoseconds longest = times.longest(stage_named(p, name, "--at-most")).work;
    if (longest <= stated) continue;
    longer.push_back(
        fmt::format("'{}' up to {}", name, format_duration(static_cast<double>(longest))));
  }
  if (!longer.empty()) {
    warnings.push_back(
        fmt::format("in the prediction, stages take longer than --at-most states: {}",
                    fmt::join(longer, ", ")));
  }
  if (found.period && found.bound > *found.period) {
    warnings.push_back(fmt::format(
        "--at-most gives no bound: a frame can take {:.3f} ms, but one is due every {:.3f} ms; use "
        "--rate {} or less",
        static_cast<double>(found.bound) / 1e6, static_cast<double>(*found.period) / 1e6,
        std::floor(1e10 / static_cast<double>(found.bound)) / 10));
  }
}

}  // namespace

run_record predict(const plan& p, const std::vector<prediction_source>& sources,
                   const prediction_options& options) {
  predictor by(p, sources, options);
  const source_times& times = by.times();
  run_record record = by.in_turn();
  prediction_record made = by.origin();

  const auto stopped = [&] { return options.stop != nullptr && options.stop->raised(); };
  for (std::size_t stage = 0; options.sensitivity && stage < p.stages.size(); ++stage) {
    if (stopped() || !times.takes_time(stage)) continue;
    const auto ends = distribution::of(end_to_end_times(by.in_turn(stage)));
    if (!ends) continue;
    made.sensitivity.push_back(
        {p.stages[stage].name, std::llround(ends->mean()), ends->median(), ends->percentile(0.95)});
  }

  if (!options.at_most.empty()) {
    made.worst_case = bound_frames(p, times, overheads_of(sources), by.cores(), options.at_most);
    add_warnings(p, times, options.at_most, *made.worst_case, record.warnings);
  }

  const double stage_runs = static_cast<double>(p.run.frames) *
                            static_cast<double>(std::max<std::size_t>(1, p.stages.size()));
  const std::int64_t wanted =
      std::clamp(static_cast<std::int64_t>(most_stage_runs / stage_runs),
                 std::min(least_replicates, options.replicates), options.replicates);
  figure_samples figures(sources.size());
  while (made.replicates < wanted && !stopped()) {
    const auto number = static_cast<std::uint64_t>(made.replicates);
    figures.add(by.replicate(number), by.source_of(number));
    ++made.replicates;
    if (options.on_progress) options.on_progress(made.replicates, wanted);
  }
  const std::size_t shortest = *std::ranges::min_element(times.counts());
  const std::size_t blocks = std::max<std::size_t>(2, shortest / times.block_length());
  if (made.replicates < wanted) {
    record.warnings.push_back(
        fmt::format("interrupted after {} of {} runs for the intervals", made.replicates, wanted));
  }
  std::ranges::move(changed_sources(p, sources), std::back_inserter(record.warnings));
  std::ranges::move(ignored_placement(p), std::back_inserter(record.warnings));
  std::ranges::move(disturbed_sources(sources), std::back_inserter(record.warnings));
  made.figures = figures.intervals(student_t_critical(0.05, blocks - 1) / normal_critical(0.05));
  record.prediction = std::move(made);
  return record;
}

}  // namespace graphline
