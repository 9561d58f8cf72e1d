#include "stages/nn/fusion/expression.hpp"

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

expression_source followed_product::bias_term() const {
  std::vector<std::int64_t> extents(inner + 1, 1);
  extents[0] = std::ssize(weights.bias);
  return {shape(std::move(extents)), {}, {weights.bias.begin(), weights.bias.end()}};
}

followed_product followed_product_of(const network_definition& network, const weight_table& weights,
                                     const layer_group& group, std::size_t axis) {
  const network_layer& head = network.layers[group.head];
  const shape& out = network.output_of(head);
  followed_product made{weights_of(weights, head),
                        expression_of(network, weights, group.epilogue, axis, head.outputs.front()),
                        out.rank() - 1 - axis};
  if (made.layers.folded) {
    made.weights.fold(*made.layers.folded, static_cast<std::size_t>(out[axis]));
  }
  return made;
}

std::size_t group_expression::uses(std::size_t of) const {
  auto count = std::ranges::count(results, of);
  for (const step& each : steps) count += std::ranges::count(each.reads(), of);
  return static_cast<std::size_t>(count);
}

std::optional<group_expression::chained_step> group_expression::chained(std::size_t index) const {
  const std::size_t before = index == 0 ? 0 : operands + index - 1;
  const step& of = steps[index];
  const std::size_t reads = of.reads().size();
  if (uses(before) != 1 || reads > 2) return {};
  const bool first = of.from[0] == before;
  if (reads == 1) return first ? std::optional(chained_step{of.layer}) : std::nullopt;
  const std::size_t other = of.from[first ? 1 : 0];
  if (other >= operands || (!first && of.from[1] != before)) return {};
  return chained_step{of.layer, other, first};
}

group_expression group_expression::plus(expression_source term) const {
  group_expression made = *this;
  made.sources.push_back(std::move(term));
  ++made.operands;
  const auto sum = static_cast<std::uint16_t>(made.operands);
  const auto renumbered = [&](std::size_t before) {
    if (before == 0) return std::size_t{sum};
    return before < operands ? before : before + 2;
  };
  for (step& each : made.steps) {
    for (std::uint16_t& from : each.from) from = static_cast<std::uint16_t>(renumbered(from));
  }
  const step first{{pointwise_function::add}, {0, static_cast<std::uint16_t>(operands)}};
  made.steps.insert(made.steps.begin(), first);
  made.done.insert(made.done.begin(), folded_layers);
  made.results = {renumbered(results.front())};
  return made;
}

group_expression group_expression::after(std::size_t count) const {
  if (count == 0) return *this;
  const std::size_t first = operands + count - 1;
  group_expression rest;
  rest.sources = {sources.front()};
  // The last step taken is the first operand, and of the other operands those stay that are read.
  std::map<std::size_t, std::size_t> number{{first, 0}};
  for (std::size_t i = count; i < steps.size(); ++i) {
    for (const std::size_t from : steps[i].reads()) {
      if (from >= operands || !number.try_emplace(from, rest.sources.size()).second) continue;
      rest.sources.push_back(sources[from]);
    }
  }
  rest.operands = rest.sources.size();
  for (std::size_t i = count; i < steps.size(); ++i) {
    step next{steps[i].layer, {}};
    const auto reads = steps[i].reads();
    for (std::size_t k = 0; k < reads.size(); ++k) {
      next.from[k] = static_cast<std::uint16_t>(number.at(reads[k]));
    }
    number[operands + i] = rest.operands + rest.steps.size();
    rest.steps.push_back(next);
    rest.done.push_back(done[i]);
  }
  rest.results = {number.at(results.front())};
  return rest;
}

}  // namespace graphline::nn
