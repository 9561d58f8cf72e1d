#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// Returns the display name of a ceiling: "memory, read"; "convolution, float16".
std::string label_of(ceiling what, precision arithmetic);

/// Returns where the public figures of a device come from, if its ceilings are such figures; empty
/// for measured ceilings. It is the entry "figures" of the environment.
std::string origin_of_figures(const calibration_record& record);

/// Returns each calibrated ceiling at the median, 10th and 90th percentile of its times (nearest
/// rank). Omits ceilings without samples.
std::vector<ceiling_figure> figures_of(const calibration_record& record);

/// Relative spread above which a ceiling is reported as noisy.
inline constexpr double wide_spread = 0.1;

/// Returns the 10th to 90th percentile range of a ceiling's times, relative to the median.
double spread_of(const ceiling_figure& figure);

/// Lists bandwidths and rates with a wide spread: "memory, read (54 %)". Excludes host costs, which
/// always vary widely.
std::vector<std::string> wide_spreads(const std::vector<ceiling_figure>& figures);

/// Lists the reasons why a calibration may be stale: changes of the device, its details or the
/// environment ("oneDNN was 2.6.2, is 2.6.3"), and an age of more than 90 days.
std::vector<std::string> stale_reasons(
    const calibration_record& record, const device_properties& device,
    const std::vector<std::pair<std::string, std::string>>& environment);

struct compute_ceiling {
  precision arithmetic = precision::float32;
  ceiling_figure rate;     ///< the higher of `convolution` and `matmul`
  double ridge_point = 0;  ///< FLOP per byte
};

/// Time to move bytes, in ns, at the ceilings' median and best values.
struct memory_times {
  double usual = 0;
  double best = 0;
};

/// Ceilings of a device: compute, memory and transfer.
struct device_ceilings {
  /// @pre `measured` outlives this object.
  explicit device_ceilings(const std::vector<ceiling_figure>& measured);

  /// Returns the time to move bytes in device memory. Assumes that min(`read`, `written`) bytes are
  /// copied and only the rest is read or written alone. `bandwidth` replaces a missing bandwidth.
  /// @pre `bandwidth` has a value.
  memory_times time_to_move(double read, double written) const;

  /// Returns the compute ceiling of a precision; null if not measured.
  const ceiling_figure* rate(precision arithmetic) const;

  std::optional<ceiling_figure> bandwidth;  ///< device memory: the higher of `read` and `copy`
  const ceiling_figure* to_device;          ///< pinned memory; null if not measured
  const ceiling_figure* to_host;
  std::vector<compute_ceiling> compute;  ///< in the order of `precision`; empty without a bandwidth

 private:
  const ceiling_figure* read_;  ///< null if not measured
  const ceiling_figure* write_;
  const ceiling_figure* copy_;
};

}  // namespace graphline
