#include "framework/analysis/stage_waits.hpp"

#include <algorithm>

namespace graphline {

namespace {

satisfied_by how_satisfied(const stage_record& earlier, const stage_record& later,
                           const settings& run) {
  if (run.graphs != graph_mode::frame) {
    if (earlier.on == side::cpu) return satisfied_by::cpu_return;
    if (later.on == side::cpu) return satisfied_by::completion;
  }
  return earlier.stream == later.stream ? satisfied_by::stream_order : satisfied_by::event_wait;
}

}  // namespace

stage_waits::stage_waits(const run_record& record)
    : record_(record),
      assumed_(record.tensors.empty() &&
               std::all_of(record.stages.begin(), record.stages.end(),
                           [](const stage_record& stage) { return stage.waits.empty(); })) {
  if (!assumed_) return;
  for (std::size_t later = 1; later < record.stages.size(); ++later) {
    const auto& earlier = record.stages[later - 1];
    in_turn_.push_back({later - 1, how_satisfied(earlier, record.stages[later], record.run)});
  }
}

std::span<const wait_record> stage_waits::of(std::size_t stage) const {
  if (!assumed_) return record_.stages[stage].waits;
  if (stage == 0) return {};
  return std::span(in_turn_).subspan(stage - 1, 1);
}

}  // namespace graphline
