#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>

#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// A pipeline in virtual time: frames wait in one queue without end and are served in order, one at
/// a time, so that what queueing theory says of it is known exactly.
struct simulated_queue {
  graphline::arrival arrival = graphline::arrival::constant;
  /// Of a frame, in nanoseconds; exponential where `random`, else always the mean.
  double mean_service = 1e6;
  bool random = false;
  /// Standard deviation of what comes on top of each service, normal, as a part of the mean.
  double noise = 0;
  /// In such a part of the runs, the machine stands still once, for twenty to sixty services.
  double stalls = 0;

  /// A run of so many frames due at `rate` a second, or all at once.
  run_record run(std::optional<double> rate, std::int64_t frames, std::uint64_t seed) const;
};

/// Where the sojourn time of M/M/1 has its percentile p: exponential with rate mu - lambda.
/// Frames a second at which it is `bound` ns.
double mm1_capacity(double mean_service, double p, double bound);

/// The same of M/D/1, by bisection of Erlang's formula for the waiting time (Tijms, "A First Course
/// in Stochastic Models", 2003, section 9.2.4).
double md1_capacity(double service, double p, double bound);

}  // namespace graphline::samples
