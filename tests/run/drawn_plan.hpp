#pragma once

#include <random>
#include <vector>

#include "framework/plan/plan.hpp"

namespace graphline::testing_plans {

using random_source = std::mt19937_64;

inline std::size_t below(random_source& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % limit);
}

struct edge {
  std::size_t earlier;
  std::size_t later;
};

/// A plan of stages whose sides and edges are given, without tensors, kinds and names. Device
/// stages are on so many streams in turn.
inline plan plan_of(const std::vector<side>& sides, const std::vector<edge>& edges,
                    std::size_t streams = 2) {
  plan p;
  p.stages.resize(sides.size());
  for (std::size_t s = 0; s < sides.size(); ++s) {
    p.stages[s].on = sides[s];
    p.stages[s].stream = s % streams;
  }
  for (const edge& e : edges) {
    planned_stage& earlier = p.stages[e.earlier];
    const planned_stage& later = p.stages[e.later];
    const auto how = earlier.on == side::cpu          ? satisfied_by::cpu_return
                     : later.on == side::cpu          ? satisfied_by::completion
                     : earlier.stream == later.stream ? satisfied_by::stream_order
                                                      : satisfied_by::event_wait;
    if (how == satisfied_by::completion) earlier.host_waits = true;
    if (how == satisfied_by::completion || how == satisfied_by::event_wait) earlier.signals = true;
    p.stages[e.later].waits.push_back({e.earlier, how, {}});
    earlier.followers.push_back(e.later);
  }
  for (planned_stage& stage : p.stages) {
    if (stage.on == side::device && stage.followers.empty())
      stage.signals = stage.host_waits = true;
  }
  return p;
}

/// Stages of both sides in equal parts, each pair with an edge in one case of four.
inline plan random_plan(random_source& random, std::size_t most, std::size_t streams = 2) {
  std::vector<side> sides(1 + below(random, most));
  std::vector<edge> edges;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    sides[s] = below(random, 2) == 0 ? side::cpu : side::device;
    for (std::size_t e = 0; e < s; ++e) {
      if (below(random, 4) == 0) edges.push_back({e, s});
    }
  }
  return plan_of(sides, edges, streams);
}

}  // namespace graphline::testing_plans
