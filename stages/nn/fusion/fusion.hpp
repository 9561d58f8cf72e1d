#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stages/nn/definition/definition.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline::nn {

/// Layers computed as one operation: a head and the element-wise layers after it. The numbers are
/// indices into `network_definition::layers`. Other layers read only the last result.
struct layer_group {
  std::size_t head = 0;
  std::vector<std::size_t> epilogue = {};

  /// Returns the layer whose output is the group's output.
  std::size_t last() const noexcept { return epilogue.empty() ? head : epilogue.back(); }

  std::vector<std::size_t> members() const;
};

/// Splits a network into groups, ordered so that each group follows the groups that it reads. Batch
/// norms and pointwise layers of one shape form a group if only the last result is read elsewhere.
/// The product before them joins if nothing else reads its result. A layer that could join two
/// products joins the product that it reads.
std::vector<layer_group> group_layers(const network_definition& network);

/// Returns true if a layer computes each element from the input elements at the same position.
bool is_element_wise(const network_layer& layer);

/// Bytes per element of a network's inputs, outputs and other values.
struct element_sizes {
  std::size_t input = sizeof(float);
  std::size_t output = sizeof(float);
  std::size_t inside = sizeof(float);
};

/// Returns the cost of a group computed as one operation, which does not move the values between
/// its layers.
cost cost_of(const network_definition& network, const layer_group& group,
             const element_sizes& sizes = {});

/// Returns the name in reports: "0.conv2d+1.batch_norm2d+2.relu".
std::string name_of(const network_definition& network, const layer_group& group);

/// The map y = scale x + shift per channel, such as a batch norm in inference. Each vector contains
/// one number per channel or one for all.
struct channel_affine {
  std::vector<double> scale;
  std::vector<double> shift;

  double scale_of(std::size_t channel) const { return scale[scale.size() == 1 ? 0 : channel]; }
  double shift_of(std::size_t channel) const { return shift[shift.size() == 1 ? 0 : channel]; }
};
channel_affine affine_of(const weight_table& weights, const network_layer& norm);

/// Weights of a product in host memory, with the output channel outermost. For convolutions, they
/// are [out_channels, in_channels / groups, height, width].
struct conv_weights {
  std::vector<float> weight;
  std::vector<float> bias;  ///< empty for none

  /// Folds scale and shift into each output channel. Computes in double and rounds once.
  void fold(const channel_affine& affine, std::size_t channels);
};

/// Returns a product's weights and bias. The weights of a transposed convolution are reordered to
/// [out_channels, in_channels / groups, height, width].
conv_weights weights_of(const weight_table& weights, const network_layer& product);

}  // namespace graphline::nn
