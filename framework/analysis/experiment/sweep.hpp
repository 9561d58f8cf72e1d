#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/roofline/roofline.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// Minimum number of values for a sweep.
inline constexpr std::size_t least_sweep_points = 3;

/// Totals over the device stages, without copies, at one value of the swept parameter. Empty values
/// are unknown or not measured; times are in ns.
struct sweep_point {
  std::size_t configuration = 0;
  std::string text;  ///< the value as written
  double value = 0;
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes;  ///< bytes read and written
  std::optional<double> intensity;    ///< FLOP per byte
  std::optional<double> time;         ///< p50; see `sweep::what`
  std::optional<double> rate;         ///< FLOP per second at `time`
  std::optional<double>
      roofline_time;            ///< sum of the stages' roofline times; requires a calibration
  std::optional<bound> by;      ///< bound of most of the roofline time
  std::optional<double> ratio;  ///< `time` / `roofline_time`; only if device stages are timed
};

/// An experiment whose configurations differ in the numeric value of a single parameter.
struct sweep {
  std::string key;
  /// Measured quantity of the device stages; `time` is their total per frame. If empty, device
  /// stages are not timed, and `time` is the end-to-end time.
  std::optional<measure> what;
  std::vector<sweep_point> points;  ///< in ascending order of their values
};

/// Returns the sweep of an experiment. Empty if anything else varies, values are not numeric, fewer
/// than `least_sweep_points` values ran, pipelines run concurrently, or costs of device stages are
/// unknown.
std::optional<sweep> sweep_of(const experiment_record& record, const experiment_summary& summary);

/// Returns true if the FLOPs or bytes differ between the values.
bool changes_cost(const sweep& of);

}  // namespace graphline
