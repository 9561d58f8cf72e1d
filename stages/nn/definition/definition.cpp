#include "stages/nn/definition/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace graphline::nn {

shape as_rows(const shape& s) {
  const std::int64_t last = s[s.rank() - 1];
  return {s.elements() / last, last};
}

shape first_of(std::int64_t extent, std::size_t rank) {
  std::vector<std::int64_t> extents(rank, 1);
  extents.front() = extent;
  return shape(std::move(extents));
}

bool is_view(const network_layer& layer) {
  return std::holds_alternative<reshape_layer>(layer.operation);
}

// Slices, gathers and products of strided matrices read only part of a value.
std::int64_t elements_read(const network_definition& network, const network_layer& layer,
                           std::size_t input) {
  const bool takes = (std::holds_alternative<take_layer>(layer.operation) ||
                      std::holds_alternative<indexed_gather_layer>(layer.operation)) &&
                     input == 0;
  if (takes || std::holds_alternative<slice_layer>(layer.operation) ||
      std::holds_alternative<gather_layer>(layer.operation)) {
    return network.output_of(layer).elements();
  }
  const auto* product = std::get_if<matmul_layer>(&layer.operation);
  if (product != nullptr) {
    const auto& matrices = input == 0 ? product->a : product->b;
    if (matrices) return matrices->extents.elements();
  }
  return network.shape_of(layer.inputs[input]).elements();
}

// Ignores a constant with one element, which is part of a formula.
std::int64_t elements_beyond(const network_definition& network, const network_layer& layer,
                             std::size_t input) {
  const network_value& value = network.values[layer.inputs[input]];
  if (value.constant && value.type.shape.elements() == 1) return 0;
  return std::max<std::int64_t>(elements_read(network, layer, input) - layer.reads[input], 0);
}

std::vector<std::size_t> reads_of_values(const network_definition& network) {
  std::vector<std::size_t> counts(network.values.size(), 0);
  for (const std::size_t value : network.outputs) ++counts[value];
  for (const network_layer& layer : network.layers) {
    for (const std::size_t value : layer.inputs) ++counts[value];
  }
  return counts;
}

void count_bytes(const network_definition& network, network_layer& layer) {
  cost& counted = layer.cost;
  counted.bytes_read = counted.bytes_written = counted.bytes_rearranged = 0;
  if (is_view(layer)) return;
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const network_value& value = network.values[layer.inputs[i]];
    const auto size = static_cast<std::int64_t>(size_of(value.type.element));
    counted.bytes_read += size * layer.reads[i];
    counted.bytes_rearranged += size * elements_beyond(network, layer, i);
  }
  for (const std::size_t output : layer.outputs) {
    const network_value& value = network.values[output];
    const auto bytes = static_cast<std::int64_t>(value.type.bytes());
    (value.written == 0 ? counted.bytes_rearranged : counted.bytes_written) += bytes;
  }
}

std::size_t definition_builder::add_value(network_value value) {
  network_.values.push_back(std::move(value));
  return network_.values.size() - 1;
}

std::size_t definition_builder::add_input(std::string name, tensor_type type) {
  network_.inputs.push_back(add_value({std::move(name), std::move(type)}));
  return network_.inputs.back();
}

std::size_t definition_builder::add_constant(std::string name, tensor_type type,
                                             std::optional<std::int64_t> written,
                                             std::optional<std::size_t> same_as) {
  network_value value{std::move(name), std::move(type), /*constant=*/true};
  value.written = written;
  const std::size_t added = add_value(std::move(value));
  if (same_as) same_as_[added] = *same_as;
  return added;
}

void definition_builder::make_whole(std::size_t first_layer) {
  for (const network_layer& layer : std::span(network_.layers).subspan(first_layer)) {
    for (const std::size_t output : layer.outputs) network_.values[output].whole = true;
  }
}

void definition_builder::set_flops(std::size_t value, std::int64_t flops) {
  for (network_layer& layer : network_.layers) {
    if (layer.outputs.front() == value) layer.cost.flops = flops;
  }
}

void definition_builder::make_node(std::size_t first_layer, std::span<const std::size_t> read,
                                   std::span<const std::size_t> given) {
  const std::span layers = std::span(network_.layers).subspan(first_layer);
  std::map<std::size_t, std::size_t> lies_in;  // the value whose elements a view shows
  const auto place_of = [&](std::size_t value) {
    const auto found = lies_in.find(value);
    return found == lies_in.end() ? value : found->second;
  };
  std::map<std::size_t, std::int64_t> left;  // unread elements of each value
  for (const std::size_t value : read) left[value] += network_.shape_of(value).elements();
  std::set<std::size_t> made;
  for (network_layer& layer : layers) {
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      if (network_.values[layer.inputs[i]].constant) continue;
      const std::size_t from = place_of(layer.inputs[i]);
      layer.reads[i] = made.contains(from) ? 0 : std::min(layer.reads[i], left[from]);
      if (!is_view(layer) && !made.contains(from)) left[from] -= layer.reads[i];
    }
    for (const std::size_t output : layer.outputs) {
      if (is_view(layer)) {
        lies_in[output] = place_of(layer.inputs.front());
      } else {
        made.insert(output);
      }
    }
  }
  for (const std::size_t value : given) made.erase(place_of(value));
  for (const std::size_t value : made) network_.values[value].written = 0;
  for (network_layer& layer : layers) count_bytes(network_, layer);
}

/// Refuses a tensor above 64 TiB or a network above 2^57 FLOPs; below these limits, sizes and costs
/// fit into 64 bits.
std::optional<layer_shape> definition_builder::infer(const network_layer& layer,
                                                     std::span<const std::string> givers,
                                                     layer_problems& problems) {
  constexpr std::size_t most_dimensions = 12;  // oneDNN's limit
  constexpr std::int64_t most_elements = std::int64_t{1} << 44;
  constexpr std::int64_t most_flops = std::int64_t{1} << 57;
  return problems.result_of([&] {
    std::vector<layer_input> read;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      read.push_back({givers[i], network_.shape_of(layer.inputs[i])});
      if (read.back().shape.rank() <= most_dimensions) continue;
      problems.refuse("takes at most {} dimensions but {} gives {}", most_dimensions, givers[i],
                      to_string(read.back().shape));
    }
    layer_shape inferred = shape_rule(layer.operation, read, problems);
    if (inferred.output.rank() > most_dimensions) {
      problems.refuse("gives {}, of more than {} dimensions", to_string(inferred.output),
                      most_dimensions);
    }
    const auto small = [](const shape& s) {
      return s.checked_elements().value_or(most_elements + 1) <= most_elements;
    };
    const bool fits = small(inferred.output) && std::ranges::all_of(inferred.further, small) &&
                      std::ranges::all_of(inferred.weights, small, &weight_spec::shape);
    flops_ = std::min(flops_ + std::min(inferred.cost.flops, most_flops), most_flops);
    if (!fits || flops_ == most_flops) {
      problems.refuse(
          "would give {} with more than 2^44 elements in a tensor or 2^57 FLOPs in the network",
          to_string(inferred.output));
    }
    return inferred;
  });
}

/// Counts each constant as parameters of its first reader. Constants with one element that are not
/// weights belong to a formula and do not count. `weights` is the number of weights among the
/// inputs.
void definition_builder::count_parameters(network_layer& layer, std::size_t weights) {
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const network_value& value = network_.values[layer.inputs[i]];
    if (!value.constant) continue;
    const bool weight = i + weights >= layer.inputs.size();
    const std::int64_t elements = value.type.shape.elements();
    if (!weight && elements == 1) continue;
    const auto same = same_as_.find(layer.inputs[i]);
    const bool first =
        counted_.insert(same == same_as_.end() ? layer.inputs[i] : same->second).second;
    (first ? layer.cost.parameters : layer.shared_parameters) += value.written_elements();
  }
}

std::optional<std::size_t> definition_builder::add_layer(network_layer layer,
                                                         const layer_weights& weights,
                                                         std::span<const std::string> givers,
                                                         layer_problems& problems) {
  const auto inferred = infer(layer, givers, problems);
  if (!inferred) return {};
  const auto* prefix = std::get_if<std::string>(&weights);
  for (std::size_t i = 0; i < inferred->weights.size(); ++i) {
    const weight_spec& wanted = inferred->weights[i];
    if (prefix != nullptr) {
      layer.inputs.push_back(add_value({.name = fmt::format("{}.{}", *prefix, wanted.name),
                                        .type = {wanted.shape, dtype::float32},
                                        .constant = true,
                                        .initial = wanted.initial}));
      continue;
    }
    const auto& all = std::get<std::vector<std::size_t>>(weights);
    if (i >= all.size() || network_.shape_of(all[i]) != wanted.shape) {
      problems.report_at("", "needs {} of {} but has {}", wanted.name, to_string(wanted.shape),
                         i < all.size() ? to_string(network_.shape_of(all[i])) : "none");
      return {};
    }
    layer.inputs.push_back(all[i]);
  }
  layer.cost = inferred->cost;
  count_parameters(layer, inferred->weights.size());
  layer.outputs = {add_value({layer.name, {inferred->output, inferred->element}})};
  for (const shape& further : inferred->further) {
    layer.outputs.push_back(add_value({layer.name, {further, inferred->element}}));
  }
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const auto& written = network_.values[layer.inputs[i]].written;
    layer.reads.push_back(written.value_or(elements_read(network_, layer, i)));
  }
  count_bytes(network_, layer);
  network_.layers.push_back(std::move(layer));
  return network_.layers.back().outputs.front();
}

}  // namespace graphline::nn
