#include "framework/campaign/predict/other_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"

namespace graphline {
namespace {

/// Time to start an operation, in ns: that of an empty kernel in a graph on an H200.
constexpr double start_of_operation = 2500;

/// Least share of the roofline time that the time of a resource has if it may bound a stage.
constexpr double least_share = 0.5;

using time_of = std::optional<double> roofline_metrics::*;

/// A run compared with the ceilings of a device.
struct device_roofline {
  device_roofline(std::string name, const std::vector<ceiling_figure>& ceilings, run_record run)
      : device(std::move(name)) {
    run.calibration = calibration{{}, ceilings, {}};
    auto found = evaluate_roofline(run, nullptr, std::nullopt);
    if (!found) {
      throw input_error(
          fmt::format("the ceilings of {} have no bandwidth of memory or no rate", device));
    }
    stages = std::move(found->stages);
  }

  /// Returns a time of a stage, per frame that ran it; empty if it is unknown.
  std::optional<double> time(std::size_t stage, time_of which) const {
    double sum = 0;
    double share = 0;
    for (const roofline_stage& of : stages) {
      if (of.stage != stage || of.share_of_frames <= 0) continue;
      if (!(of.figures.*which)) return std::nullopt;
      sum += of.share_of_frames * *(of.figures.*which);
      share += of.share_of_frames;
    }
    return share > 0 ? sum / share : 0;
  }

  std::string device;
  std::vector<roofline_stage> stages;
};

/// Returns the mean device time of a stage over the frames that ran it, 0 if none did.
double mean_time(const stage_record& stage) {
  const auto times = device_times(stage);
  std::vector<double> ran_times;
  for (std::size_t frame = 0; frame < times.size(); ++frame) {
    if (ran(stage, frame)) ran_times.push_back(static_cast<double>(times[frame]));
  }
  return ran_times.empty() ? 0 : mean_of(ran_times);
}

/// Returns the number of operations of a stage in a frame: from its graph or, if unknown, that of
/// its parts.
double operations_of(const run_record& run, const stage_record& stage) {
  std::size_t most =
      std::max<std::size_t>(1, stage.parts.size() / std::max<std::size_t>(1, stage.buckets.size()));
  for (const graph_record& graph : run.graphs) {
    if (graph.name == stage.name) most = std::max(most, graph.operations);
  }
  return static_cast<double>(most);
}

/// Reports why the roofline time of a stage is unknown on a device.
[[noreturn]] void refuse(const stage_record& stage, const std::string& device) {
  if (stage.copy) {
    throw input_error(
        fmt::format("the bandwidth between host and {} is unknown, which '{}' needs; use a "
                    "calibration that has it",
                    device, stage.name));
  }
  if (!stage.cost.flops && !bytes_of(stage.cost)) {
    throw input_error(
        fmt::format("the FLOPs and bytes of stage '{0}' are unknown; state the factor of its time "
                    "with --scale {0}=FACTOR",
                    stage.name));
  }
  throw input_error(fmt::format("{} has no known rate in {}, which stage '{}' needs", device,
                                to_word(stage.cost.arithmetic), stage.name));
}

/// @pre the roofline times are known
stage_factor factor_of(const run_record& source, std::size_t index, const device_roofline& from,
                       const device_roofline& on) {
  const stage_record& stage = source.stages[index];
  stage_factor made{stage.name};
  const double measured = mean_time(stage);
  const double roofline_time = *from.time(index, &roofline_metrics::roofline_time);
  if (measured <= 0 || roofline_time <= 0) return made;

  const double start =
      std::clamp(measured - roofline_time, 0.0, start_of_operation * operations_of(source, stage));
  const auto factor = [&](time_of which) -> std::optional<double> {
    const auto before = from.time(index, which);
    const auto after = on.time(index, which);
    if (!before || !after || *before <= 0) return std::nullopt;
    return (start + (measured - start) * (*after / *before)) / measured;
  };
  made.low = made.best = made.high = *factor(&roofline_metrics::roofline_time);
  const auto can_bound = [&](const device_roofline& at, time_of which) {
    return at.time(index, which).value_or(0) >=
           least_share * *at.time(index, &roofline_metrics::roofline_time);
  };
  for (const time_of which : {&roofline_metrics::memory_time, &roofline_metrics::compute_time}) {
    const auto other = factor(which);
    if (!other || !(can_bound(from, which) || can_bound(on, which))) continue;
    made.low = std::min(made.low, *other);
    made.high = std::max(made.high, *other);
  }
  return made;
}

}  // namespace

std::vector<stage_factor> factors_on(const other_device& other, const run_record& source,
                                     const std::map<std::string, double>& scaled) {
  const device_roofline from(source.device.name, other.source_ceilings, source);
  const device_roofline on(other.device.name, other.ceilings, source);
  std::vector<stage_factor> factors;
  for (std::size_t s = 0; s < source.stages.size(); ++s) {
    const stage_record& stage = source.stages[s];
    if (stage.on != side::device) continue;
    const device_roofline* missing = nullptr;
    for (const device_roofline* const at : {&on, &from}) {
      if (!at->time(s, &roofline_metrics::roofline_time)) missing = at;
    }
    if (missing == nullptr) {
      factors.push_back(factor_of(source, s, from, on));
    } else if (!scaled.contains(stage.name)) {
      refuse(stage, missing->device);
    }
  }
  return factors;
}

run_record predict_on(const other_device& other, const plan& p, const run_record& source,
                      const prediction_options& options,
                      const std::function<run_record(const prediction_options&)>& predict) {
  const std::uint64_t needed = source.memory.device_peak_bytes;
  const auto available = other.device.memory_bytes;
  if (available && needed > *available) {
    throw input_error(fmt::format("--on: the source used {} of device memory, and {} has {}",
                                  format_bytes(needed), other.device.name,
                                  format_bytes(*available)));
  }
  auto factors = factors_on(other, source, options.scale);
  std::erase_if(factors, [&](const stage_factor& factor) {
    return std::ranges::find(p.stages, factor.stage, &planned_stage::name) == p.stages.end();
  });
  const auto predict_with = [&](double stage_factor::*level) {
    prediction_options scaled = options;
    scaled.sensitivity = options.sensitivity && level == &stage_factor::best;
    for (const stage_factor& factor : factors) {
      scaled.scale.try_emplace(factor.stage, 1).first->second *= factor.*level;
    }
    return predict(scaled);
  };

  run_record record = predict_with(&stage_factor::best);
  prediction_record& made = *record.prediction;
  const auto certain = [](const stage_factor& f) { return f.low == f.high; };
  for (const auto level : {&stage_factor::low, &stage_factor::high}) {
    if (std::ranges::all_of(factors, certain)) break;
    const run_record bracket = predict_with(level);
    for (predicted_figure& figure : made.figures) {
      const predicted_figure* const same = figure_of(*bracket.prediction, figure.name);
      if (same == nullptr) continue;
      figure.low = std::min(figure.low, same->low);
      figure.high = std::max(figure.high, same->high);
    }
  }
  made.scaled.clear();
  for (const auto& [stage, factor] : options.scale) {
    made.scaled.emplace_back(stage, fmt::format("{:g}", factor));
  }
  if (other.device.name != source.device.name) record.device = other.device;
  made.device_change = device_change{source.device.name, other.public_figures, std::move(factors)};
  return record;
}

}  // namespace graphline
