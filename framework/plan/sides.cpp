#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

constexpr side other(side s) {
  return s == side::device ? side::cpu : side::device;
}

/// Puts inputs where the user did, else on the side of the stage that reads them first. One that is
/// only moved by the user's own copies comes from the host, as real inputs do.
void choose_sides_of_inputs(draft& d) {
  std::vector<bool> chosen(d.tensors.size(), false);
  for (std::size_t t = 0; t < d.tensors.size(); ++t) {
    if (d.tensors[t].input == nullptr) continue;
    chosen[t] = d.tensors[t].input->on.has_value();
    d.tensors[t].on = d.tensors[t].input->on.value_or(side::cpu);
  }
  for (const std::size_t s : d.order) {
    const draft_stage& stage = d.stages[s];
    if (stage.kind == nullptr || stage.kind->moves) continue;
    for (const std::size_t t : stage.reads) {
      if (t == none || d.tensors[t].input == nullptr || chosen[t]) continue;
      d.tensors[t].on = stage.kind->on;
      chosen[t] = true;
    }
  }
}

}  // namespace

side reading_side(const draft& d, const draft_stage& stage) {
  if (!stage.kind->moves || stage.reads.empty() || stage.reads[0] == none) return stage.kind->on;
  return d.tensors[stage.reads[0]].on;
}

void choose_sides(draft& d) {
  choose_sides_of_inputs(d);
  for (const std::size_t s : d.order) {
    const draft_stage& stage = d.stages[s];
    if (stage.kind == nullptr) continue;
    const side reads = reading_side(d, stage);
    for (const std::size_t t : stage.writes) {
      if (t != none) d.tensors[t].on = stage.kind->moves ? other(reads) : stage.kind->on;
    }
  }
}

}  // namespace graphline::planning
