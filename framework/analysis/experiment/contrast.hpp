#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/experiment/resampling.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {

/// A figure against the same figure of a reference, and by how much resampling blocks moves it.
class contrast {
 public:
  /// Both resampled by the same draws from `blocks` blocks, 2 at least. Nothing when a value or a
  /// draw of one is not greater than 0, so that there is no ratio.
  static std::optional<contrast> of(const resampled_figure& value,
                                    const resampled_figure& reference, std::size_t blocks);

  double log_ratio() const noexcept { return log_ratio_; }

  /// Standard error of the logarithm of the ratio.
  double error() const noexcept { return error_; }

  /// How far each draw's logarithm is from their mean, in standard deviations of all draws; empty
  /// when none differs.
  const std::vector<double>& deviations() const noexcept { return deviations_; }

  /// The estimate with `t` standard errors to either side, taken in logarithms.
  interval ratio_range(double t) const;

  /// Likewise of the difference, in the unit of the figures.
  interval difference_range(double t) const;

 private:
  double log_ratio_ = 0;
  double error_ = 0;
  double difference_ = 0;
  double difference_error_ = 0;
  std::vector<double> deviations_;
};

/// The level at which each single interval has to stand so that all of them hold together with
/// 95 %: between 5 %, when all say the same, and 1 - 0.95^(1/k) for k that have nothing to do with
/// each other (Sidak, 1967).
///
/// Single-step max-T (Westfall and Young, "Resampling-Based Multiple Testing", 1993): in 95 % of
/// the draws no contrast is farther from its mean than c standard deviations; a normal variable is
/// farther with the probability that is returned.
double common_level(std::span<const contrast> contrasts);

}  // namespace graphline
