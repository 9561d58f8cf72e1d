#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/precision.hpp"
#include "framework/base/tensor_type.hpp"
#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/kernel_forms.hpp"
#include "stages/network/definition.hpp"
#include "stages/network/fusion.hpp"
#include "stages/network/network_weights.hpp"
#include "stages/network/program_buffers.hpp"

namespace graphline {

/// What a step reads or writes: a buffer, or what begins somewhere in it.
struct cuda_operand {
  cuda_operand(std::size_t whole, std::size_t from = 0) : buffer(whole), offset(from) {}

  std::size_t buffer;
  std::size_t offset;  ///< in bytes
};

/// One operation on buffers: a kernel of the project or a call of a library.
struct cuda_step {
  std::variant<kernel_form, std::shared_ptr<library_operation>> work;
  std::vector<cuda_operand> operands;    ///< in the order that the work states
  std::optional<std::size_t> workspace;  ///< a buffer, for a library that needs one
  std::string owner;                     ///< "stage 'head', layer '0.linear'", for messages
};

/// Layers computed as one, and the steps that do it.
struct cuda_part {
  std::string name;    ///< "0.conv2d+1.gelu"
  std::string choice;  ///< "cuDNN engine 8, 1.5 MiB workspace"
  graphline::cost cost;
  std::size_t end_steps = 0;  ///< it ends before this step; the part after it begins there
};

/// A weight in host memory and the type of the elements that the steps want.
struct cuda_constant {
  std::size_t buffer = 0;
  dtype element = dtype::float32;
  std::vector<float> values;
};

/// A step with the addresses of its operands.
struct bound_step {
  const cuda_step* step = nullptr;
  std::vector<void*> operands;
  void* workspace = nullptr;
};

/// A network as a list of operations for a `cuda` device: plain data but for the library's plans,
/// so that something other than a GPU can carry it out too.
struct cuda_program {
  std::vector<program_buffer> buffers;
  std::vector<cuda_step> steps;
  std::vector<cuda_part> parts;
  std::vector<cuda_constant> constants;  ///< until `write_constants`
  std::size_t weights_bytes = 0;
  std::size_t scratch_bytes = 0;

  /// Gives every buffer its offset: weights one after the other, scratch reused by lifetime.
  void place_buffers();

  /// Writes the constants to `weights`, in host memory, and drops the copies.
  void write_constants(std::byte* weights);

  /// The steps on the given memory, in order. The program must outlive them.
  std::vector<bound_step> bind(const program_memory& memory) const;
};

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
  std::string stage;       ///< its name, for messages
  value_form input = {};   ///< of the tensor that it reads
  value_form output = {};  ///< of the one it writes
};

/// Grows a `cuda_program` layer by layer.
class cuda_program_builder {
 public:
  /// The network, the weights and the library must outlive the builder.
  cuda_program_builder(const network_definition& network, const weight_table& weights,
                       cuda_target target);

  const network_definition& network() const noexcept { return network_; }
  const network_layer& layer(std::size_t index) const { return network_.layers[index]; }
  const weight_table& weights() const noexcept { return weights_; }
  cuda_library& library() const noexcept { return target_.library; }
  graphline::precision precision() const noexcept { return target_.precision; }

  /// The type of the elements inside the network.
  dtype element() const noexcept { return element_of(target_.precision); }

  /// How the tensor that the network writes is to lie.
  const value_form& output_form() const noexcept { return target_.output; }

  /// A value as it was made: 0 is what the network reads, i + 1 what layer i gives.
  const cuda_value& value(std::size_t index) const { return values_[index].front(); }

  /// Whether a value lies somewhere in that form, without a conversion.
  bool lies_in_form(std::size_t index, const value_form& form) const {
    return find_form(index, form) != nullptr;
  }

  /// The value in that form; adds a conversion, once for all its readers, where it is in none.
  cuda_value in_form(std::size_t index, const value_form& form, const network_layer& reader);

  /// The type in which a kernel should write the output of a layer: the network's last as the
  /// caller wants it, where only the type is between them.
  dtype result_element(std::size_t layer, tensor_layout layout) const;

  /// States where the output of a layer is.
  void set_output(std::size_t layer, cuda_value value);

  /// A new buffer for `elements` elements of that form.
  cuda_value make_value(std::int64_t elements, const value_form& form);

  /// A constant whose elements are of that type.
  std::size_t constant(std::vector<float> values, dtype element);

  /// Adds a step; `layer` is the one named in the message of a failure.
  void add_kernel(kernel_form form, std::vector<cuda_operand> operands, const network_layer& layer);
  void add_library(std::unique_ptr<library_operation> operation, std::vector<cuda_operand> operands,
                   const network_layer& layer);

  /// Adds a step for each call of the same operation on other operands.
  void add_calls(std::unique_ptr<library_operation> operation,
                 std::vector<std::vector<cuda_operand>> calls, const network_layer& layer);

  /// Adds to what the report says of the current part.
  void note(const std::string& text);

  /// States that the steps since the last part are `group`; a group without steps is none.
  void end_part(const fused_layers& group);

  /// "stage 'head', layer '0.linear'".
  std::string owner(const network_layer& layer) const;

  /// Throws `run_error`: for that reason the library has nothing for the layer.
  [[noreturn]] void refuse(const network_layer& layer, const std::string& why_not) const;

  /// Brings the last layer's output to the tensor the network writes, and places all buffers.
  cuda_program finish();

 private:
  cost part_cost(const fused_layers& group) const;
  const cuda_value* find_form(std::size_t index, const value_form& form) const;
  void add_conversion(const cuda_value& from, const cuda_value& to, const shape& s,
                      const network_layer& reader);
  std::size_t add_buffer(buffer_place place, std::size_t bytes);

  const network_definition& network_;
  const weight_table& weights_;
  cuda_target target_;
  cuda_program program_;
  std::vector<std::vector<cuda_value>> values_;  ///< each in every form made so far
  std::string notes_;
};

}  // namespace graphline
