#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stages/nn/onnx/onnx_call.hpp"
#include "stages/nn/onnx/onnx_forms.hpp"
#include "stages/nn/onnx/onnx_import.hpp"

namespace graphline::nn::onnx {

/// The network that grows, as the functions of operators see it: an `onnx_call` tells them what
/// their node says.
class onnx_importer {
 public:
  onnx_importer(const onnx_model& model, const place& where, diagnostics& out);

  std::int64_t opset() const noexcept { return model_.opset; }

  /// The value of the network that an input of the node is.
  std::size_t value(std::size_t input);

  const shape& shape_of(std::size_t value) const { return network_.network().shape_of(value); }

  /// A constant of the network that the model does not hold; one that is made of an input of the
  /// node, after which it is named.
  std::size_t add_constant(std::span<const float> data, const shape& extents) {
    return add_named(fmt::format("constant.{}", constants_.size()), data, extents, 0);
  }
  std::size_t add_weight(std::size_t input, std::span<const float> data, const shape& extents) {
    return add_named(call_->node().inputs.at(input), data, extents,
                     call_->extents(input).elements());
  }
  std::size_t add_number(float number) { return add_constant({&number, 1}, {}); }

  /// A layer of the node, and the value that it gives; all of them.
  std::size_t add(layer_operation operation, std::vector<std::size_t> inputs,
                  const std::vector<std::size_t>& weights = {}) {
    return add_all(std::move(operation), std::move(inputs), weights).front();
  }
  std::vector<std::size_t> add_all(layer_operation operation, std::vector<std::size_t> inputs,
                                   const std::vector<std::size_t>& weights);
  std::size_t add_pointwise(pointwise_function function, std::vector<std::size_t> inputs,
                            float alpha = 0, float beta = 0) {
    return add(pointwise_layer{function, alpha, beta}, std::move(inputs));
  }
  std::size_t add_reshape(std::size_t value, shape extents);
  void set_flops(std::size_t value, std::int64_t flops) { network_.set_flops(value, flops); }

  /// Layers that select elements of a value; `padding` is the value of those that lie outside.
  std::size_t add_selection(std::size_t value, const selection& lists, float padding = 0);

  /// Reads the model, whose inputs have these types.
  void read(const std::vector<std::pair<std::string, tensor_type>>& inputs);
  onnx_network finish(const std::vector<std::string>& outputs);

 private:
  /// What is known of a value of the model by name.
  struct known_value {
    const onnx_tensor* tensor = nullptr;  ///< without values where a run computes it
    std::optional<std::size_t> value;     ///< of the network; a constant has one once it is read
  };

  /// `written`: how many numbers the model has for it.
  std::size_t add_named(const std::string& name, std::span<const float> data, const shape& extents,
                        std::int64_t written);
  void read_graph(const onnx_graph& graph);
  void read_node(const onnx_node& node);
  void add_input(const std::string& name, const tensor_type& type);
  void add_node(const onnx_call& call);
  void take_branch(const onnx_call& call);
  void find_read(const onnx_graph& graph);
  void give(const std::vector<std::size_t>& values);
  void make_node(std::size_t first_layer, const std::vector<std::size_t>& values);
  bool is_input(std::size_t value) const;
  const onnx_tensor& keep(onnx_tensor tensor) { return tensors_.emplace_back(std::move(tensor)); }

  const onnx_model& model_;
  place where_;
  diagnostics& out_;
  std::int64_t budget_;
  std::deque<onnx_tensor> tensors_;  ///< those that are not the model's own
  std::map<std::string, known_value, std::less<>> known_;
  std::set<std::string_view> read_;  ///< the names of what nodes read and the model gives
  const onnx_call* call_ = nullptr;  ///< of the node that is read
  std::size_t layers_of_node_ = 0;
  definition_builder network_;
  std::vector<named_tensor> constants_;
  std::map<std::string, std::size_t> constant_names_;  ///< each with the number it gave last
};

/// Adds the layers of a node; the values that it gives, in order.
using onnx_operator = std::function<std::vector<std::size_t>(onnx_importer&, const onnx_call&)>;
using onnx_operators = std::map<std::string_view, onnx_operator>;

// By family, each in the file of its name.
onnx_operators imported_products();   // import_products.cpp
onnx_operators imported_pointwise();  // import_pointwise.cpp
onnx_operators imported_windows();    // import_windows.cpp: pools, reductions, normalizations
onnx_operators imported_resizing();   // import_resize.cpp
onnx_operators imported_movements();  // import_movements.cpp: elements in another order
onnx_operators imported_recurrent();  // import_recurrent.cpp
onnx_operators imported_einsum();     // onnx_einsum.cpp

/// Numbers for depth, height and width.
using extent_triple = std::array<std::int64_t, 3>;

inline extent_pair without_depth(const extent_triple& all) {
  return {all[1], all[2]};
}

/// What convolutions and pools state of their windows.
struct window_attributes {
  extent_triple kernel{};
  extent_triple stride{1, 1, 1};
  extent_triple dilation{1, 1, 1};
  extent_triple before{0, 0, 0};  ///< padding
  extent_triple after{0, 0, 0};
};

/// What windows go over: [N, C, length] is seen as [N, C, 1, length].
struct window_images {
  std::size_t value = 0;
  std::size_t dimensions = 2;  ///< beside batch and channels, as given: 1 to 3
};
window_images images_of(onnx_importer& to, const onnx_call& node);
std::size_t add_as_given(onnx_importer& to, std::size_t images, std::size_t dimensions);

/// What the node states of a window of this kernel. What auto_pad asks of a transposed convolution
/// is for its caller to see.
window_attributes window_of(const onnx_call& node, const extent_triple& kernel,
                            bool transposed = false);

/// The last `dimensions` extents; 1 before them.
extent_triple window_extents(const shape& extents, std::size_t dimensions);

/// An attribute with a number for each dimension of a window; 1 for those that it has not.
std::optional<extent_triple> triple_of(const onnx_call& node, std::string_view attribute);

/// An operator with one output.
template <class Function>
onnx_operator one_output(Function function) {
  return [function](onnx_importer& to, const onnx_call& node) {
    return std::vector<std::size_t>{function(to, node)};
  };
}

}  // namespace graphline::nn::onnx
