#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/precision.hpp"
#include "stages/nn/cuda/cuda_program.hpp"
#include "stages/nn/fusion/expression.hpp"
#include "stages/nn/operations/movements.hpp"
#include "stages/nn/program/network_lowering.hpp"

namespace graphline::nn {

/// How a value lies in memory, packed.
struct value_form {
  tensor_layout layout = tensor_layout::row_major;
  dtype element = dtype::float32;
  std::int64_t padded_channels = 0;  ///< with zeros after the value's own; 0 for none

  bool operator==(const value_form&) const = default;
};

/// A value during the network: where and how.
struct cuda_value {
  std::size_t buffer = 0;
  value_form form;
};

/// What a network is lowered for.
struct cuda_target {
  cuda_library& library;
  graphline::precision precision = graphline::precision::float32;
  std::string owner;                     ///< leads messages: "stage 'head'"
  std::vector<value_form> inputs = {};   ///< of the tensors that it reads
  std::vector<value_form> outputs = {};  ///< of those it writes
};

/// Lowers a network to a `cuda_program`, layer by layer.
class cuda_lowering : public network_lowering {
 public:
  /// The library must outlive it.
  cuda_lowering(const network_definition& network, const weight_table& weights,
                const cuda_target& target);

  cuda_library& library() const noexcept { return target_.library; }
  graphline::precision precision() const noexcept { return target_.precision; }

  /// The type of the elements inside the network.
  dtype element() const noexcept { return element_of(target_.precision); }

  /// A value as it was made; a constant is row-major.
  cuda_value value(std::size_t index);

  /// The value a layer reads.
  cuda_value input_of(const network_layer& layer, std::size_t which = 0) {
    return value(layer.inputs[which]);
  }

  /// The value a layer reads, row-major.
  cuda_value plain_input_of(const network_layer& layer, std::size_t which = 0) {
    return in_form(layer.inputs[which],
                   {tensor_layout::row_major, input_of(layer, which).form.element}, layer);
  }

  /// Whether a value lies somewhere in that form, without a conversion.
  bool lies_in_form(std::size_t index, const value_form& form) const {
    return find_form(index, form) != nullptr;
  }

  /// The value in that form; adds a conversion, once for all its readers, where it is in none.
  cuda_value in_form(std::size_t index, const value_form& form, const network_layer& reader);

  /// The type in which a kernel should write the output of a layer: one that the network writes as
  /// the caller wants it, where only the type is between them; otherwise `element()` or another.
  dtype result_element(std::size_t layer, tensor_layout layout) const {
    return result_element(layer, layout, element());
  }
  dtype result_element(std::size_t layer, tensor_layout layout, dtype otherwise) const;

  /// States where the output of a layer is.
  void set_output(std::size_t layer, cuda_value value) {
    set_value(this->layer(layer).outputs.front(), value);
  }
  void set_value(std::size_t index, cuda_value value) { values_[index] = {value}; }

  /// A new buffer for `elements` elements of that form.
  cuda_value make_value(std::int64_t elements, const value_form& form);

  /// A constant whose elements are of that type.
  std::size_t constant(std::vector<float> values, dtype element);

  /// Adds a step; `layer` is the one named in the message of a failure.
  void add_kernel(kernel_form form, std::vector<cuda_operand> operands,
                  const network_layer& layer) {
    program_.add_kernel(std::move(form), std::move(operands), owner(layer));
  }

  /// Adds a step for each call of the same operation on other operands, and notes them.
  void add_calls(std::shared_ptr<library_operation> operation,
                 std::vector<std::vector<cuda_operand>> calls, const network_layer& layer);

  /// Adds one call, of which the caller tells.
  void add_call(std::shared_ptr<library_operation> operation, std::vector<cuda_operand> operands,
                const network_layer& layer) {
    program_.add_calls(std::move(operation), {std::move(operands)}, owner(layer));
  }

  /// Brings what the network gives by `group` to the tensors it writes, and states that the steps
  /// since the last part are that group's; without steps it is none.
  void end_part(const layer_group& group);

  /// Throws `run_error`: for that reason the library has nothing for the layer.
  [[noreturn]] void refuse(const network_layer& layer, const std::string& why_not) const;

  /// Places all buffers.
  cuda_program finish();

 private:
  const cuda_value* find_form(std::size_t index, const value_form& form) const;
  void add_conversion(const cuda_value& from, const cuda_value& to, const shape& s,
                      const network_layer& reader);

  cuda_target target_;
  cuda_program program_;
  std::vector<std::vector<cuda_value>> values_;  ///< each in every form made so far
};

/// The network as library calls and kernels. Throws `run_error` naming the layer when the library
/// has nothing for one, however little of it is fused.
cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target);

/// The distance between neighbors along each dimension of a value of that shape, in elements.
std::vector<std::int64_t> strides_of(const shape& s, tensor_layout layout);

/// Adds a kernel that copies a part of one value to a part of another of the same extents.
void add_copy(cuda_lowering& b, const network_layer& layer, const shape& extents,
              const cuda_value& from, const strided_part& from_part, const cuda_value& to,
              const strided_part& to_part);

/// The value with elements of one number before and after it along each dimension, which are added
/// to a copy of it.
cuda_value padded(cuda_lowering& b, const network_layer& layer, const cuda_value& from,
                  const shape& s, const pad_layer& pad);

/// Element-wise layers become a kernel of our own.
void lower_element_wise(cuda_lowering& b, const layer_group& group);

/// A product that a library made, with the first steps of what follows it.
struct made_product {
  cuda_value value;          ///< where it is; nobody else reads it
  followed_product product;  ///< with what follows it,
  bool bias = false;         ///< of which its bias is added
  std::size_t steps = 0;     ///< and so many steps are done
  std::string why_not = {};  ///< the library's reason not to do all
};

/// Adds a kernel for what is left of a group, and states its output.
void lower_rest(cuda_lowering& b, const layer_group& group, const made_product& product);

/// A step of what follows a product that a library may have a place for: an activation, or the sum
/// with another value of the same extents.
struct epilogue_step {
  std::optional<activation> function = {};
  std::size_t added = 0;  ///< the value, of a sum
};

/// The first steps of an expression, as far as all of them are such and at most one is a sum.
std::vector<epilogue_step> epilogue_of(const group_expression& layers, const shape& extents);

// How each other kind of layer becomes steps; `group.head` is the layer itself. Each in the file of
// its family.
void lower(cuda_lowering& b, const layer_group& group, const conv2d_layer& conv);
void lower(cuda_lowering& b, const layer_group& group, const linear_layer& linear);
void lower(cuda_lowering& b, const layer_group& group, const conv_transpose2d_layer& conv);
void lower(cuda_lowering& b, const layer_group& group, const matmul_layer& product);
void lower(cuda_lowering& b, const layer_group& group, const attention_layer& attention);
void lower(cuda_lowering& b, const layer_group& group, const lstm_layer& lstm);

void lower(cuda_lowering& b, const layer_group& group, const softmax_layer& softmax);
void lower(cuda_lowering& b, const layer_group& group, const layer_norm_layer& norm);
void lower(cuda_lowering& b, const layer_group& group, const pool2d_layer& pool);
void lower(cuda_lowering& b, const layer_group& group, const adaptive_avg_pool2d_layer& pool);
void lower(cuda_lowering& b, const layer_group& group, const reduce_layer& reduce);

void lower(cuda_lowering& b, const layer_group& group, const flatten_layer& flatten);
void lower(cuda_lowering& b, const layer_group& group, const reshape_layer& reshape);
void lower(cuda_lowering& b, const layer_group& group, const concat_layer& concat);
void lower(cuda_lowering& b, const layer_group& group, const slice_layer& slice);
void lower(cuda_lowering& b, const layer_group& group, const pad_layer& pad);
void lower(cuda_lowering& b, const layer_group& group, const transpose_layer& transpose);
void lower(cuda_lowering& b, const layer_group& group, const expand_layer& expand);
void lower(cuda_lowering& b, const layer_group& group, const resize2d_layer& resize);
void lower(cuda_lowering& b, const layer_group& group, const gather_layer& gather);
void lower(cuda_lowering& b, const layer_group& group, const take_layer& take);
void lower(cuda_lowering& b, const layer_group& group, const convert_layer& convert);

}  // namespace graphline::nn
