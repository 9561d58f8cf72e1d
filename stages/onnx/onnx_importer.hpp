#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stages/onnx/onnx_import.hpp"

namespace graphline {

/// What is known of a value of a model: a constant, or a value of the network.
struct onnx_known {
  std::shared_ptr<const onnx_tensor> constant;
  std::optional<std::size_t> value;  ///< of the network; a constant has one once a layer reads it
  shape extents;
};

/// Why a node cannot be a layer.
struct unsupported_node {
  std::string why;
};

/// The network that grows, and one node as the function of its operator sees it. Functions throw
/// `unsupported_node`.
class onnx_importer {
 public:
  onnx_importer(std::int64_t opset, const place& where, diagnostics& out)
      : opset_(opset), where_(where), out_(out) {}

  std::int64_t opset() const noexcept { return opset_; }
  const onnx_node& node() const noexcept { return *node_; }

  [[noreturn]] static void refuse(std::string why) { throw unsupported_node{std::move(why)}; }
  static void require(bool holds, const char* otherwise) {
    if (!holds) refuse(otherwise);
  }

  // What the node reads.
  bool has(std::size_t input) const;
  const onnx_known& input(std::size_t input) const;
  const shape& extents(std::size_t input) const { return this->input(input).extents; }
  std::size_t rank(std::size_t input) const { return extents(input).rank(); }

  /// The value of the network that an input is.
  std::size_t value(std::size_t input);

  /// The data of an input that must be a constant; `what` names it in the message that it is none.
  const onnx_tensor& constant(std::size_t input, const char* what) const;
  bool is_constant(std::size_t input) const;
  std::vector<float> floats(std::size_t input, const char* what) const;
  std::vector<std::int64_t> integers(std::size_t input, const char* what) const;

  // Attributes, or what they are where they are left out.
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  float number(std::string_view attribute, float otherwise) const;
  std::string text(std::string_view attribute, const char* otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute) const;

  /// Integers that an attribute states or, since a later operator set, a constant input.
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute,
                                                    std::size_t input) const;

  /// An axis, counted from the front.
  static std::size_t axis(std::int64_t written, std::size_t rank);

  // Layers.

  /// A constant of the network.
  std::size_t add_constant(std::vector<float> data, const shape& extents);

  /// A layer of the node, and the value that it gives.
  std::size_t add(layer_operation operation, std::vector<std::size_t> inputs,
                  const std::vector<std::size_t>& weights = {});
  std::size_t add_pointwise(pointwise_function function, std::vector<std::size_t> inputs,
                            float alpha = 0, float beta = 0) {
    return add(pointwise_layer{function, alpha, beta}, std::move(inputs));
  }
  std::size_t add_reshape(std::size_t value, shape extents);
  const shape& shape_of(std::size_t value) const { return network_.network().shape_of(value); }

  /// The whole model.
  void read(const onnx_graph& graph, const std::vector<std::pair<std::string, shape>>& inputs);
  onnx_network finish(const std::vector<std::string>& outputs);

 private:
  void read_nodes(const onnx_graph& graph);
  void read_node(const onnx_node& node);
  bool evaluate(const onnx_node& node);
  void take_branch(const onnx_node& node);
  void give(const onnx_node& node, const std::vector<std::size_t>& values);

  std::int64_t opset_;
  place where_;
  diagnostics& out_;
  const onnx_node* node_ = nullptr;
  std::size_t layers_of_node_ = 0;
  std::int64_t budget_ = std::int64_t{1} << 28;
  std::map<std::string, onnx_known, std::less<>> known_;
  definition_builder network_;
  std::vector<named_tensor> constants_;
};

/// Adds the layers of a node; the values that it gives, in order.
using onnx_operator = std::function<std::vector<std::size_t>(onnx_importer&)>;
using onnx_operators = std::map<std::string_view, onnx_operator>;

// By family, each in the file of its name.
onnx_operators onnx_products();   // import_products.cpp
onnx_operators onnx_pointwise();  // import_pointwise.cpp
onnx_operators onnx_windows();    // import_windows.cpp: pools, reductions, normalizations
onnx_operators onnx_resizing();   // import_resize.cpp
onnx_operators onnx_movements();  // import_movements.cpp: elements in another order

/// What convolutions and pools state of their windows.
struct window_attributes {
  extent_pair kernel{};
  extent_pair stride{1, 1};
  extent_pair dilation{1, 1};
  extent_pair before{0, 0};  ///< padding
  extent_pair after{0, 0};
};

/// `images` are the extents [N, C, H, W] over which the window goes; with `one_dimension` the node
/// states those along the width alone. What auto_pad asks of a transposed convolution is for its
/// caller to see.
window_attributes window_of(const onnx_importer& in, const shape& images, const extent_pair& kernel,
                            bool one_dimension, bool transposed = false);

/// An attribute with a number for each dimension of a window; 1 for the height that a window of one
/// dimension gets.
std::optional<extent_pair> pair_of(const onnx_importer& in, std::string_view attribute,
                                   bool one_dimension);

/// An operator with one output.
template <class Function>
onnx_operator one_output(Function function) {
  return [function](onnx_importer& in) { return std::vector<std::size_t>{function(in)}; };
}

}  // namespace graphline
