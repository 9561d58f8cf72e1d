#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/precision.hpp"
#include "stages/nn/cuda/cuda_program.hpp"
#include "stages/nn/fusion/expression.hpp"
#include "stages/nn/operations/movements.hpp"
#include "stages/nn/program/network_lowering.hpp"

namespace graphline::nn {

/// Memory layout and element type of a packed value.
struct value_form {
  tensor_layout layout = tensor_layout::row_major;
  dtype element = dtype::float32;
  std::int64_t padded_channels = 0;  ///< channels including zero padding; 0 without padding

  bool operator==(const value_form&) const = default;
};

struct cuda_value {
  std::size_t buffer = 0;
  value_form form;
};

/// Thrown if the library cannot run a layer.
class refused_layer : public run_error {
 public:
  using run_error::run_error;
};

struct cuda_target {
  cuda_library& library;
  graphline::precision precision = graphline::precision::float32;
  std::string owner;                     ///< leads messages: "stage 'head'"
  std::vector<value_form> inputs = {};   ///< forms of the input tensors
  std::vector<value_form> outputs = {};  ///< forms of the output tensors
};

/// Lowers a network to a `cuda_program`, group by group.
class cuda_lowering : public network_lowering {
 public:
  /// The library in `target` must outlive the lowering.
  cuda_lowering(const network_definition& network, const weight_table& weights,
                const cuda_target& target, tensor_layout image_layout);

  cuda_library& library() const noexcept { return target_.library; }
  graphline::precision precision() const noexcept { return target_.precision; }

  /// Returns the element type of values inside the network.
  dtype element() const noexcept { return element_of(target_.precision); }

  /// Returns the layout in which 2-D convolutions compute. The kernels for other layers keep the
  /// layout of their input.
  tensor_layout image_layout() const noexcept { return image_layout_; }

  /// Returns a value in the form in which it was computed; constants are row-major.
  cuda_value value(std::size_t index);

  cuda_value input_of(const network_layer& layer, std::size_t which = 0) {
    return value(layer.inputs[which]);
  }

  /// Returns an input of a layer in row-major layout.
  cuda_value plain_input_of(const network_layer& layer, std::size_t which = 0) {
    return in_form(layer.inputs[which],
                   {tensor_layout::row_major, input_of(layer, which).form.element}, layer);
  }

  /// Returns true if a value already exists in this form.
  bool lies_in_form(std::size_t index, const value_form& form) const {
    return find_form(index, form) != nullptr;
  }

  /// Returns a value in this form; adds a conversion, shared by all readers, if needed.
  cuda_value in_form(std::size_t index, const value_form& form, const network_layer& reader);

  /// Returns the element type for a kernel that writes a layer's output in this layout. If the
  /// kernel can write an output tensor of the network in place, this is the tensor's type;
  /// otherwise it is `otherwise`; by default, float32 for integers, or `element()`.
  dtype result_element(std::size_t layer, tensor_layout layout,
                       std::optional<dtype> otherwise = {}) const;

  void set_output(std::size_t layer, cuda_value value) {
    set_value(this->layer(layer).outputs.front(), value);
  }
  void set_value(std::size_t index, cuda_value value) { values_[index] = {value}; }

  cuda_value make_value(std::int64_t elements, const value_form& form);

  /// Makes a value for a layer's output, with elements of type `result_element`.
  cuda_value make_output(std::size_t layer, tensor_layout layout,
                         std::optional<dtype> otherwise = {}) {
    return make_value(output_shape(this->layer(layer)).elements(),
                      {layout, result_element(layer, layout, otherwise)});
  }

  /// See `program::add_checks`.
  std::size_t add_checks(const network_layer& layer, std::size_t axis,
                         const std::vector<std::int64_t>& extents) {
    return program_.add_checks(layer.name, axis, extents);
  }

  /// Adds a constant with elements of this type; returns its buffer.
  std::size_t constant(std::vector<float> values, dtype element);

  /// Adds a kernel; failures name `layer`.
  void add_kernel(kernel_form form, std::vector<cuda_operand> operands,
                  const network_layer& layer) {
    program_.add_kernel(std::move(form), std::move(operands), owner(layer));
  }

  /// Adds the one kernel that computes a layer's output.
  void add_layer_kernel(std::size_t layer, kernel_form form, std::vector<cuda_operand> operands,
                        const cuda_value& output) {
    add_kernel(std::move(form), std::move(operands), this->layer(layer));
    note("a kernel of its own");
    set_output(layer, output);
  }

  /// Plans a product. @throws refused_layer if the library cannot run it.
  std::unique_ptr<library_operation> plan(const product_form& form,
                                          const network_layer& layer) const {
    std::string why_not;
    auto operation = library().plan(form, why_not);
    if (operation == nullptr) refuse(layer, why_not);
    return operation;
  }

  /// Adds a step for each call of an operation and records the calls for reports.
  void add_calls(std::shared_ptr<library_operation> operation,
                 std::vector<std::vector<cuda_operand>> calls, const network_layer& layer);

  /// Adds a single call; records nothing for reports.
  void add_call(std::shared_ptr<library_operation> operation, std::vector<cuda_operand> operands,
                const network_layer& layer) {
    program_.add_calls(std::move(operation), {std::move(operands)}, owner(layer));
  }

  /// Copies each network output that `group` computes to its tensor. Then ends the group's part of
  /// the program, which contains all steps since the previous part.
  void end_part(const layer_group& group);

  /// @throws refused_layer saying that the library cannot run the layer, and why.
  [[noreturn]] void refuse(const network_layer& layer, const std::string& why_not) const;

  cuda_program finish();

 private:
  const cuda_value* find_form(std::size_t index, const value_form& form) const;
  void add_conversion(const cuda_value& from, const cuda_value& to, const shape& s,
                      const network_layer& reader);

  cuda_target target_;
  tensor_layout image_layout_;
  cuda_program program_;
  std::vector<std::vector<cuda_value>> values_;  ///< per value: all forms made so far
};

/// Lowers a network to library calls and kernels. Convolutions compute in NHWC. In float32, all of
/// them compute in NHWC or in NCHW: the layout with the lower estimated time of the program,
/// conversions included. @throws refused_layer naming a layer that the library cannot run even
/// without fusion.
cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target);

std::vector<std::int64_t> strides_of(const shape& s, tensor_layout layout);

/// Adds a kernel that copies a view of `from` to a view of `to`, both with these extents.
void add_copy(cuda_lowering& b, const network_layer& layer, const shape& extents,
              const cuda_value& from, const strided_part& from_part, const cuda_value& to,
              const strided_part& to_part);

/// Returns a copy of `from` with padding around it.
cuda_value padded(cuda_lowering& b, const network_layer& layer, const cuda_value& from,
                  const shape& s, const pad_layer& pad);

void lower_element_wise(cuda_lowering& b, const layer_group& group);

/// Returns the estimated time, in nanoseconds, of a kernel that reads and writes this many bytes.
double time_of_kernel(double bytes, const cuda_library& library);

/// A library operation and the epilogue fused into it.
struct fused_operation {
  std::unique_ptr<library_operation> operation;
  bool bias = false;         ///< true if it adds the bias
  std::size_t steps = 0;     ///< of the expression
  std::string why_not = {};  ///< why only part of the epilogue is fused
};

/// Adds a kernel for what `fused` leaves of a product's group, and sets the group's output. `value`
/// is the library's result, which nothing else reads.
void lower_rest(cuda_lowering& b, const layer_group& group, const cuda_value& value,
                const followed_product& product, const fused_operation& fused = {});

/// An epilogue step that libraries may fuse: a function, or a sum with another value of the same
/// extents.
struct epilogue_step {
  std::optional<pointwise_layer> function = {};
  std::size_t added = 0;  ///< the value added by a sum
};

/// Returns the leading steps of an expression that libraries may fuse, with at most one sum.
std::vector<epilogue_step> epilogue_of(const group_expression& layers, const shape& extents);

/// A product and the leading steps of its expression that a library may fuse.
struct fusible_product {
  const followed_product& product;
  std::span<const epilogue_step> epilogue;
  std::int64_t output_elements = 0;
  /// Returns true if the library prefers tensor cores for the product with these fused operations.
  std::function<bool(bool bias, std::size_t steps)> prefers_tensor_cores = [](bool, std::size_t) {
    return false;
  };
};

/// Plans a product with the number of fused steps that takes the least time. The time includes the
/// kernel for the remaining steps: its bytes over the memory's bandwidth. Without tuning, fuses as
/// many steps as the library runs on tensor cores; in float32, as many as it runs at all.
/// `plan(bias, steps, why_not)` returns null if the library refuses. If the library refuses even
/// the bare product, `operation` is null and `why_not` is the first reason.
fused_operation plan_fused(const cuda_lowering& b, const fusible_product& wanted,
                           const std::function<std::unique_ptr<library_operation>(
                               bool bias, std::size_t steps, std::string& why_not)>& plan);

// Lower all other layers, each in the file of its family. `group.head` is the layer.
#define GRAPHLINE_LOWER(layer) void lower(cuda_lowering& b, const layer_group& group, const layer&);
GRAPHLINE_LOWERED_LAYERS(GRAPHLINE_LOWER)
#undef GRAPHLINE_LOWER

}  // namespace graphline::nn
