#include "framework/campaign/predict/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/base/random.hpp"
#include "framework/campaign/predict/source_times.hpp"
#include "framework/run/execute/virtual_session.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

constexpr double most_stage_runs = 4e6;  // of all replicates
constexpr std::int64_t least_replicates = 40;

/// Returns frames for a run of `frames` frames in which each source, in order, has an equal part.
std::vector<std::uint32_t> frames_in_turn(std::span<const std::size_t> counts, std::size_t frames) {
  std::vector<std::uint32_t> order;
  std::size_t first = 0;
  for (std::size_t source = 0; source < counts.size(); ++source) {
    const std::size_t until = frames * (source + 1) / counts.size();
    for (std::size_t i = 0; order.size() < until; ++i) {
      order.push_back(static_cast<std::uint32_t>(first + i % counts[source]));
    }
    first += counts[source];
  }
  return order;
}

/// Draws frames for a run of `frames` frames: blocks of a source of `count` frames that begin at
/// frame `begin`, drawn from as many blocks as the source has, which are drawn from all its blocks.
/// Blocks wrap around at the source's end.
std::vector<std::uint32_t> draw_frames(std::size_t begin, std::size_t count, std::size_t frames,
                                       std::size_t block, std::mt19937_64& random) {
  std::vector<std::size_t> firsts((count + block - 1) / block);
  for (std::size_t& first : firsts) first = random() % count;
  std::vector<std::uint32_t> drawn;
  drawn.reserve(frames);
  while (drawn.size() < frames) {
    const std::size_t first = firsts[random() % firsts.size()];
    for (std::size_t i = 0; i < block && drawn.size() < frames; ++i) {
      drawn.push_back(static_cast<std::uint32_t>(begin + (first + i) % count));
    }
  }
  return drawn;
}

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
  /// between sources, as their medians, by Student's t for a further one. Both are independent.
  std::vector<predicted_figure> intervals(double widened) const {
    std::vector<predicted_figure> made;
    std::vector<std::string> names = {"mean"};
    for (const auto& [name, p] : shown_percentiles) names.emplace_back(name);
    names.emplace_back("throughput");
    for (const std::string& name : names) {
      const auto known = logarithms_.find(name);
      if (known == logarithms_.end()) continue;
      if (auto interval = interval_of(known->second, widened)) {
        made.push_back({name, interval->first, interval->second});
      }
    }
    return made;
  }

 private:
  using samples = std::vector<std::vector<double>>;  // by source

  void add(const std::string& name, std::size_t source, double value) {
    logarithms_.try_emplace(name, sources_).first->second[source].push_back(std::log(value));
  }

  std::optional<std::pair<double, double>> interval_of(samples by_source, double widened) const {
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
    return std::pair{std::exp(middle - std::hypot(between, residual(0.025))),
                     std::exp(middle + std::hypot(between, residual(0.975)))};
  }

  std::size_t sources_;
  std::map<std::string, samples> logarithms_;
};

/// Returns the number of CPU stages that can run concurrently.
int cores_for(const plan& p, const run_record& source, const prediction_options& options) {
  const int cores = options.cores.value_or(std::max(1, source.cpu_cores));
  if (p.run.workers == 0 || !has_workers(p.run)) return cores;
  const int workers = static_cast<int>(p.run.workers);
  return options.cores ? std::min(workers, cores) : workers;
}

std::vector<std::string> disturbed_sources(const std::vector<prediction_source>& sources) {
  std::vector<std::string> warnings;
  for (const prediction_source& source : sources) {
    if (!source.run.conditions) continue;
    const auto disturbances = disturbances_of(*source.run.conditions);
    if (disturbances.empty()) continue;
    warnings.push_back(
        fmt::format("{} was disturbed ({}), so its stage times may be too long; measure it again "
                    "on an idle machine",
                    source.name, fmt::join(disturbances, "; ")));
  }
  return warnings;
}

}  // namespace

run_record predict(const plan& p, const std::vector<prediction_source>& sources,
                   const prediction_options& options) {
  const source_times times(p, sources, options);
  const run_record& first = sources.front().run;
  const source_overheads overheads = overheads_of(sources);
  prediction_record made;
  for (const prediction_source& source : sources) made.sources.push_back(source.name);
  made.source_run = first.run;
  made.source_cores = first.cpu_cores;
  made.source_frames = static_cast<std::int64_t>(times.count());
  made.completion_delay = overheads.completion_delay;
  made.wake_up = overheads.wake_up;
  made.device_start = overheads.device_start;
  for (const auto& [stage, factor] : options.scale) {
    made.scaled.emplace_back(stage, fmt::format("{:g}", factor));
  }
  virtual_session session(p, {.device = first.device,
                              .cores = cores_for(p, first, options),
                              .wake_up = overheads.wake_up,
                              .completion_delay = overheads.completion_delay,
                              .device_start = overheads.device_start});

  const auto frames = static_cast<std::size_t>(p.run.frames);
  const std::vector<std::uint32_t> in_turn = frames_in_turn(times.counts(), frames);
  run_record record = session.run(times.replay(in_turn));

  for (std::size_t stage = 0; options.sensitivity && stage < p.stages.size(); ++stage) {
    if (!times.takes_time(stage)) continue;
    const auto ends = distribution::of(end_to_end_times(session.run(times.replay(in_turn, stage))));
    if (!ends) continue;
    made.sensitivity.push_back(
        {p.stages[stage].name, std::llround(ends->mean()), ends->median(), ends->percentile(0.95)});
  }

  const double stage_runs = static_cast<double>(frames * std::max<std::size_t>(1, p.stages.size()));
  const std::int64_t wanted =
      std::clamp(static_cast<std::int64_t>(most_stage_runs / stage_runs),
                 std::min(least_replicates, options.replicates), options.replicates);
  const std::size_t block = times.block_length();
  figure_samples figures(sources.size());
  while (made.replicates < wanted && (options.stop == nullptr || !options.stop->raised())) {
    std::mt19937_64 random(mix_seed(p.run.seed, static_cast<std::uint64_t>(made.replicates)));
    const std::size_t source = static_cast<std::size_t>(made.replicates) % sources.size();
    const auto& counts = times.counts();
    const auto begin = std::accumulate(
        counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(source), std::size_t{0});
    const auto order = draw_frames(begin, counts[source], frames, block, random);
    figures.add(session.run(times.replay(order), random()), source);
    ++made.replicates;
    if (options.on_progress) options.on_progress(made.replicates, wanted);
  }
  const std::size_t shortest = *std::ranges::min_element(times.counts());
  const std::size_t blocks = std::max<std::size_t>(2, shortest / block);
  std::ranges::move(disturbed_sources(sources), std::back_inserter(record.warnings));
  made.figures = figures.intervals(student_t_critical(0.05, blocks - 1) / normal_critical(0.05));
  record.prediction = std::move(made);
  return record;
}

}  // namespace graphline
