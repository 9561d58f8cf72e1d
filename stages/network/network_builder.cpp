#include "stages/network/network_builder.hpp"

#include <fmt/format.h>

#include <utility>

namespace graphline {

std::string network_builder::owner(const network_layer& layer) const {
  return fmt::format("stage '{}', layer '{}'", stage_, layer.name);
}

void network_builder::note(const std::string& text) {
  if (!notes_.empty()) notes_ += between_;
  notes_ += text;
}

void network_builder::add_part(program& to, const fused_layers& group, std::size_t end) {
  std::string notes = std::exchange(notes_, {});
  if (end == (to.parts.empty() ? 0 : to.parts.back().end_steps)) return;
  to.parts.push_back(
      {name_of(network_, group), std::move(notes), cost_of(network_, group, sizes_), end});
}

void network_builder::finish_parts(program& of, std::size_t end) {
  if (of.parts.empty()) {
    const fused_layers whole{.head = network_.layers.size() - 1};
    of.parts.push_back({name_of(network_, whole), "", cost_of(network_, whole, sizes_), 0});
  }
  program_part& last = of.parts.back();
  if (!last.choice.empty() && !notes_.empty()) last.choice += between_;
  last.choice += notes_;
  last.end_steps = end;
}

}  // namespace graphline
