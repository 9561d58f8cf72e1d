#include "stages/network/norm_folding.hpp"

#include <cmath>

namespace graphline {

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
