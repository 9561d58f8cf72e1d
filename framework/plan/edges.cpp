#include <algorithm>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

satisfied_by how_satisfied(const planned_stage& earlier, const planned_stage& later,
                           graph_mode graphs) {
  // In a frame's graph CPU stages are nodes like others.
  if (graphs != graph_mode::frame) {
    if (earlier.on == side::cpu) return satisfied_by::cpu_return;
    if (later.on == side::cpu) return satisfied_by::completion;
  }
  return earlier.stream == later.stream ? satisfied_by::stream_order : satisfied_by::event_wait;
}

}  // namespace

void settle_edges(plan& p) {
  const std::size_t count = p.stages.size();
  const bool whole_frame = p.run.graphs == graph_mode::frame;
  for (std::size_t s = 0; s < count; ++s) {
    for (dependency& wait : p.stages[s].waits) {
      planned_stage& earlier = p.stages[wait.stage];
      wait.how = how_satisfied(earlier, p.stages[s], p.run.graphs);
      earlier.followers.push_back(s);
      if (!whole_frame && earlier.on != side::device) continue;
      if (wait.how != satisfied_by::stream_order) earlier.signals = true;
      if (wait.how == satisfied_by::completion) earlier.host_waits = true;
    }
  }
  p.reach.assign(count, bit_set(count));
  for (std::size_t s = count; s-- > 0;) {
    planned_stage& stage = p.stages[s];
    // The end of the frame waits for what nothing follows.
    if (stage.followers.empty() && (whole_frame || stage.on == side::device)) {
      stage.signals = true;
      stage.host_waits = !whole_frame;
    }
    for (const std::size_t f : stage.followers) {
      p.reach[s] |= p.reach[f];
      p.reach[s].set(f);
    }
  }
}

}  // namespace graphline::planning
