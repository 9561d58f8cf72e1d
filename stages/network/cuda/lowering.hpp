#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/precision.hpp"
#include "stages/cuda/cuda_program.hpp"
#include "stages/network/network_builder.hpp"

namespace graphline {

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
  std::string stage;                     ///< its name, for messages
  std::vector<value_form> inputs = {};   ///< of the tensors that it reads
  std::vector<value_form> outputs = {};  ///< of those it writes
};

/// Grows a `cuda_program` layer by layer.
class cuda_program_builder : public network_builder {
 public:
  /// The library must outlive the builder.
  cuda_program_builder(const network_definition& network, const weight_table& weights,
                       const cuda_target& target);

  cuda_library& library() const noexcept { return target_.library; }
  graphline::precision precision() const noexcept { return target_.precision; }

  /// The type of the elements inside the network.
  dtype element() const noexcept { return element_of(target_.precision); }

  /// A value as it was made.
  const cuda_value& value(std::size_t index) const { return values_[index].front(); }

  /// Whether a value lies somewhere in that form, without a conversion.
  bool lies_in_form(std::size_t index, const value_form& form) const {
    return find_form(index, form) != nullptr;
  }

  /// The value in that form; adds a conversion, once for all its readers, where it is in none.
  cuda_value in_form(std::size_t index, const value_form& form, const network_layer& reader);

  /// The type in which a kernel should write the output of a layer: one that the network writes as
  /// the caller wants it, where only the type is between them.
  dtype result_element(std::size_t layer, tensor_layout layout) const;

  /// States where the output of a layer is.
  void set_output(std::size_t layer, cuda_value value) {
    values_[this->layer(layer).outputs.front()] = {value};
  }

  /// A new buffer for `elements` elements of that form.
  cuda_value make_value(std::int64_t elements, const value_form& form);

  /// A constant whose elements are of that type.
  std::size_t constant(std::vector<float> values, dtype element);

  /// Adds a step; `layer` is the one named in the message of a failure.
  void add_kernel(kernel_form form, std::vector<cuda_operand> operands,
                  const network_layer& layer) {
    program_.add_kernel(std::move(form), std::move(operands), owner(layer));
  }

  /// Adds a step for each call of the same operation on other operands.
  void add_calls(std::unique_ptr<library_operation> operation,
                 std::vector<std::vector<cuda_operand>> calls, const network_layer& layer);

  /// States that the steps since the last part are `group`; a group without steps is none.
  void end_part(const fused_layers& group) { add_part(program_, group, program_.steps.size()); }

  /// Throws `run_error`: for that reason the library has nothing for the layer.
  [[noreturn]] void refuse(const network_layer& layer, const std::string& why_not) const;

  /// Brings what the network gives to the tensors it writes, and places all buffers.
  cuda_program finish();

 private:
  const cuda_value* find_form(std::size_t index, const value_form& form) const;
  void add_conversion(const cuda_value& from, const cuda_value& to, const shape& s,
                      const network_layer& reader);

  cuda_target target_;
  cuda_program program_;
  std::vector<std::vector<cuda_value>> values_;  ///< each in every form made so far
};

/// The network as library calls and kernels. Throws `run_error` naming stage and layer when the
/// library has nothing for one, however little of it is fused.
cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target);

// How each kind of layer becomes steps; `group.head` is the layer itself. Each in the file of its
// family.
void lower(cuda_program_builder& b, const fused_layers& group, const conv2d_layer& conv);
void lower(cuda_program_builder& b, const fused_layers& group, const linear_layer& linear);
void lower(cuda_program_builder& b, const fused_layers& group, const add_layer& add);
void lower(cuda_program_builder& b, const fused_layers& group, const activation_layer& activation);
void lower(cuda_program_builder& b, const fused_layers& group, const softmax_layer& softmax);
void lower(cuda_program_builder& b, const fused_layers& group, const batch_norm2d_layer& norm);
void lower(cuda_program_builder& b, const fused_layers& group, const layer_norm_layer& norm);
void lower(cuda_program_builder& b, const fused_layers& group, const attention_layer& attention);
void lower(cuda_program_builder& b, const fused_layers& group, const pool2d_layer& pool);
void lower(cuda_program_builder& b, const fused_layers& group,
           const adaptive_avg_pool2d_layer& pool);
void lower(cuda_program_builder& b, const fused_layers& group, const flatten_layer& flatten);

/// One thing that is applied to the product of a conv2d or linear, or to what an element-wise layer
/// reads.
struct tail_link {
  enum class kind { bias, activate, add };  ///< a batch norm is a bias with a scale before it
  kind what = kind::activate;
  std::size_t layer = 0;  ///< whose it is
  activation function = activation::relu;
};

/// What follows the head of a group, in order: its bias first if it has one, then its epilogue.
std::vector<tail_link> tail_of(const network_definition& network, const fused_layers& group,
                               bool bias);

/// What a tail works on.
struct tail_input {
  cuda_value value;
  std::vector<float> bias = {};   ///< per channel
  std::vector<float> scale = {};  ///< per channel, multiplied with before the bias; or empty
  std::int64_t inner = 1;         ///< elements from one channel to the next
  bool may_overwrite = false;     ///< nobody else reads the value
};

/// Adds kernels that apply the links, and states the output of `last`, the last link's layer.
void lower_tail(cuda_program_builder& b, std::span<const tail_link> links, tail_input input,
                std::size_t last);

/// What to say of a tail that the library left to a kernel. `why_not` is its reason.
void note_tail(cuda_program_builder& b, std::span<const tail_link> links,
               const std::string& why_not);

}  // namespace graphline
