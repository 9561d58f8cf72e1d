#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// What a sample says about a percentile and a bound.
enum class bound_verdict {
  holds,  ///< the whole 95 % interval of the percentile lies within the bound
  fails,  ///< all of it lies beyond
  open,   ///< the bound lies in the interval
};

/// Stands for the time of a frame that never ended: longer than any other.
inline constexpr nanoseconds never = INT64_MAX;

/// The least number of frames, none of them late, that show that the percentile `p` holds.
/// p50: 6, p90: 36, p95: 72, p99: 368, p99.9: 3688.
std::size_t frames_to_hold(double p);

/// A sample of times against a bound on one of its percentiles.
struct bound_check {
  std::size_t frames = 0;
  std::size_t late = 0;  ///< beyond the bound
  std::optional<nanoseconds> p50;
  std::optional<nanoseconds> value;  ///< of the percentile, by nearest rank
  /// The 95 % interval of the percentile; a side that the sample does not carry is absent.
  std::optional<nanoseconds> low;
  std::optional<nanoseconds> high;
  /// How many frames say as much as one independent frame would, at least 1.
  double clustering = 1;
  bound_verdict verdict = bound_verdict::open;

  /// Part of the frames that are late; 0 of none.
  double late_share() const noexcept {
    return frames == 0 ? 0 : static_cast<double>(late) / static_cast<double>(frames);
  }
};

/// Judges the percentile `p` of the times of one or more runs, each in the order of its frames.
///
/// The interval goes from one value of the sorted sample to another, by the binomial distribution
/// of how many values lie below the true percentile (Conover, "Practical Nonparametric Statistics",
/// 3rd ed. 1999, section 3.2), 2.5 % on either side; it asks nothing of the times' distribution.
/// Frames that wait in one queue are late together, though. So each run is cut into batches, about
/// 20 in all: as often as the late frames per batch vary more than those of independent frames
/// would, so much fewer frames are counted (batch means: Law, "Simulation Modeling and Analysis",
/// section 9.5).
bound_check check_bound(const std::vector<std::vector<nanoseconds>>& runs, double p,
                        nanoseconds bound);

}  // namespace graphline
