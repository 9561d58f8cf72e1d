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

#include "stages/nn/definition/row_independence.hpp"
#include "stages/nn/onnx/onnx_call.hpp"
#include "stages/nn/onnx/onnx_forms.hpp"
#include "stages/nn/onnx/onnx_import.hpp"

namespace graphline::nn::onnx {

/// Number of constants with which a new constant is compared. Bounds the time of an import.
inline constexpr std::size_t most_compared = 16;

/// The network under construction. Operator functions add layers for the node of their `onnx_call`.
class onnx_importer {
 public:
  onnx_importer(const onnx_model& model, const place& where, diagnostics& out);

  std::int64_t opset() const noexcept { return model_.opset; }

  /// Returns the network value of an input of the node.
  std::size_t value(std::size_t input);

  const shape& shape_of(std::size_t value) const { return network_.network().shape_of(value); }

  /// `add_constant` adds a constant that the model does not contain. `add_weight` adds a constant
  /// derived from an input of the node and named after that input, or returns an equal one derived
  /// from the same tensor.
  std::size_t add_constant(std::span<const float> data, const shape& extents) {
    return add_named(fmt::format("constant.{}", constants_.size()), data, extents, 0);
  }
  std::size_t add_weight(std::size_t input, std::span<const float> data, const shape& extents) {
    return add_derived(call_->node().inputs.at(input), call_->type(input), data, extents);
  }
  std::size_t add_number(float number, const shape& extents = {}) {  ///< in all elements
    const auto count = static_cast<std::size_t>(extents.elements());
    return add_constant(std::vector<float>(count, number), extents);
  }

  /// States that only the first rows of a value along an axis are valid: `count` of them, a value
  /// [1].
  void count_rows(std::size_t value, std::size_t axis, std::size_t count);

  /// Adds a layer of the node. `add` returns the layer's first output, `add_all` all outputs.
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

  /// Wraps a value that computed integers in `range` to an integer type.
  std::size_t add_wrap(std::size_t value, const whole_range& range, onnx_type element);
  void set_flops(std::size_t value, std::int64_t flops) { network_.set_flops(value, flops); }

  /// Adds layers that select elements of a value; `padding` fills positions that are `outside`.
  std::size_t add_selection(std::size_t value, const selection& lists, float padding = 0);

  // An operator that is composed of others names their operands and results.

  /// Evaluates an operator, or adds its layers to those of the current node; returns the name of
  /// its result. `inputs` contains "" for omitted inputs.
  std::string apply(std::string_view op_type, std::vector<std::string> inputs,
                    std::vector<onnx_attribute> attributes = {});
  std::string name_of(onnx_tensor constant);
  std::string name_of(std::size_t value, onnx_type element);
  std::size_t value_of(const std::string& name);
  const onnx_tensor& tensor_of(const std::string& name) const { return *known_.at(name).tensor; }

  /// Reads the nodes on which the outputs depend, for inputs of these types.
  void read(const std::vector<std::pair<std::string, tensor_type>>& inputs,
            const std::vector<std::string>& outputs);
  onnx_network finish(const std::vector<std::string>& outputs);

 private:
  /// A named value of the model.
  struct known_value {
    const onnx_tensor* tensor = nullptr;  ///< without values if the network computes it
    std::optional<std::size_t> value;  ///< in the network; set when a layer first reads a constant
  };

  /// Adds a constant derived from a tensor, or returns an equal one.
  std::size_t add_derived(const std::string& name, const onnx_tensor& from,
                          std::span<const float> data, const shape& extents);

  /// Adds a constant. `written` is the number of its elements in the model as written. If `same_as`
  /// is set, they are the parameters that this constant has, too.
  std::size_t add_named(const std::string& name, std::span<const float> data, const shape& extents,
                        std::int64_t written, std::optional<std::size_t> same_as = {});
  void refused(const onnx_node& node, const std::string& why);
  void report_refused();
  const onnx_tensor* source_of(const onnx_tensor* tensor) const;
  void read_graph(const onnx_graph& graph);
  void read_node(const onnx_node& node);
  void add_input(const std::string& name, const tensor_type& type);
  void carry_out(const onnx_call& call, std::span<const onnx_tensor* const> inputs);
  void evaluate(const onnx_call& call, std::span<const onnx_tensor* const> inputs);
  void add_node(const onnx_call& call);
  std::vector<onnx_tensor> fold(const onnx_call& call);
  std::size_t add_conversion(const std::string& name, std::size_t value,
                             const convert_layer& conversion, onnx_type element);
  std::string new_name(const std::string& like) const;
  void take_branch(const onnx_call& call);
  void find_needed(const onnx_graph& graph);
  void give(const std::vector<std::size_t>& values);
  void make_node(std::size_t first_layer, const std::vector<std::size_t>& values);
  bool is_input(std::size_t value) const;
  const counted_rows* counted_in(const std::string& name) const;
  const onnx_tensor& keep(onnx_tensor tensor) { return tensors_.emplace_back(std::move(tensor)); }

  const onnx_model& model_;
  place where_;
  diagnostics& out_;
  std::int64_t budget_;
  std::deque<onnx_tensor> tensors_;  ///< evaluated constants, and types of computed values
  std::map<std::string, known_value, std::less<>> known_;
  std::map<const onnx_tensor*, const onnx_tensor*> sources_;        ///< of moved and cast constants
  std::map<const onnx_tensor*, std::vector<std::size_t>> derived_;  ///< constants by source
  std::set<const onnx_node*> needed_;        ///< nodes on which the outputs depend
  std::set<std::string, std::less<>> read_;  ///< names of outputs and of what needed nodes read
  /// Refused nodes by reason, in order of the first.
  std::vector<std::pair<std::string, std::vector<const onnx_node*>>> refused_;
  const onnx_call* call_ = nullptr;  ///< the current node
  std::size_t layers_of_node_ = 0;
  definition_builder network_;
  counted_values counted_;
  std::vector<named_tensor> constants_;
  std::map<std::size_t, std::size_t> constant_of_;     ///< by value: its index among the constants
  std::map<std::string, std::size_t> constant_names_;  ///< the last number given to each name
};

/// Returns true if a node's results follow from the extents of its input.
bool reads_extents_only(const onnx_node& node);

/// Adds the layers of a node; returns its outputs, in order.
using onnx_operator = std::function<std::vector<std::size_t>(onnx_importer&, const onnx_call&)>;
using onnx_operators = std::map<std::string_view, onnx_operator>;

/// Composes an operator of others; returns the names of its outputs, in order.
using onnx_composition = std::vector<std::string> (*)(onnx_importer&, const onnx_call&);

// Return the operators of a family. Each function is defined in the named file.
onnx_operators imported_products();   // import_products.cpp
onnx_operators imported_pointwise();  // import_pointwise.cpp
onnx_operators imported_windows();    // import_windows.cpp: pools, reductions, normalizations
onnx_operators imported_movements();  // import_movements.cpp: elements in another order

// Operators with a file of their own: import_resize.cpp, import_recurrent.cpp and onnx_einsum.cpp.
std::size_t import_resize(onnx_importer& to, const onnx_call& node);
std::vector<std::size_t> import_recurrent(onnx_importer& to, const onnx_call& node);
std::size_t import_einsum(onnx_importer& to, const onnx_call& node);

const std::map<std::string_view, onnx_composition>& composed_operators();  // import_quantized.cpp

// The network holds integers and bools as whole numbers in float32. onnx_elements.cpp has the rules
// of operators that accept or give them.

/// Refuses integers and bools that the operator does not accept.
void require_elements(const onnx_call& call);

/// Returns the element type of an output; float32 for all floating-point types.
onnx_type given_element(const onnx_call& call, std::size_t output);

/// Returns true if results beyond the range of their integer type wrap.
bool gives_wrapped(const onnx_call& call);

/// Replaces sequences of layers that exporters write out. The layers of a layer norm over the last
/// dimension become one layer. A matrix product of two computed values absorbs scales, slices and
/// transposes around it, so that attention moves only its scores. The last layer of a sequence
/// becomes the new layer, named after all layers that it replaces; the earlier layers stay for
/// other readers.
void recognize_patterns(onnx_network& model);

/// One number each for depth, height and width.
using extent_triple = std::array<std::int64_t, 3>;

/// Window attributes of convolutions and pools.
struct window_attributes {
  extent_triple kernel{};
  extent_triple stride{1, 1, 1};
  extent_triple dilation{1, 1, 1};
  extent_triple before{0, 0, 0};  ///< padding
  extent_triple after{0, 0, 0};
};

/// Sets the window of a layer, without its depth.
template <class Layer>
void set_window(Layer& layer, const window_attributes& window) {
  const auto plane = [](const extent_triple& all) { return extent_pair{all[1], all[2]}; };
  layer.kernel = plane(window.kernel);
  layer.stride = plane(window.stride);
  layer.dilation = plane(window.dilation);
  layer.padding = plane(window.before);
  layer.padding_after = plane(window.after);
}

/// Images that windows move over. [N, C, length] is viewed as [N, C, 1, length].
struct window_images {
  std::size_t value = 0;
  std::size_t dimensions = 2;  ///< spatial dimensions as given: 1 to 3
};
window_images images_of(onnx_importer& to, const onnx_call& node);
std::size_t add_as_given(onnx_importer& to, std::size_t images, std::size_t dimensions);

/// Returns the node's window. The caller handles auto_pad of a transposed convolution.
window_attributes window_of(const onnx_call& node, const extent_triple& kernel,
                            bool transposed = false);

/// Returns the last `dimensions` extents, padded with leading ones.
extent_triple window_extents(const shape& extents, std::size_t dimensions);

/// Reads one number per spatial dimension; adds leading ones. Empty if the attribute is absent.
std::optional<extent_triple> triple_of(const onnx_call& node, std::string_view attribute);

/// Makes an `onnx_operator` from a function that returns a single output.
template <class Function>
onnx_operator one_output(Function function) {
  return [function](onnx_importer& to, const onnx_call& node) {
    return std::vector<std::size_t>{function(to, node)};
  };
}

}  // namespace graphline::nn::onnx
