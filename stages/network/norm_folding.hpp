#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stages/network/definition.hpp"
#include "stages/network/fusion.hpp"
#include "stages/network/network_weights.hpp"

namespace graphline {

/// A batch norm in inference as one multiplication and one addition per channel.
struct channel_affine {
  std::vector<double> scale;
  std::vector<double> shift;
};
channel_affine affine_of(const weight_table& weights, const network_layer& norm);

/// A convolution's weights in host memory, [out_channels, in_channels / groups, height, width].
struct conv_weights {
  std::vector<float> weight;
  std::vector<float> bias;  ///< empty for none
};

/// The weights of a group headed by a conv2d, with its batch norm already in them; in double, so
/// that folding costs no more than the last rounding.
conv_weights folded_weights(const network_definition& network, const weight_table& weights,
                            const fused_layers& group);

}  // namespace graphline
