#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/stats/confidence.hpp"
#include "framework/base/clock.hpp"

namespace graphline {

/// Durations that were measured in blocks, each block's in ascending order.
class pooled_times {
 public:
  /// One sample per block, in any order; not all of them empty.
  explicit pooled_times(std::vector<std::vector<nanoseconds>> blocks);

  const std::vector<std::vector<nanoseconds>>& blocks() const noexcept { return blocks_; }

  /// All of them, in ascending order.
  const std::vector<nanoseconds>& sorted() const noexcept { return sorted_; }
  std::size_t count() const noexcept { return sorted_.size(); }

 private:
  std::vector<std::vector<nanoseconds>> blocks_;
  std::vector<nanoseconds> sorted_;
};

/// As many blocks as there are, drawn with replacement, time and again: the bootstrap (Efron and
/// Tibshirani, "An Introduction to the Bootstrap", 1993). One draw serves every figure of an
/// experiment, so that what the blocks share stays paired.
class block_draws {
 public:
  /// The same draws for the same arguments. `blocks` and `count` are at least 1.
  block_draws(std::size_t blocks, std::size_t count, std::uint64_t seed);

  std::size_t count() const noexcept { return times_.size() / blocks_; }

  /// How many times a draw took each block.
  std::span<const std::uint16_t> operator[](std::size_t draw) const {
    return std::span(times_).subspan(draw * blocks_, blocks_);
  }

 private:
  std::size_t blocks_;
  std::vector<std::uint16_t> times_;  // [draw][block]
};

/// A figure, and what it would have been in each draw.
struct resampled_figure {
  double value = 0;
  std::vector<double> draws;
  /// The standard error is not below this, however alike all draws are: of a share of frames one
  /// frame of all, since a run without late frames does not show that there can be none.
  double least_error = 0;
};

/// The percentile by nearest rank of all durations of the blocks drawn. Of very many durations what
/// a draw yields is one of some thousand, most of them around the percentile, so that the cost
/// depends on the number of blocks. `times` is not empty.
resampled_figure resample_percentile(const pooled_times& times, double p, const block_draws& draws);

/// The sum of `above` over the sum of `below`, of the blocks drawn; one value of each per block,
/// those of `below` greater than 0.
resampled_figure resample_ratio(std::span<const double> above, std::span<const double> below,
                                const block_draws& draws);

/// Standard error of the logarithm of a figure, resampled from `blocks` blocks. Nothing without
/// draws, or when one is not greater than 0.
std::optional<double> log_error(const resampled_figure& figure, std::size_t blocks);

/// Standard error of a share, likewise; nothing without draws.
std::optional<double> share_error(const resampled_figure& figure, std::size_t blocks);

/// A figure against the same figure of a reference, and by how much resampling blocks moves it.
class contrast {
 public:
  /// Both resampled by the same draws from `blocks` blocks, 2 at least. Nothing when a value or a
  /// draw of one is not greater than 0, so that there is no ratio.
  static std::optional<contrast> of(const resampled_figure& value,
                                    const resampled_figure& reference, std::size_t blocks);

  /// Of shares, by their difference alone: a share may be 0.
  static contrast of_shares(const resampled_figure& value, const resampled_figure& reference,
                            std::size_t blocks);

  double log_ratio() const noexcept { return log_ratio_; }

  /// Standard error of the logarithm of the ratio.
  double error() const noexcept { return error_; }

  double difference() const noexcept { return difference_; }
  double difference_error() const noexcept { return difference_error_; }

  /// How far each draw's logarithm, of shares its difference, is from their mean, in standard
  /// deviations of all draws; empty when none differs.
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
/// Differences of shares count like logarithms of ratios.
///
/// Single-step max-T (Westfall and Young, "Resampling-Based Multiple Testing", 1993): in 95 % of
/// the draws no contrast is farther from its mean than c standard deviations; a normal variable is
/// farther with the probability that is returned.
double common_level(std::span<const contrast> contrasts);

}  // namespace graphline
