#pragma once

#include <algorithm>
#include <random>

#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {

using random_source = std::mt19937_64;

inline std::size_t below(random_source& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % limit);
}

inline const std::vector<stream_choice> every_choice = {
    {stream_rule::automatic}, {stream_rule::one},
    {stream_rule::per_stage}, {stream_rule::per_branch},
    {.at_most = 1},           {.at_most = 2},
    {.at_most = 3},           {.at_most = 5}};

/// A pipeline of up to `most` stages on both sides with random edges, sizes, priorities and
/// `after`s, declared in an order that need not satisfy them.
inline pipeline_spec random_spec(random_source& random, std::size_t most) {
  spec_builder b;
  b.input("in0", {64});
  b.input("in1", {128}, side::cpu);
  std::vector<std::string> tensors = {"in0", "in1"};
  std::vector<std::string> stages;
  const std::size_t count = 1 + below(random, most);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = numbered(i);
    std::vector<std::string> reads;
    for (std::size_t r = below(random, 4); r > 0; --r) {
      reads.push_back(tensors[below(random, tensors.size())]);
    }
    std::vector<std::string> after;
    if (!stages.empty() && below(random, 4) == 0) {
      after.push_back(stages[below(random, stages.size())]);
    }
    const std::size_t kind = reads.size() == 1 ? below(random, 3) : below(random, 2);
    b.stage(name, kind == 0 ? "gpu" : kind == 1 ? "work" : "copy", reads, {}, after);
    if (kind != 2) {
      b.with("shape", extents({static_cast<std::int64_t>(1 + below(random, 1000))}));
    }
    b.priority(static_cast<priority>(below(random, 3)));
    tensors.push_back(name);
    stages.push_back(name);
  }
  std::shuffle(b.spec.stages.begin(), b.spec.stages.end(), random);
  return b.spec;
}

}  // namespace graphline::plan_testing
