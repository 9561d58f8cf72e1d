#include "stages/nn/fusion/layer_program.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace graphline::nn {

bool along_channels(const shape& extents, const shape& of, std::size_t axis) {
  for (std::size_t i = 0; i < extents.rank(); ++i) {
    const std::size_t at = i + of.rank() - extents.rank();
    if (extents[i] != 1 && (at != axis || extents[i] != of[axis])) return false;
  }
  return true;
}

program_source followed_product::bias_term() const {
  std::vector<std::int64_t> extents(inner + 1, 1);
  extents[0] = std::ssize(weights.bias);
  return {shape(std::move(extents)), {}, {weights.bias.begin(), weights.bias.end()}};
}

followed_product followed_product_of(const network_definition& network, const weight_table& weights,
                                     const fused_layers& group, std::size_t axis) {
  const network_layer& head = network.layers[group.head];
  const shape& out = network.output_of(head);
  followed_product made{weights_of(weights, head),
                        program_of(network, weights, group.epilogue, axis, head.outputs.front()),
                        out.rank() - 1 - axis};
  if (made.layers.folded) {
    made.weights.fold(*made.layers.folded, static_cast<std::size_t>(out[axis]));
  }
  return made;
}

std::size_t layer_program::uses(std::size_t of) const {
  auto count = static_cast<std::size_t>(std::ranges::count(program.results, of));
  for (const pointwise_program::step& step : program.steps) {
    const auto operands = static_cast<std::size_t>(traits_of(step.layer.function).operands);
    count += static_cast<std::size_t>(std::ranges::count(std::span(step.from).first(operands), of));
  }
  return count;
}

std::optional<layer_program::chained_step> layer_program::chained(std::size_t step) const {
  const std::size_t before = step == 0 ? 0 : program.operands + step - 1;
  const pointwise_program::step& of = program.steps[step];
  const int operands = traits_of(of.layer.function).operands;
  if (uses(before) != 1 || operands > 2) return {};
  const bool first = of.from[0] == before;
  if (operands == 1) return first ? std::optional(chained_step{of.layer}) : std::nullopt;
  const std::size_t other = of.from[first ? 1 : 0];
  if (other >= program.operands || (!first && of.from[1] != before)) return {};
  return chained_step{of.layer, other, first};
}

layer_program layer_program::plus(program_source term) const {
  layer_program made = *this;
  made.sources.push_back(std::move(term));
  ++made.program.operands;
  const auto sum = static_cast<std::uint16_t>(made.program.operands);
  const auto renumbered = [&](std::size_t before) {
    if (before == 0) return std::size_t{sum};
    return before < program.operands ? before : before + 2;
  };
  for (pointwise_program::step& step : made.program.steps) {
    for (std::uint16_t& from : step.from) from = static_cast<std::uint16_t>(renumbered(from));
  }
  const pointwise_program::step first{{pointwise_function::add},
                                      {0, static_cast<std::uint16_t>(program.operands)}};
  made.program.steps.insert(made.program.steps.begin(), first);
  made.done.insert(made.done.begin(), folded_layers);
  made.program.results = {renumbered(program.results.front())};
  return made;
}

layer_program layer_program::after(std::size_t steps) const {
  if (steps == 0) return *this;
  const std::size_t first = program.operands + steps - 1;
  layer_program rest{.sources = {sources.front()}, .program = {}};
  // The last step taken is the first operand, and of the other operands those stay that are read.
  std::map<std::size_t, std::size_t> number{{first, 0}};
  const auto operand = [&](std::size_t before) {
    if (before < program.operands && !number.contains(before)) {
      number[before] = rest.sources.size();
      rest.sources.push_back(sources[before]);
    }
  };
  for (std::size_t i = steps; i < program.steps.size(); ++i) {
    const pointwise_program::step& step = program.steps[i];
    const int operands = traits_of(step.layer.function).operands;
    for (int k = 0; k < operands; ++k) operand(step.from[static_cast<std::size_t>(k)]);
  }
  rest.program.operands = rest.sources.size();
  for (std::size_t i = steps; i < program.steps.size(); ++i) {
    pointwise_program::step step{program.steps[i].layer, {}};
    const int operands = traits_of(step.layer.function).operands;
    for (std::size_t k = 0; k < static_cast<std::size_t>(operands); ++k) {
      step.from[k] = static_cast<std::uint16_t>(number.at(program.steps[i].from[k]));
    }
    number[program.operands + i] = rest.program.operands + rest.program.steps.size();
    rest.program.steps.push_back(step);
    rest.done.push_back(done[i]);
  }
  rest.program.results = {number.at(program.results.front())};
  return rest;
}

}  // namespace graphline::nn
