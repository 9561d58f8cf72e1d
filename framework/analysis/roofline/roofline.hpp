#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The ceiling that determines a roofline time.
enum class bound {
  memory,    ///< bytes / read, write and copy bandwidths of device memory
  compute,   ///< FLOPs / compute rate
  transfer,  ///< bytes / transfer bandwidth between host and device
};
inline constexpr word<bound> bound_words[] = {
    {"memory", bound::memory}, {"compute", bound::compute}, {"transfer", bound::transfer}};
template <>
struct words_of<bound> {
  static constexpr const auto& table = bound_words;
};

/// Roofline metrics of a stage or part; times are in ns. Empty values are unknown or not measured.
struct roofline_metrics {
  cost_record cost;
  std::optional<double> intensity;      ///< FLOP per byte read or written
  std::optional<double> memory_time;    ///< bytes / memory or transfer bandwidths
  std::optional<double> compute_time;   ///< FLOPs / rate of the cost's precision
  std::optional<double> roofline_time;  ///< larger of both times; with parts, the sum over parts
  std::optional<double> best_roofline_time;  ///< roofline time at `ceiling_figure::best`
  std::optional<bound> by;                   ///< with parts, the bound of most of the roofline time
  std::optional<double> measured;            ///< p50; empty for too few samples
  std::optional<double> ratio;
  /// True if `measured` is below `best_roofline_time`; cost or calibration is then wrong.
  bool below_roofline = false;
};

/// A stage or, for a stage with buckets, its frames of one bucket.
struct roofline_stage {
  std::size_t stage = 0;       ///< index in the record
  std::size_t bucket = 0;      ///< index in the stage's buckets; 0 without buckets
  double share_of_frames = 1;  ///< fraction of all frames that ran the stage, in this bucket
  roofline_metrics figures;
  std::optional<double> share_of_path;  ///< time on the critical path / mean end-to-end time
  struct part {
    std::size_t index = 0;  ///< in the record
    roofline_metrics figures;
  };
  std::vector<part> parts;  ///< of the bucket, in the record's order; measured only under `layers`
};

/// Returns the name of the stage, with its bucket if it has buckets: "recognize (rows=16)".
std::string name_of(const run_record& record, const roofline_stage& stage);

/// The ceilings of a device that form its roofline.
struct roofline_device {
  std::size_t device = 0;    ///< index in the record's devices
  ceiling_figure bandwidth;  ///< the higher of `read` and `copy`, the slope of the roofline
  std::vector<compute_ceiling> compute;  ///< measured ceilings, in the order of `precision`
};

/// A run compared with the ceilings of its devices.
struct roofline_summary {
  std::vector<roofline_device> devices;  ///< those with a calibrated bandwidth and compute rate
  /// Device stages including copies, in planned order, each bucket that a frame took separately.
  std::vector<roofline_stage> stages;
  /// Sums over `stages`, weighted by their shares of frames. Empty if a stage that ran was not
  /// measured or has no roofline time.
  std::optional<double> measured;
  std::optional<double> roofline_time;
  /// Indices into `stages` of stages with a known gain, by descending gain. The gain is the part of
  /// the time above the roofline that is on the critical path.
  std::vector<std::size_t> by_gain;
};

/// Compares a run with its calibrations; empty if no device has a calibrated bandwidth and compute
/// rate. Stages on devices without them, and copies between devices, have no roofline time.
/// @param layers A run of the same pipeline under `timing: layers` that times the parts, or null.
std::optional<roofline_summary> evaluate_roofline(const run_record& record,
                                                  const run_record* layers,
                                                  const std::optional<attribution_summary>& path);
inline std::optional<roofline_summary> evaluate_roofline(const run_record& record,
                                                         const run_record* layers = nullptr) {
  return evaluate_roofline(record, layers, attribute(record));
}

/// Reports which stages to optimize first and why, and measured times that contradict the cost or
/// the calibration.
std::vector<finding> roofline_findings(const run_record& record, const roofline_summary& summary);

}  // namespace graphline
