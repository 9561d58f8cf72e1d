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

/// Below so many values nothing can be seen to grow or fall.
inline constexpr std::size_t least_sweep_points = 3;

/// What a value of the swept parameter makes of the device stages together, copies aside. Absent:
/// not known, or not measured. Times in nanoseconds.
struct sweep_point {
  std::size_t configuration = 0;
  std::string text;  ///< the value as it was written
  double value = 0;
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes;  ///< read and written
  std::optional<double> intensity;    ///< FLOPs for each byte
  std::optional<double> time;         ///< p50, by `sweep::what`
  std::optional<double> rate;         ///< FLOPs a second, at that time
  std::optional<double> least;        ///< sum of the stages' least times, with a calibration
  std::optional<bound> by;            ///< what most of the least time is
  std::optional<double> ratio;        ///< time over least; of times of the stages only
};

/// An experiment whose configurations differ in the number that one parameter is.
struct sweep {
  std::string key;
  /// What the time is of: of the device stages of a frame together; nothing where these were not
  /// timed, and it is from end to end.
  std::optional<measure> what;
  std::vector<sweep_point> points;  ///< by value, ascending; at least `least_sweep_points`
};

/// Nothing where something else varies too, where the values are no numbers or fewer than
/// `least_sweep_points` ran, where several pipelines run at once, and where it is not known what
/// the device stages amount to.
std::optional<sweep> sweep_of(const experiment_record& record, const experiment_summary& summary);

/// Whether the parameter changes what is computed, not only how.
bool changes_cost(const sweep& of);

}  // namespace graphline
