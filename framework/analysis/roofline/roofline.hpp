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

/// What keeps a piece of work from being faster than its roofline time.
enum class bound {
  memory,    ///< bytes over the bandwidths of device memory, of reading, writing and copying
  compute,   ///< FLOPs over the rate
  transfer,  ///< bytes over the bandwidth between host and device
};
inline constexpr word<bound> bound_words[] = {
    {"memory", bound::memory}, {"compute", bound::compute}, {"transfer", bound::transfer}};
template <>
struct words_of<bound> {
  static constexpr const auto& table = bound_words;
};

/// A piece of work under the ceilings. Absent: not known, or not measured. Times in nanoseconds.
struct roofline_metrics {
  cost_record cost;
  std::optional<double> intensity;      ///< FLOPs for each byte read or written
  std::optional<double> memory_time;    ///< bytes over the bandwidths, or `transfer`'s
  std::optional<double> compute_time;   ///< FLOPs over the rate of the cost's arithmetic
  std::optional<double> roofline_time;  ///< the larger; of a stage with parts the sum of theirs
  std::optional<double> best_roofline_time;  ///< the same with the ceilings at their best
  std::optional<bound> by;         ///< of a stage with parts what most of its roofline time is
  std::optional<double> measured;  ///< p50; absent where there are too few times for one
  std::optional<double> ratio;     ///< measured over roofline time
  /// Measured below `best_roofline_time`: the cost or the calibration does not hold for it.
  bool below_roofline = false;
};

struct roofline_stage {
  std::size_t stage = 0;  ///< of the record
  roofline_metrics figures;
  std::optional<double> share_of_path;  ///< of the mean end-to-end time, as attributed
  std::vector<roofline_metrics> parts;  ///< as in the record; measured under `layers` only
};

/// A run compared with what its device can do.
struct roofline_summary {
  ceiling_figure bandwidth;              ///< the higher of `read` and `copy`: the slope of a plot
  std::vector<compute_ceiling> compute;  ///< those that were measured, in the order of `precision`
  std::vector<roofline_stage> stages;    ///< device stages, copies among them, in planned order
  std::optional<double> measured;        ///< of all of them; nothing where one was not measured
  std::optional<double> roofline_time;   ///< likewise
  std::vector<std::size_t> by_gain;  ///< indices into `stages`: most time above its roofline on the
                                     ///< critical path first; only those that have both
};

/// Compares what a run measured with its calibration. `layers`: a run of the same pipeline under
/// `timing: layers` for the times of parts, null where `record` is all there is. `path`: where the
/// time of the run's frames went. Nothing without a calibration that has a bandwidth and a rate.
std::optional<roofline_summary> evaluate_roofline(const run_record& record,
                                                  const run_record* layers,
                                                  const std::optional<attribution_summary>& path);
inline std::optional<roofline_summary> evaluate_roofline(const run_record& record,
                                                         const run_record* layers = nullptr) {
  return evaluate_roofline(record, layers, attribute(record));
}

/// What to look at first and why, and where a measured time says that the cost or the calibration
/// is wrong.
std::vector<finding> roofline_findings(const run_record& record, const roofline_summary& summary);

}  // namespace graphline
