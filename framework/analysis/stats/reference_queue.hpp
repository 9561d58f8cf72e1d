#pragma once

#include <cstddef>
#include <span>

namespace graphline {

/// An M/D/1 queue, for which exact results exist: Poisson arrivals, first in first out, one server,
/// constant service time. Times are in any common unit.
struct reference_queue {
  double service = 1;

  /// Returns the long-run fraction of frames that wait longer than `limit` at `rate` arrivals per
  /// unit of time; 1 if overloaded. Uses a recursion over queue lengths with positive terms only
  /// (Franx, "A simple solution for the M/D/c waiting time distribution", Operations Research
  /// Letters 29, 2001) in (limit / service)^2 steps.
  double late_share(double rate, double limit) const;

  /// Returns the limit that the waits of a fraction `late` of the frames exceed, 0 < late < 1.
  /// Returns 0 if a smaller fraction waits at all, and at most 300 times the service time.
  double limit_for(double rate, double late) const;

  /// Returns the fraction of frames that wait longer than `limit` for given arrival times, in
  /// ascending order, in an initially empty queue. Does not count the first `skipped` frames.
  /// @pre `skipped` is less than the number of arrivals.
  double late_share_of(std::span<const double> arrivals, double limit, std::size_t skipped) const;
};

}  // namespace graphline
