#pragma once

#include <optional>
#include <vector>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// A compute ceiling, and the intensity above which it is the lower one.
struct compute_ceiling {
  precision arithmetic = precision::float32;
  ceiling_figure rate;     ///< the higher of `convolution` and `matmul`
  double ridge_point = 0;  ///< FLOPs for each byte
};

/// Nanoseconds that bytes take: at the median of the ceilings' times, and at their best.
struct memory_times {
  double usual = 0;
  double best = 0;
};

/// What the ceilings of a device come to: its compute ceilings, and the bandwidths to and from it.
struct device_ceilings {
  /// `measured` must outlive it.
  explicit device_ceilings(const std::vector<ceiling_figure>& measured);

  /// What it takes to move so many bytes in device memory: as many as are both read and written at
  /// the bandwidth of a copy, the rest at that of reading or of writing. Where one of the three was
  /// not measured, `bandwidth` stands for it, which must be there.
  memory_times time_to_move(double read, double written) const;

  /// The ceiling of a precision; null where it was not measured.
  const ceiling_figure* rate(precision arithmetic) const;

  std::optional<ceiling_figure> bandwidth;  ///< of device memory: the higher of `read` and `copy`
  const ceiling_figure* to_device;          ///< of pinned memory; null where it was not measured
  const ceiling_figure* to_host;
  std::vector<compute_ceiling> compute;  ///< in the order of `precision`; none without a bandwidth

 private:
  const ceiling_figure* read_;  ///< null where it was not measured
  const ceiling_figure* write_;
  const ceiling_figure* copy_;
};

}  // namespace graphline
