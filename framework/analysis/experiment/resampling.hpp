#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/experiment/pooled_times.hpp"

namespace graphline {

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
};

/// The percentile by nearest rank of all durations of the blocks drawn. What a draw yields is one
/// of some hundred values of the sample that stand close together where draws fall, so that the
/// cost depends on the number of blocks, not on how many durations they have. `times` is not empty.
resampled_figure resample_percentile(const pooled_times& times, double p, const block_draws& draws);

/// The sum of `above` over the sum of `below`, of the blocks drawn; one value of each per block,
/// those of `below` greater than 0.
resampled_figure resample_ratio(std::span<const double> above, std::span<const double> below,
                                const block_draws& draws);

}  // namespace graphline
