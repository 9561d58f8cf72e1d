#pragma once

#include <optional>
#include <vector>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// A flat roof, and the intensity above which it is the lower one.
struct compute_roof {
  precision arithmetic = precision::float32;
  ceiling_figure rate;  ///< the higher of `convolution` and `matmul`
  double knee = 0;      ///< FLOPs for each byte
};

/// What the ceilings of a device come to: its roofs, and the bandwidths to and from it.
struct ceilings_at_hand {
  /// `measured` must outlive it.
  explicit ceilings_at_hand(const std::vector<ceiling_figure>& measured);

  /// The roof of a precision; null where it was not measured.
  const ceiling_figure* rate(precision arithmetic) const;

  std::optional<ceiling_figure> bandwidth;  ///< of device memory: the higher of `read` and `copy`
  const ceiling_figure* to_device;          ///< of pinned memory; null where it was not measured
  const ceiling_figure* to_host;
  std::vector<compute_roof> roofs;  ///< in the order of `precision`; none without a bandwidth
};

}  // namespace graphline
