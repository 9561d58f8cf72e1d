#include "stages/nn/program/network_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace graphline::nn {

std::string network_lowering::owner(const network_layer& layer) const {
  return fmt::format("{}, layer '{}'", owner_, layer.name);
}

void network_lowering::note(const std::string& text) {
  if (!notes_.empty()) notes_ += between_;
  notes_ += text;
}

void network_lowering::add_part(program& to, const layer_group& group, std::size_t end) {
  std::string notes = std::exchange(notes_, {});
  if (end == (to.parts.empty() ? 0 : to.parts.back().end_steps)) return;
  to.parts.push_back(
      {name_of(network_, group), std::move(notes), cost_of(network_, group, sizes_), end});
}

std::vector<std::size_t> network_lowering::outputs_of(const layer_group& group) const {
  const std::vector<std::size_t>& given = network_.layers[group.last()].outputs;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < network_.outputs.size(); ++i) {
    if (std::ranges::find(given, network_.outputs[i]) != given.end()) found.push_back(i);
  }
  return found;
}

}  // namespace graphline::nn
