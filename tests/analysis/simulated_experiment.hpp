#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline::samples {

/// A machine and configurations with known true metrics. A frame of configuration c takes 10 ms
/// times `factors[c]`, times random effects of its block, its trial and the frame. All
/// configurations share the distributions of these effects, so true ratios of times are exactly
/// those of the factors, and true ratios of throughput are their inverse. The first configuration
/// is the reference.
struct simulated_experiment {
  std::vector<double> factors = {1, 1};
  std::size_t blocks = 10;
  std::size_t frames = 20;     ///< per trial
  double block_spread = 0.01;  ///< standard deviations of logarithms
  double trial_spread = 0.01;
  double frame_spread = 0.02;
  double frame_tail = 0.1;  ///< probability that a frame takes up to twice as long
  double drift = 0;         ///< change of the logarithm from the first block to the last
  double contaminated = 0;  ///< probability that a trial is 30 % slower
  std::vector<std::size_t> throttled_blocks = {};  ///< 20 % slower
  std::vector<double> ranks = {};  ///< that run the blocks in turn, with their factors of time
};

/// Simulates an experiment without stages. The same seed gives the same result.
experiment_record simulate(const simulated_experiment& as, std::uint64_t seed);

}  // namespace graphline::samples
