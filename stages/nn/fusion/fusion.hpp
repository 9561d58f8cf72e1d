#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stages/nn/definition/definition.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline::nn {

/// Layers that are computed as one: a head and element-wise layers after it, whose results, but for
/// the last, nobody else reads. Indices into `network_definition::layers`.
struct layer_group {
  std::size_t head = 0;
  std::vector<std::size_t> epilogue = {};  ///< in order

  /// The layer whose output this group gives.
  std::size_t last() const noexcept { return epilogue.empty() ? head : epilogue.back(); }

  /// All its layers, in order.
  std::vector<std::size_t> members() const;
};

/// Splits a network into groups, each after those that it reads: in the order of their last layers.
/// Batch norms, activations, adds and pointwise layers with results of one shape, of which only the
/// last is read elsewhere, are a group, with the product before them if it has no other reader. A
/// function of a product's result stays with that product where both could be computed with
/// another.
std::vector<layer_group> group_layers(const network_definition& network);

/// Whether a layer computes each element from those at its position.
bool is_element_wise(const network_layer& layer);

/// Bytes of an element of what a network reads, of what it gives, and of all else.
struct element_sizes {
  std::size_t input = sizeof(float);
  std::size_t output = sizeof(float);
  std::size_t inside = sizeof(float);
};

/// What a group amounts to when it is computed as one: nothing between its layers is moved.
cost cost_of(const network_definition& network, const layer_group& group,
             const element_sizes& sizes = {});

/// What a group is called where its time is told: "0.conv2d+1.batch_norm2d+2.relu".
std::string name_of(const network_definition& network, const layer_group& group);

/// A batch norm in inference, and the like: one multiplication and one addition per channel, each
/// with one number for all channels or one for each.
struct channel_affine {
  std::vector<double> scale;
  std::vector<double> shift;

  double scale_of(std::size_t channel) const { return scale[scale.size() == 1 ? 0 : channel]; }
  double shift_of(std::size_t channel) const { return shift[shift.size() == 1 ? 0 : channel]; }
};
channel_affine affine_of(const weight_table& weights, const network_layer& norm);

/// The weights of a product in host memory, those of an output channel together: of a convolution
/// [out_channels, in_channels / groups, height, width].
struct conv_weights {
  std::vector<float> weight;
  std::vector<float> bias;  ///< empty for none

  /// Multiplies and shifts each output channel; in double, so that folding costs no more than the
  /// last rounding.
  void fold(const channel_affine& affine, std::size_t channels);
};

/// A product's weights and bias: as given, but for a transposed convolution [out_channels,
/// in_channels / groups, height, width].
conv_weights weights_of(const weight_table& weights, const network_layer& product);

}  // namespace graphline::nn
