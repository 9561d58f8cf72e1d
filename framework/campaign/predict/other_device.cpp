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

using time_of = std::optional<double> roofline_metrics::*;

/// A run compared with the ceilings of a device.
struct device_roofline {
  device_roofline(std::string name, const std::vector<ceiling_figure>& ceilings, run_record run)
      : device(std::move(name)), vector_rate(rate_in_float32(ceilings)) {
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

  static std::optional<double> rate_in_float32(const std::vector<ceiling_figure>& ceilings) {
    std::optional<double> best;
    for (const ceiling_figure& each : ceilings) {
      const bool computes = each.what == ceiling::matmul || each.what == ceiling::convolution;
      if (!computes || each.arithmetic != precision::float32) continue;
      best = std::max(best.value_or(0), each.value);
    }
    return best;
  }

  std::string device;
  std::optional<double> vector_rate;  ///< FLOP/s of the cores without tensor cores
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

/// Returns the factor of a stage's time above its roofline time: that of its compute time if it is
/// compute-bound, else that of the cores' rate in float32; 1 for a copy.
double core_factor(const stage_record& stage, std::size_t index, const device_roofline& from,
                   const device_roofline& on) {
  if (stage.copy) return 1;
  const auto compute = &roofline_metrics::compute_time;
  const double flops = from.time(index, compute).value_or(0);
  const double bytes = from.time(index, &roofline_metrics::memory_time).value_or(0);
  if (flops > bytes) return on.time(index, compute).value_or(flops) / flops;
  return from.vector_rate && on.vector_rate ? *from.vector_rate / *on.vector_rate : 1;
}

/// @pre the roofline times are known
stage_factor factor_of(const run_record& source, std::size_t index, const device_roofline& from,
                       const device_roofline& on) {
  const stage_record& stage = source.stages[index];
  stage_factor made{stage.name};
  const double measured = mean_time(stage);
  const auto roofline = &roofline_metrics::roofline_time;
  const double before = *from.time(index, roofline);
  const double after = *on.time(index, roofline);
  if (measured <= 0 || before <= 0) return made;

  const double start =
      std::clamp(measured - before, 0.0, start_of_operation * operations_of(source, stage));
  const double work = measured - start;
  const double other_work = std::max(0.0, work - before);
  const double cores = core_factor(stage, index, from, on);
  // Changes of the time: exactly 0 on the same device.
  const double slower = after / before - 1;
  const double same_efficiency = work * slower;
  const double apart = std::min(work, before) * slower + other_work * (cores - 1);
  const double together = other_work > 0 ? std::max(after, work * cores) - work : same_efficiency;
  const auto [low, high] = std::minmax({same_efficiency, apart, together});
  made.low = 1 + low / measured;
  made.best = 1 + (apart + other_work / work / 2 * (together - apart)) / measured;
  made.high = 1 + high / measured;
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
    if (level == &stage_factor::high && made.worst_case) {
      made.worst_case = bracket.prediction->worst_case;
      record.warnings = bracket.warnings;
    }
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
