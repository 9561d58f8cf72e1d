#pragma once

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "stages/nn/onednn/onednn_program.hpp"
#include "stages/nn/program/network_lowering.hpp"

namespace graphline::nn {

/// Lowers a network to a `host_program`, layer by layer, on the worker thread.
class host_lowering : public network_lowering {
 public:
  host_lowering(const network_definition& network, const weight_table& weights, std::string owner);

  /// A value as it lies now; a constant is row-major.
  const host_value& value(std::size_t index);

  /// The value a layer reads.
  const host_value& input_of(const network_layer& layer, std::size_t which = 0) {
    return value(layer.inputs[which]);
  }

  /// The value a layer reads, packed and row-major.
  host_value plain_input_of(const network_layer& layer, std::size_t which = 0);

  /// States where the output of a layer is.
  void set_output(std::size_t layer, host_value tensor) {
    set_value(this->layer(layer).outputs.front(), std::move(tensor));
  }
  void set_value(std::size_t value, host_value tensor) { values_[value] = std::move(tensor); }

  /// A new buffer for a value of that layout.
  host_value make_tensor(const dnnl::memory::desc& layout);

  /// Lets a value lie in part of a tensor, where those who make it write it from then on; not one
  /// that lies in another already, or outside of what the program itself holds.
  bool lay_within(const host_value& tensor, const host_value& whole, std::size_t offset);

  /// What lies in part of a tensor.
  host_value part_of(const host_value& whole, std::size_t offset,
                     const dnnl::memory::desc& layout) {
    return {program_.add_part_of(whole.buffer, offset, layout.get_size()), layout};
  }

  /// The same value in the layout that `layer` wants; adds a reorder where it differs.
  host_value in_layout(const host_value& tensor, const dnnl::memory::desc& wanted,
                       const network_layer& layer);

  /// The same elements, packed, seen in another shape; as it lies where that is its shape already.
  host_value in_shape(const host_value& tensor, const shape& wanted, const network_layer& layer);

  /// A constant in the wanted layout, given in another: packed and row-major, or as `given` states.
  host_value constant(std::span<const float> values, const shape& extents,
                      const dnnl::memory::desc& wanted) {
    return constant(values, plain_layout(extents), wanted);
  }
  host_value constant(std::span<const float> values, const dnnl::memory::desc& given,
                      const dnnl::memory::desc& wanted);

  /// What a layer reads as its input of that number: a constant with one extent.
  host_value vector_of(const network_layer& layer, std::size_t input);

  /// Adds a primitive named after its content and oneDNN's implementation. `layer` is the one named
  /// in the message of a failure.
  template <class Primitive>
  void add_primitive(std::string_view content, const network_layer& layer,
                     const typename Primitive::primitive_desc& chosen,
                     std::vector<host_operand> operands) {
    program_.add_primitive<Primitive>(content, owner(layer), chosen, std::move(operands));
    note(program_.steps.back().name);
  }

  /// Adds a primitive that makes a layer's output of `source` and what else it reads.
  template <class Primitive>
  void add_layer(std::size_t index, const host_value& source,
                 const typename Primitive::primitive_desc& chosen,
                 std::vector<host_operand> others = {}) {
    const host_value result = make_tensor(chosen.dst_desc());
    others.push_back({DNNL_ARG_SRC, source});
    others.push_back({DNNL_ARG_DST, result});
    add_primitive<Primitive>(layer(index).kind, layer(index), chosen, std::move(others));
    set_output(index, in_shape(result, output_shape(layer(index)), layer(index)));
  }

  void add_step(host_step step);

  /// Brings what the network gives by `group` to the tensors it writes, and states that the steps
  /// since the last part are that group's; without steps it is none.
  void end_part(const layer_group& group);

  /// Places all buffers. `asked` is the precision that was asked for.
  host_program finish(precision asked);

 private:
  void add_reorder(const host_value& from, const host_value& to, const network_layer& layer);

  host_program program_;
  std::vector<host_value> values_;
};

/// Element-wise layers become loops of our own.
void lower_element_wise(host_lowering& b, const layer_group& group);

/// So does a layer that gives the mean of each plane of [N, C, height, width].
void lower_plane_means(host_lowering& b, std::size_t index);

// How each other kind of layer becomes steps; `group.head` is the layer itself. Each in the file of
// its family.
void lower(host_lowering& b, const layer_group& group, const conv2d_layer& conv);
void lower(host_lowering& b, const layer_group& group, const linear_layer& linear);
void lower(host_lowering& b, const layer_group& group, const softmax_layer& softmax);
void lower(host_lowering& b, const layer_group& group, const layer_norm_layer& norm);
void lower(host_lowering& b, const layer_group& group, const attention_layer& attention);
void lower(host_lowering& b, const layer_group& group, const pool2d_layer& pool);
void lower(host_lowering& b, const layer_group& group, const adaptive_avg_pool2d_layer& pool);
void lower(host_lowering& b, const layer_group& group, const flatten_layer& flatten);

void lower(host_lowering& b, const layer_group& group, const conv_transpose2d_layer& conv);
void lower(host_lowering& b, const layer_group& group, const matmul_layer& product);
void lower(host_lowering& b, const layer_group& group, const concat_layer& concat);
void lower(host_lowering& b, const layer_group& group, const slice_layer& slice);
void lower(host_lowering& b, const layer_group& group, const pad_layer& pad);
void lower(host_lowering& b, const layer_group& group, const transpose_layer& transpose);
void lower(host_lowering& b, const layer_group& group, const reshape_layer& reshape);
void lower(host_lowering& b, const layer_group& group, const expand_layer& expand);
void lower(host_lowering& b, const layer_group& group, const reduce_layer& reduce);
void lower(host_lowering& b, const layer_group& group, const resize2d_layer& resize);
void lower(host_lowering& b, const layer_group& group, const gather_layer& gather);
void lower(host_lowering& b, const layer_group& group, const take_layer& take);
void lower(host_lowering& b, const layer_group& group, const convert_layer& convert);
void lower(host_lowering& b, const layer_group& group, const lstm_layer& lstm);

/// How a network is lowered for the `host` device.
struct host_target {
  std::string owner;                     ///< leads messages: "stage 'head'"
  precision asked = precision::float32;  ///< for reports; it computes in float32
  bool flush_denormals = true;           ///< while its operations run
};

/// The network as oneDNN primitives and loops. On the worker thread. Throws `run_error` naming the
/// layer when oneDNN refuses one.
host_program lower_network_for_host(const network_definition& network, const weight_table& weights,
                                    const host_target& target);

}  // namespace graphline::nn
