#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline::samples {

/// A machine and configurations whose true figures are known: each frame of configuration c takes
/// 10 ms times `factors[c]`, times what its block, its trial and itself add at random. All
/// configurations share the distributions of these, so that every ratio of times is exactly that of
/// the factors, and of throughputs the inverse. The first is what all others are compared with.
struct simulated_experiment {
  std::vector<double> factors = {1, 1};
  std::size_t blocks = 10;
  std::size_t frames = 20;     ///< per trial
  double block_spread = 0.01;  ///< standard deviations, of logarithms
  double trial_spread = 0.01;
  double frame_spread = 0.02;
  double frame_tail = 0.1;  ///< chance of a frame to take up to twice as long
  double drift = 0;         ///< from the first block to the last, of the logarithm
  double contaminated = 0;  ///< chance of a trial to be 30 % slower
  std::vector<std::size_t> throttled_blocks = {};  ///< 20 % slower
};

/// The raw samples of one such experiment, without stages; the same for the same seed.
experiment_record simulate(const simulated_experiment& as, std::uint64_t seed);

}  // namespace graphline::samples
