#pragma once

#include <cstddef>
#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/stage/stage.hpp"
#include "stages/network/definition.hpp"
#include "stages/network/fusion.hpp"
#include "stages/network/network_weights.hpp"
#include "stages/network/program_buffers.hpp"
#include "stages/onednn/onednn_operation.hpp"

namespace graphline {

/// A value during the network: where and in which layout.
struct program_tensor {
  std::size_t buffer = 0;
  dnnl::memory::desc layout;
};

/// What one step touches.
struct program_operand {
  int role = 0;  ///< DNNL_ARG_SRC, ...
  program_tensor tensor;
  std::size_t offset = 0;  ///< where in the buffer it begins, in bytes
};

/// One operation, not yet bound to memory. `make` gets the operands in order, with their addresses.
struct program_step {
  std::string name;  ///< "conv2d+bias+gelu [jit:avx512_core]"
  std::vector<program_operand> operands;
  std::function<std::unique_ptr<host_operation>(const std::vector<onednn_argument>&)> make;
};

/// A weight in host memory and the layout in which the steps want it.
struct program_constant {
  std::size_t buffer = 0;
  dnnl::memory::desc given;
  dnnl::memory::desc wanted;
  std::vector<float> values;
};

/// Layers computed as one, and the steps that do it.
struct program_part {
  std::string name;  ///< "0.conv2d+1.gelu"
  graphline::cost cost;
  std::size_t end_steps = 0;  ///< it ends before this step; the part after it begins there
};

/// A network as a list of operations for the `host` device.
struct host_program {
  std::vector<program_buffer> buffers;
  std::vector<program_step> steps;
  std::vector<program_part> parts;
  std::vector<program_constant> constants;  ///< until `load_constants`
  std::size_t weights_bytes = 0;
  std::size_t scratch_bytes = 0;

  /// Gives every buffer its offset: weights one after the other, scratch reused by lifetime.
  void place_buffers();

  /// Writes the constants to `weights` in the layouts the steps want and drops the host copies. On
  /// the worker thread.
  void load_constants(std::byte* weights);

  /// The operations on the given memory, in order.
  std::vector<std::unique_ptr<host_operation>> bind(const program_memory& memory) const;
};

/// Grows a `host_program` layer by layer. Used on the worker thread, where oneDNN plans for the
/// right number of threads.
class program_builder {
 public:
  /// `stage` is its name, for messages. The network and the weights must outlive the builder.
  program_builder(const network_definition& network, const weight_table& weights,
                  std::string stage);

  const network_definition& network() const noexcept { return network_; }
  const network_layer& layer(std::size_t index) const { return network_.layers[index]; }

  const weight_table& weights() const noexcept { return weights_; }

  /// A weight of a layer by its own name ("bias").
  std::span<const float> weight(const network_layer& layer, std::string_view name) const {
    return weights_.of(layer, name);
  }

  /// The value a layer reads, as it lies now.
  const program_tensor& input_of(const network_layer& layer, std::size_t which = 0) const {
    return values_[layer.inputs[which]];
  }

  /// States where the output of a layer is.
  void set_output(std::size_t layer, program_tensor tensor);

  /// A new buffer for a value of that layout.
  program_tensor make_tensor(const dnnl::memory::desc& layout);

  /// The same value in the layout that `layer` wants; adds a reorder where it differs.
  program_tensor in_layout(const program_tensor& tensor, const dnnl::memory::desc& wanted,
                           const network_layer& layer);

  /// The same elements, packed, seen in another shape; as it lies where that is its shape already.
  program_tensor in_shape(const program_tensor& tensor, const shape& wanted,
                          const network_layer& layer);

  /// A constant in the wanted layout, given packed and row-major.
  program_tensor constant(std::vector<float> values, const shape& extents,
                          const dnnl::memory::desc& wanted);

  /// Adds a primitive named after its content and oneDNN's implementation; its scratchpad is added
  /// to the operands. `layer` is the one named in the message of a failure.
  template <class Primitive>
  void add_primitive(std::string_view content, const network_layer& layer,
                     const typename Primitive::primitive_desc& chosen,
                     std::vector<program_operand> operands) {
    add_primitive(content, layer, Primitive(chosen), chosen, chosen.scratchpad_desc(),
                  std::move(operands));
  }

  void add_step(program_step step) { program_.steps.push_back(std::move(step)); }

  /// States that the steps since the last part are `group`; a group without steps is none.
  void end_part(const fused_layers& group);

  /// "stage 'head', layer '0.linear'".
  std::string owner(const network_layer& layer) const;

  /// Brings the last layer's output to the tensor the network writes, and places all buffers.
  host_program finish();

 private:
  void add_primitive(std::string_view content, const network_layer& layer,
                     const dnnl::primitive& primitive, const dnnl::primitive_desc_base& chosen,
                     const dnnl::memory::desc& scratchpad, std::vector<program_operand> operands);
  void add_reorder(const program_tensor& from, const program_tensor& to,
                   const network_layer& layer);
  std::size_t add_buffer(buffer_place place, std::size_t bytes);

  const network_definition& network_;
  const weight_table& weights_;
  std::string stage_;
  host_program program_;
  std::vector<program_tensor> values_;
};

}  // namespace graphline
