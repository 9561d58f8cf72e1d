#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/analysis/stats/confidence.hpp"
#include "framework/base/clock.hpp"

namespace graphline {

/// Outcome of comparing a percentile with a bound.
enum class bound_verdict {
  holds,  ///< the 95 % interval of the percentile lies within the bound
  fails,  ///< the interval lies beyond the bound
  open,   ///< the interval contains the bound
};

/// Time of a frame that never ended; exceeds any other time.
inline constexpr nanoseconds never = INT64_MAX;

/// Returns how many frames, none of them late, are needed to show that percentile `p` is within the
/// bound. p50: 6, p90: 36, p95: 72, p99: 368, p99.9: 3688.
std::size_t frames_to_hold(double p);

/// Comparison of a sample with a bound on one of its percentiles.
struct bound_check {
  std::size_t frames = 0;
  std::size_t late = 0;  ///< frames beyond the bound
  std::optional<nanoseconds> p50;
  std::optional<nanoseconds> value;  ///< the percentile, by nearest rank
  /// 95 % interval of the percentile; an end is empty if the sample is too small for it.
  std::optional<nanoseconds> low;
  std::optional<nanoseconds> high;
  /// Design effect, at least 1. This number of frames has the information of one independent frame.
  double clustering = 1;
  bound_verdict verdict = bound_verdict::open;

  /// Returns the fraction of late frames; 0 without frames.
  double late_share() const noexcept {
    return frames == 0 ? 0 : static_cast<double>(late) / static_cast<double>(frames);
  }
};

/// Compares percentile `p` of the times of one or more runs, each in frame order, with a bound.
///
/// The interval is distribution-free. Its ends are binomial ranks of the pooled sample, 2.5 % on
/// each side (Conover, "Practical Nonparametric Statistics", 3rd ed. 1999, section 3.2). Frames in
/// one queue are late together, so they contain less information than independent frames. Each run
/// is therefore split into batches, about 20 in total. The effective sample size is the sample size
/// divided by a ratio of variances of the number of late frames per batch: the measured variance
/// over that of independent frames (batch means: Law, "Simulation Modeling and Analysis", section
/// 9.5).
/// @param outside Probability on each side instead of 2.5 %.
bound_check check_bound(const std::vector<std::vector<nanoseconds>>& runs, double p,
                        nanoseconds bound, double outside = outside_95);

}  // namespace graphline
