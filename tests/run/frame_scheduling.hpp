#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/run/list_scheduling.hpp"

// What `graphs: frame` means, worked out without the code that carries it out.

namespace graphline::testing_plans {

/// Makes every stage of a random plan a node of its frame's graph: CPU stages on so many streams
/// of their own, behind those of the device.
inline void make_nodes(plan& p, std::size_t call_streams, random_source& random) {
  for (planned_stage& stage : p.stages) {
    if (stage.on == side::cpu) stage.stream = streams + below(random, call_streams);
    stage.signals = stage.followers.empty();
    stage.host_waits = false;
  }
  for (planned_stage& stage : p.stages) {
    for (dependency& wait : stage.waits) {
      planned_stage& earlier = p.stages[wait.stage];
      const bool same = earlier.stream == stage.stream;
      wait.how = same ? satisfied_by::stream_order : satisfied_by::event_wait;
      if (!same) earlier.signals = true;
    }
  }
  for (std::size_t s = 0; s < call_streams; ++s) {
    p.streams.push_back({.name = "cpu " + std::to_string(s), .calls = true});
  }
}

/// Random stages, times and frames. One stream keeps the order of CPU stages under `async`.
inline drawn_run draw_of_graphs(std::uint64_t seed, strategy how, std::size_t in_flight,
                                std::size_t longest) {
  random_source random(seed);
  drawn_run made;
  made.planned = random_plan(random, 12, streams);
  finish(made.planned, how, graph_mode::frame, in_flight);
  make_nodes(made.planned, how == strategy::async ? 1 : 1 + below(random, 3), random);
  draw_times(made, random, longest);
  return made;
}

/// One frame's graph after another. In a graph a stage is ready once the stages that it waits for
/// and the one before it in its stream have ended. The device carries out one of its stages at a
/// time, and calls one CPU stage at a time: of those that are ready the one that was first, of
/// those that became so by one end the first of the plan.
class frame_scheduling {
 public:
  explicit frame_scheduling(const drawn_run& run) : run_(run), plan_(run.planned) {}

  outcome carry_out() && {
    const auto depth = static_cast<std::size_t>(plan_.run.in_flight);
    for (const auto& times : run_.times) {
      const std::size_t f = result_.frames.size();
      const nanoseconds begin = f < depth ? 0 : result_.frames[f - depth].end;
      result_.stages.emplace_back(plan_.stages.size());
      run_graph(times, result_.stages.back());
      result_.frames.push_back({begin, now_});
    }
    return std::move(result_);
  }

 private:
  /// The device, or the thread that it calls CPU stages on.
  struct engine {
    side of;
    std::vector<std::size_t> ready = {};  ///< the first that was so in front
    bool busy = false;
  };
  struct running {
    nanoseconds end;
    std::size_t stage;
    engine* by;
  };

  bool is_behind(std::size_t later, std::size_t earlier) const {
    const planned_stage& stage = plan_.stages[later];
    return (earlier < later && plan_.stages[earlier].stream == stage.stream) ||
           std::ranges::count(stage.waits, earlier, &dependency::stage) > 0;
  }

  /// Stages that wait for nothing more and have not been ready before.
  void find_ready() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      bool free = !was_ready_[s];
      for (std::size_t e = 0; e < plan_.stages.size(); ++e) {
        free = free && (ended_[e] || !is_behind(s, e));
      }
      if (!free) continue;
      was_ready_[s] = true;
      engines_[plan_.stages[s].on == side::cpu ? 0 : 1].ready.push_back(s);
    }
  }

  void run_graph(const std::vector<nanoseconds>& times, std::vector<span>& spans) {
    ended_.assign(plan_.stages.size(), false);
    was_ready_ = ended_;
    find_ready();
    while (std::ranges::count(ended_, false) > 0) {
      for (engine& each : engines_) {
        if (each.busy || each.ready.empty()) continue;
        const std::size_t s = each.ready.front();
        each.ready.erase(each.ready.begin());
        each.busy = true;
        if (each.of == side::cpu) spans[s].begin = now_;
        running_.push_back({now_ + times[s], s, &each});
      }
      ASSERT_FALSE(running_.empty()) << "nothing is left to happen";
      now_ = std::ranges::min_element(running_, {}, &running::end)->end;
      // In the order in which they were begun.
      std::erase_if(running_, [&](const running& each) {
        if (each.end != now_) return false;
        spans[each.stage].end = now_;
        ended_[each.stage] = true;
        each.by->busy = false;
        find_ready();
        return true;
      });
    }
  }

  const drawn_run& run_;
  const plan& plan_;
  std::vector<engine> engines_ = {{side::cpu}, {side::device}};
  std::vector<running> running_;
  nanoseconds now_ = 0;
  std::vector<bool> ended_;      ///< stages of the frame
  std::vector<bool> was_ready_;  ///< likewise
  outcome result_;
};

}  // namespace graphline::testing_plans
