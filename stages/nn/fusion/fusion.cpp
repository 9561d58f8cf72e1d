#include "stages/nn/fusion/fusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

namespace graphline::nn {
namespace {

bool is_product(const network_layer& layer) {
  return std::holds_alternative<conv2d_layer>(layer.operation) ||
         std::holds_alternative<linear_layer>(layer.operation) ||
         std::holds_alternative<conv_transpose2d_layer>(layer.operation);
}

/// Returns the only input that is not a constant; empty if there are several.
std::optional<std::size_t> only_input(const network_definition& network, const network_layer& of) {
  std::optional<std::size_t> found;
  for (const std::size_t value : of.inputs) {
    if (network.values[value].constant) continue;
    if (found) return {};
    found = value;
  }
  return found;
}

/// Returns true for each value that a product or an element-wise chain after it computes.
std::vector<bool> values_of_products(const network_definition& network) {
  const std::vector<std::size_t> readers = reads_of_values(network);
  std::vector<bool> of_products(network.values.size(), false);
  for (const network_layer& of : network.layers) {
    const auto input = is_element_wise(of) ? only_input(network, of) : std::nullopt;
    const bool continues = input && readers[*input] == 1 && of_products[*input];
    of_products[of.outputs.front()] = is_product(of) || continues;
  }
  return of_products;
}

}  // namespace

std::vector<std::size_t> layer_group::members() const {
  std::vector<std::size_t> all{head};
  all.insert(all.end(), epilogue.begin(), epilogue.end());
  return all;
}

bool is_element_wise(const network_layer& layer) {
  return std::holds_alternative<batch_norm2d_layer>(layer.operation) ||
         std::holds_alternative<pointwise_layer>(layer.operation);
}

std::vector<layer_group> group_layers(const network_definition& network) {
  // Visit layers backward, because a layer's readers decide which group it joins.
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  constexpr std::size_t most_values = 18;  // values that a group reads or computes
  struct open_group {
    std::vector<std::size_t> layers;  // last layer first
    std::size_t values = 0;
    std::optional<std::size_t> product = {};
  };
  const std::vector<bool> of_products = values_of_products(network);
  std::vector<open_group> groups;
  std::vector<std::vector<std::size_t>> readers(network.values.size());  // groups, or `none`
  for (const std::size_t value : network.outputs) readers[value].push_back(none);
  for (std::size_t index = network.layers.size(); index-- > 0;) {
    const network_layer& layer = network.layers[index];
    const bool element_wise = is_element_wise(layer);
    const bool product = is_product(layer);
    const std::vector<std::size_t>& of = readers[layer.outputs.front()];
    // The layer adds a register for its result and a register for each input after the first.
    const std::size_t values = element_wise ? layer.inputs.size() : 0;
    std::size_t group = none;
    if ((element_wise || product) && !of.empty() && of[0] != none &&
        std::ranges::count(of, of[0]) == std::ssize(of)) {
      const open_group& reader = groups[of[0]];
      const std::size_t end = reader.layers.empty() ? *reader.product : reader.layers.front();
      const network_layer& last = network.layers[end];
      const bool fits = is_element_wise(last) &&
                        !(reader.product && of_products[layer.outputs.front()]) &&
                        network.output_of(last) == network.output_of(layer) &&
                        reader.values + values <= most_values;
      if (fits) group = of[0];
    }
    if (group == none) {
      group = groups.size();
      groups.emplace_back();
    }
    open_group& joined = groups[group];
    joined.values += values;
    if (product) {
      joined.product = index;
    } else {
      joined.layers.push_back(index);
    }
    // The product, not its epilogue, reads these inputs.
    for (const std::size_t value : layer.inputs) readers[value].push_back(product ? none : group);
  }
  std::vector<layer_group> fused;
  for (const open_group& group : groups) {
    layer_group& made = fused.emplace_back();
    made.epilogue.assign(group.layers.rbegin(), group.layers.rend());
    if (group.product) {
      made.head = *group.product;
    } else {
      made.head = made.epilogue.front();
      made.epilogue.erase(made.epilogue.begin());
    }
  }
  std::ranges::sort(fused, {}, &layer_group::last);
  return fused;
}

cost cost_of(const network_definition& network, const layer_group& group,
             const element_sizes& sizes) {
  const auto among = [](const std::vector<std::size_t>& values, std::size_t value) {
    return std::ranges::find(values, value) != values.end();
  };
  const auto bytes_of = [&](std::size_t value, std::int64_t elements) {
    const std::size_t size = among(network.inputs, value)    ? sizes.input
                             : among(network.outputs, value) ? sizes.output
                                                             : sizes.inside;
    return elements * static_cast<std::int64_t>(size);
  };
  const auto all_bytes_of = [&](std::size_t value) {
    return bytes_of(value, network.shape_of(value).elements());
  };
  cost sum;
  std::int64_t parameters = 0;
  std::int64_t taken = 0;
  std::int64_t own = 0;  // elements of constants that are not in the original model
  struct elements {
    std::int64_t as_written = 0;
    std::int64_t all = 0;
  };
  std::map<std::size_t, elements> read;  // per value
  std::set<std::size_t> inside;
  for (const std::size_t layer : group.members()) {
    const network_layer& of = network.layers[layer];
    sum.parameters += of.cost.parameters;
    sum.macs += of.cost.macs;
    sum.flops += of.cost.flops;
    // A take reads only some elements of its table.
    const bool takes = std::holds_alternative<take_layer>(of.operation);
    if (!takes) parameters += of.cost.parameters + of.shared_parameters;
    for (std::size_t i = 0; i < of.inputs.size(); ++i) {
      const std::size_t value = of.inputs[i];
      if (inside.contains(value)) continue;
      const std::int64_t all = elements_read(network, of, i);
      if (takes && i == 0) {
        taken += all_bytes_of(of.outputs.front());
      } else if (network.values[value].constant) {
        own += elements_beyond(network, of, i);
      } else {
        const std::int64_t most = network.shape_of(value).elements();
        elements& of_value = read[value];
        of_value.all = std::min(of_value.all + all, most);
        if (!is_view(of)) of_value.as_written = std::min(of_value.as_written + of.reads[i], most);
      }
    }
    inside.insert(of.outputs.begin(), of.outputs.end());
  }
  const auto size_inside = static_cast<std::int64_t>(sizes.inside);
  sum.bytes_read = parameters * size_inside + taken;
  sum.bytes_rearranged = own * size_inside;
  for (const auto& [value, elements] : read) {
    sum.bytes_read += bytes_of(value, elements.as_written);
    sum.bytes_rearranged += bytes_of(value, elements.all - elements.as_written);
  }
  const network_layer& last = network.layers[group.last()];
  for (const std::size_t value : last.outputs) {
    const bool beyond = network.values[value].written == 0 || is_view(last);
    (beyond ? sum.bytes_rearranged : sum.bytes_written) += all_bytes_of(value);
  }
  return sum;
}

std::string name_of(const network_definition& network, const layer_group& group) {
  std::string name;
  for (const std::size_t layer : group.members()) {
    name += (name.empty() ? "" : "+") + network.layers[layer].name;
  }
  return name;
}

// Returns a batch norm as v s + bias - mean s with s = weight / sqrt(var + eps), per channel.
channel_affine affine_of(const weight_table& weights, const network_layer& norm) {
  const auto scale = weights.of(norm, 1);
  const auto bias = weights.of(norm, 2);
  const auto mean = weights.of(norm, 3);
  const auto variance = weights.of(norm, 4);
  const double eps = std::get<batch_norm2d_layer>(norm.operation).eps;

  channel_affine result;
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const double factor = scale[c] / std::sqrt(static_cast<double>(variance[c]) + eps);
    result.scale.push_back(factor);
    result.shift.push_back(static_cast<double>(bias[c]) - static_cast<double>(mean[c]) * factor);
  }
  return result;
}

conv_weights weights_of(const weight_table& weights, const network_layer& product) {
  const auto weight = weights.of(product, 1);
  const auto bias = weights.of(product, 2);
  conv_weights values{{weight.begin(), weight.end()}, {bias.begin(), bias.end()}};
  const auto* transposed = std::get_if<conv_transpose2d_layer>(&product.operation);
  if (transposed == nullptr) return values;
  // The weight is stored as [in_channels, out_channels / groups, ...].
  const std::int64_t taps = transposed->kernel[0] * transposed->kernel[1];
  const std::int64_t out_of_group = transposed->out_channels / transposed->groups;
  const auto in_of_group = std::ssize(weight) / (transposed->out_channels * taps);
  values.weight.clear();
  for (std::int64_t channel = 0; channel < transposed->out_channels; ++channel) {
    const std::int64_t group = channel / out_of_group;
    for (std::int64_t i = 0; i < in_of_group; ++i) {
      const std::int64_t from = (group * in_of_group + i) * out_of_group + channel % out_of_group;
      const auto begin = weight.begin() + from * taps;
      values.weight.insert(values.weight.end(), begin, begin + taps);
    }
  }
  return values;
}

void conv_weights::fold(const channel_affine& affine, std::size_t channels) {
  const std::size_t per_channel = weight.size() / channels;
  bias.resize(channels, 0.0F);
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = affine.scale_of(c);
    for (std::size_t i = c * per_channel; i < (c + 1) * per_channel; ++i) {
      weight[i] = static_cast<float>(weight[i] * scale);
    }
    bias[c] = static_cast<float>(static_cast<double>(bias[c]) * scale + affine.shift_of(c));
  }
}

}  // namespace graphline::nn
