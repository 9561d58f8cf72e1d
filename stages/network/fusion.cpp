#include "stages/network/fusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

namespace graphline {
namespace {

template <class Layer>
bool is(const network_definition& network, std::size_t layer) {
  return std::holds_alternative<Layer>(network.layers[layer].operation);
}

/// For each value the layer that reads it, once; nothing where more read it, or who runs the
/// network does.
std::vector<std::optional<std::size_t>> only_readers(const network_definition& network) {
  std::vector<int> count(network.values.size(), 0);
  std::vector<std::optional<std::size_t>> readers(network.values.size());
  for (const std::size_t value : network.outputs) ++count[value];
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
    for (const std::size_t value : network.layers[layer].inputs) {
      readers[value] = layer;
      ++count[value];
    }
  }
  for (std::size_t value = 0; value < count.size(); ++value) {
    if (count[value] != 1) readers[value].reset();
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

/// Takes the layer that reads what the group gives into it if it fits there.
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

std::vector<std::size_t> fused_layers::members() const {
  std::vector<std::size_t> all{head};
  if (norm) all.push_back(*norm);
  all.insert(all.end(), epilogue.begin(), epilogue.end());
  return all;
}

std::vector<fused_layers> fuse_layers(const network_definition& network, fused_heads heads) {
  const std::vector<std::optional<std::size_t>> readers = only_readers(network);
  std::vector<fused_layers> groups;
  std::vector<bool> taken(network.layers.size(), false);
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
    if (taken[layer]) continue;
    fused_layers& group = groups.emplace_back(fused_layers{.head = layer});
    bool has_add = is<add_layer>(network, layer);
    if (!takes_epilogue(network, layer, heads)) continue;
    while (true) {
      const std::size_t given = network.layers[group.last()].outputs.front();
      const auto next = readers[given];
      // An epilogue takes the value as its first; what an add adds to it is there already.
      if (!next || network.layers[*next].inputs.front() != given ||
          !extend(group, has_add, *next, network)) {
        break;
      }
      taken[*next] = true;
    }
  }
  std::ranges::sort(groups, {}, &fused_layers::last);
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
  const auto among = [](const std::vector<std::size_t>& values, std::size_t value) {
    return std::ranges::find(values, value) != values.end();
  };
  const auto bytes_of = [&](std::size_t value) {
    const std::size_t size = among(network.inputs, value)    ? sizes.input
                             : among(network.outputs, value) ? sizes.output
                                                             : sizes.inside;
    return network.shape_of(value).elements() * static_cast<std::int64_t>(size);
  };
  cost sum;
  std::set<std::size_t> read;
  std::set<std::size_t> inside;
  for (const std::size_t layer : group.members()) {
    const network_layer& of = network.layers[layer];
    sum.parameters += of.cost.parameters;
    sum.macs += of.cost.macs;
    sum.flops += of.cost.flops;
    for (const std::size_t value : of.inputs) {
      if (!network.values[value].constant && !inside.contains(value)) read.insert(value);
    }
    inside.insert(of.outputs.begin(), of.outputs.end());
  }
  sum.bytes_read = sum.parameters * static_cast<std::int64_t>(sizes.inside);
  for (const std::size_t value : read) sum.bytes_read += bytes_of(value);
  for (const std::size_t value : network.layers[group.last()].outputs) {
    sum.bytes_written += bytes_of(value);
  }
  return sum;
}

std::string name_of(const network_definition& network, const fused_layers& group) {
  std::string name;
  for (const std::size_t layer : group.members()) {
    name += (name.empty() ? "" : "+") + network.layers[layer].name;
  }
  return name;
}

// norm(v) = (v - mean) s + bias with s = weight / sqrt(var + eps), per channel.
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

conv_weights folded_weights(const network_definition& network, const weight_table& weights,
                            const fused_layers& group) {
  const network_layer& head = network.layers[group.head];
  const auto weight = weights.of(head, 1);
  const auto bias = weights.of(head, 2);
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
