#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>

#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// A queue in virtual time: unlimited length, first in first out, one server, so that queueing
/// theory or, with batches, a long run gives its exact properties.
struct simulated_queue {
  graphline::arrival arrival = graphline::arrival::constant;
  /// Mean service time in ns. Service times are exponential if `random` is set, else constant.
  double mean_service = 1e6;
  bool random = false;
  /// Standard deviation of normal noise added to each service, relative to the mean.
  double noise = 0;
  std::int64_t batch_frames = 1;
  double batch_wait = 0;  ///< in ns, from the due time of a batch's first frame
  double more = 0;        ///< service time of each further frame of a batch, in ns
  /// Fraction of runs in which the machine stands still once, for twenty to sixty services.
  double stalls = 0;
  std::int64_t burst = 1;  ///< frames due at each arrival

  /// Simulates a run of `frames` frames, due at `rate` per second or, without it, all at once.
  run_record run(std::optional<double> rate, std::int64_t frames, std::uint64_t seed) const;
};

/// Returns the rate in frames per second at which percentile p of the sojourn time in an M/M/1
/// queue is `bound` ns. The sojourn time is exponential with rate mu - lambda.
double mm1_capacity(double mean_service, double p, double bound);

/// Returns the same rate for M/D/1, whose arrivals bring `burst` frames each, by bisection of
/// Erlang's formula for the waiting time (Tijms, "A First Course in Stochastic Models", 2003,
/// section 9.2.4).
double md1_capacity(double service, double p, double bound, int burst = 1);

}  // namespace graphline::samples
