#include "tests/analysis/simulated_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>

#include "framework/base/random.hpp"

namespace graphline::samples {
namespace {

/// Standard normal and uniform random numbers.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : bits_(mix_seed(seed, 1)) { normals_.seed(seed); }

  double normal() {
    if (next_ == buffer_.size()) {
      normals_.fill(buffer_);
      next_ = 0;
    }
    return buffer_[next_++];
  }

  double uniform() { return uniform_unit(bits_); }

 private:
  normal_generator normals_;
  std::mt19937_64 bits_;
  std::vector<double> buffer_ = std::vector<double>(64);
  std::size_t next_ = 64;
};

run_record run_at(double level, const simulated_experiment& as, numbers& random) {
  run_record run;
  nanoseconds clock = 0;
  for (std::size_t f = 0; f < as.frames; ++f) {
    double log = level + as.frame_spread * random.normal();
    if (random.uniform() < as.frame_tail) log += std::log1p(random.uniform());
    const auto time = static_cast<nanoseconds>(std::llround(10e6 * std::exp(log)));
    run.frames.push_back({clock, clock, clock + time});
    clock += time;
  }
  return run;
}

}  // namespace

experiment_record simulate(const simulated_experiment& as, std::uint64_t seed) {
  numbers random(seed);
  experiment_record record;
  record.how.seed = seed;
  record.how.trials = static_cast<std::int64_t>(as.blocks);
  for (std::size_t c = 0; c < as.factors.size(); ++c) {
    record.configurations.push_back({"c" + std::to_string(c), {}, {"pipeline"}});
    if (c > 0) record.pairs.push_back({{c, 0}, {0, 0}});
  }
  for (std::size_t b = 0; b < as.blocks; ++b) {
    const auto& slow = as.throttled_blocks;
    const bool throttled = std::find(slow.begin(), slow.end(), b) != slow.end();
    const double through =
        as.blocks > 1 ? static_cast<double>(b) / static_cast<double>(as.blocks - 1) : 0;
    double block =
        as.block_spread * random.normal() + as.drift * through + (throttled ? std::log(1.2) : 0);
    std::optional<trial_place> place;
    if (!as.ranks.empty()) {
      place = {std::int64_t(b % as.ranks.size()), "node"};
      block += std::log(as.ranks[b % as.ranks.size()]);
    }
    for (std::size_t c = 0; c < as.factors.size(); ++c) {
      double level = block + as.trial_spread * random.normal() + std::log(as.factors[c]);
      if (random.uniform() < as.contaminated) level += std::log(1.3);
      record.trials.push_back({c, b, 0, {run_at(level, as, random)}, place});
    }
  }
  return record;
}

}  // namespace graphline::samples
