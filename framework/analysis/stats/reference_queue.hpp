#pragma once

#include <cstddef>
#include <span>

namespace graphline {

/// A queue of which everything is known: frames arrive at random (`poisson`), wait in order, and
/// are served one at a time, each for the same time: M/D/1. Times are in any one unit.
struct reference_queue {
  double service = 1;

  /// The share of frames that wait for longer than `limit` in the long run when `rate` frames
  /// arrive in a unit of time; 1 where more arrive than are served. In steps of the queue length
  /// that add positive terms only (Franx, "A simple solution for the M/D/c waiting time
  /// distribution", Operations Research Letters 29, 2001); takes (limit / service)^2 steps.
  double late_share(double rate, double limit) const;

  /// The limit that a share `late` of the frames waits beyond, 0 < late < 1: 0 where fewer wait at
  /// all, and at most 300 times the service.
  double limit_for(double rate, double late) const;

  /// The share of frames that wait for longer than `limit` when they arrive at these moments, which
  /// ascend, in a queue that is empty at first. The `skipped` first ones, fewer than there are, are
  /// not counted.
  double late_share_of(std::span<const double> arrivals, double limit, std::size_t skipped) const;
};

}  // namespace graphline
