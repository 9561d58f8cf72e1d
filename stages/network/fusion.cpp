#include "stages/network/fusion.hpp"

#include <cmath>
#include <cstdint>
#include <set>

namespace graphline {
namespace {

template <class Layer>
bool is(const network_definition& network, std::size_t layer) {
  return std::holds_alternative<Layer>(network.layers[layer].operation);
}

/// How many layers read each value.
std::vector<int> count_readers(const network_definition& network) {
  std::vector<int> readers(network.layers.size() + 1, 0);
  for (const network_layer& layer : network.layers) {
    for (const std::size_t value : layer.inputs) ++readers[value];
  }
  return readers;
}

bool takes_epilogue(const network_definition& network, std::size_t layer, fused_heads heads) {
  if (is<conv2d_layer>(network, layer) || is<linear_layer>(network, layer) ||
      is<add_layer>(network, layer)) {
    return true;
  }
  return heads == fused_heads::element_wise_too &&
         (is<batch_norm2d_layer>(network, layer) || is<activation_layer>(network, layer));
}

/// Whether the layer after a group takes the group's value where an epilogue does, and nobody else
/// reads that: a second reader (an add further on, or x + x) needs the value itself.
bool continues(const network_definition& network, const std::vector<int>& readers,
               std::size_t next) {
  return readers[next] == 1 && network.layers[next].inputs.front() == next;
}

/// Takes the layer after the group into it if it fits there.
bool extend(fused_layers& group, bool& has_add, std::size_t next,
            const network_definition& network) {
  if (is<batch_norm2d_layer>(network, next)) {
    if (!is<conv2d_layer>(network, group.head) || group.last() != group.head) return false;
    group.norm = next;
    return true;
  }
  if (is<add_layer>(network, next)) {
    if (has_add) return false;
    has_add = true;
  } else if (!is<activation_layer>(network, next)) {
    return false;
  }
  group.epilogue.push_back(next);
  return true;
}

}  // namespace

std::vector<fused_layers> fuse_layers(const network_definition& network, fused_heads heads) {
  const std::vector<int> readers = count_readers(network);
  std::vector<fused_layers> groups;
  for (std::size_t layer = 0; layer < network.layers.size(); layer = groups.back().last() + 1) {
    fused_layers& group = groups.emplace_back(fused_layers{.head = layer});
    bool has_add = is<add_layer>(network, layer);
    if (!takes_epilogue(network, layer, heads)) continue;
    std::size_t next = layer + 1;
    while (next < network.layers.size() && continues(network, readers, next) &&
           extend(group, has_add, next, network)) {
      ++next;
    }
  }
  return groups;
}

split_epilogue split_at_add(const network_definition& network, const fused_layers& group) {
  split_epilogue parts;
  for (const std::size_t layer : group.epilogue) {
    if (is<add_layer>(network, layer)) {
      parts.add = layer;
    } else {
      (parts.add ? parts.after : parts.before).push_back(layer);
    }
  }
  return parts;
}

cost cost_of(const network_definition& network, const fused_layers& group,
             const element_sizes& sizes) {
  const auto bytes_of = [&](std::size_t value) {
    const std::size_t size = value == 0                       ? sizes.input
                             : value == network.layers.size() ? sizes.output
                                                              : sizes.inside;
    return network.shape_of(value).elements() * static_cast<std::int64_t>(size);
  };
  cost sum;
  std::set<std::size_t> read;
  for (std::size_t layer = group.head; layer <= group.last(); ++layer) {
    const network_layer& of = network.layers[layer];
    sum.parameters += of.cost.parameters;
    sum.macs += of.cost.macs;
    sum.flops += of.cost.flops;
    for (const std::size_t value : of.inputs) {
      if (value <= group.head || value > group.last() + 1) read.insert(value);
    }
  }
  sum.bytes_read = sum.parameters * static_cast<std::int64_t>(sizes.inside);
  for (const std::size_t value : read) sum.bytes_read += bytes_of(value);
  sum.bytes_written = bytes_of(group.last() + 1);
  return sum;
}

std::string name_of(const network_definition& network, const fused_layers& group) {
  // A group is a run of neighboring layers.
  std::string name = network.layers[group.head].name;
  for (std::size_t layer = group.head + 1; layer <= group.last(); ++layer) {
    name += "+" + network.layers[layer].name;
  }
  return name;
}

// norm(v) = (v - mean) s + bias with s = weight / sqrt(var + eps), per channel.
channel_affine affine_of(const weight_table& weights, const network_layer& norm) {
  const auto scale = weights.of(norm, "weight");
  const auto bias = weights.of(norm, "bias");
  const auto mean = weights.of(norm, "running_mean");
  const auto variance = weights.of(norm, "running_var");
  const double eps = std::get<batch_norm2d_layer>(norm.operation).eps;

  channel_affine result;
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const double factor = scale[c] / std::sqrt(static_cast<double>(variance[c]) + eps);
    result.scale.push_back(factor);
    result.shift.push_back(static_cast<double>(bias[c]) - static_cast<double>(mean[c]) * factor);
  }
  return result;
}

conv_weights folded_weights(const network_definition& network, const weight_table& weights,
                            const fused_layers& group) {
  const network_layer& head = network.layers[group.head];
  const auto weight = weights.of(head, "weight");
  const auto bias = weights.of(head, "bias");
  conv_weights conv{{weight.begin(), weight.end()}, {bias.begin(), bias.end()}};
  if (!group.norm) return conv;

  const channel_affine norm = affine_of(weights, network.layers[*group.norm]);
  const std::size_t channels = norm.scale.size();
  const std::size_t per_channel = conv.weight.size() / channels;
  conv.bias.resize(channels, 0.0F);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = c * per_channel; i < (c + 1) * per_channel; ++i) {
      conv.weight[i] = static_cast<float>(conv.weight[i] * norm.scale[c]);
    }
    conv.bias[c] =
        static_cast<float>(static_cast<double>(conv.bias[c]) * norm.scale[c] + norm.shift[c]);
  }
  return conv;
}

}  // namespace graphline
