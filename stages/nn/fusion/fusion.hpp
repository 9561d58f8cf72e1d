#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stages/nn/definition/definition.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline::nn {

/// Layers computed as one: a head and the element-wise layers after it. Only the last result is
/// read elsewhere. Indices into `network_definition::layers`.
struct layer_group {
  std::size_t head = 0;
  std::vector<std::size_t> epilogue = {};  ///< in order

  /// The layer whose output is the group's.
  std::size_t last() const noexcept { return epilogue.empty() ? head : epilogue.back(); }

  /// All layers, in order.
  std::vector<std::size_t> members() const;
};

/// Splits a network into groups, ordered by their last layers, so each follows those it reads.
/// Batch norms and pointwise layers of one shape, of which only the last is read elsewhere, form a
/// group, together with the product before them if they are its only readers. A layer that could be
/// fused with either of two products is fused with the one whose result it reads.
std::vector<layer_group> group_layers(const network_definition& network);

/// Whether a layer computes each element from those at its position.
bool is_element_wise(const network_layer& layer);

/// Bytes per element of a network's inputs, outputs and other values.
struct element_sizes {
  std::size_t input = sizeof(float);
  std::size_t output = sizeof(float);
  std::size_t inside = sizeof(float);
};

/// Cost of a group computed as one: values between its layers are not moved.
cost cost_of(const network_definition& network, const layer_group& group,
             const element_sizes& sizes = {});

/// Name in reports: "0.conv2d+1.batch_norm2d+2.relu".
std::string name_of(const network_definition& network, const layer_group& group);

/// y = scale x + shift per channel, such as a batch norm in inference; each vector has one number
/// per channel or one for all.
struct channel_affine {
  std::vector<double> scale;
  std::vector<double> shift;

  double scale_of(std::size_t channel) const { return scale[scale.size() == 1 ? 0 : channel]; }
  double shift_of(std::size_t channel) const { return shift[shift.size() == 1 ? 0 : channel]; }
};
channel_affine affine_of(const weight_table& weights, const network_layer& norm);

/// Weights of a product in host memory, output channel outermost: for convolutions [out_channels,
/// in_channels / groups, height, width].
struct conv_weights {
  std::vector<float> weight;
  std::vector<float> bias;  ///< empty for none

  /// Folds scale and shift into each output channel, in double, so that only the last rounding
  /// differs.
  void fold(const channel_affine& affine, std::size_t channels);
};

/// A product's weights and bias as stored; those of a transposed convolution are reordered to
/// [out_channels, in_channels / groups, height, width].
conv_weights weights_of(const weight_table& weights, const network_layer& product);

}  // namespace graphline::nn
