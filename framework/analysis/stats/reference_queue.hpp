#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace graphline {

/// An M/D/1 queue: Poisson arrivals, first in first out, one server, constant service time. All
/// times have the same unit.
struct reference_queue {
  double service = 1;
  std::int64_t burst = 1;  ///< frames in each arrival; rates count frames

  /// Returns the long-run fraction of frames that wait longer than `limit` at `rate` arrivals per
  /// unit of time; 1 if overloaded. Uses a recursion over queue lengths with positive terms only
  /// (Franx, "A simple solution for the M/D/c waiting time distribution", Operations Research
  /// Letters 29, 2001) in (limit / service)^2 steps. A burst is one arrival that takes as long as
  /// its frames, each of which also waits for those before it; averages over at most 64 of them.
  double late_share(double rate, double limit) const;

  /// Returns the wait that a fraction `late` of the frames exceeds, 0 < late < 1; at most 300 times
  /// the service time of an arrival. Returns 0 if the fraction of frames that wait at all is below
  /// `late`.
  double limit_for(double rate, double late) const;

  /// Returns the fraction of frames that wait longer than `limit` in an initially empty queue. Does
  /// not count the first `skipped` frames.
  /// @pre `arrivals` ascends and has more than `skipped` elements.
  double late_share_of(std::span<const double> arrivals, double limit, std::size_t skipped) const;
};

}  // namespace graphline
