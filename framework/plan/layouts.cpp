#include <algorithm>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

bool takes_channels_last(const planned_stage& stage, const std::string& backend) {
  const auto& backends = stage.kind->channels_last_on;
  return std::ranges::find(backends, backend) != backends.end();
}

std::vector<tensor_layout> layouts_of(const plan& p, const std::vector<std::size_t>& tensors) {
  std::vector<tensor_layout> layouts;
  for (const std::size_t t : tensors) layouts.push_back(p.tensors[t].layout);
  return layouts;
}

}  // namespace

void choose_layouts(plan& p, const std::string& backend) {
  for (planned_tensor& tensor : p.tensors) {
    if (tensor.on != side::device || tensor.input || tensor.output()) continue;
    if (tensor.type.shape.rank() != 4) continue;
    const auto takes = [&](std::size_t s) { return takes_channels_last(p.stages[s], backend); };
    if (!takes(tensor.producer) || !std::ranges::all_of(tensor.consumers, takes)) continue;
    tensor.layout = tensor_layout::channels_last;
  }
  for (planned_stage& stage : p.stages) {
    stage.config.input_layouts = layouts_of(p, stage.reads);
    stage.config.output_layouts = layouts_of(p, stage.writes);
  }
}

}  // namespace graphline::planning
