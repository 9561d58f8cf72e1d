#pragma once

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/precision.hpp"
#include "stages/nn/onednn/onednn_program.hpp"
#include "stages/nn/program/network_lowering.hpp"

namespace graphline::nn {

/// Lowers a network to a `host_program`, group by group. Runs on the worker thread.
class host_lowering : public network_lowering {
 public:
  host_lowering(const network_definition& network, const weight_table& weights, std::string owner);

  /// Returns a value in its current layout; constants are row-major.
  const host_value& value(std::size_t index);

  const host_value& input_of(const network_layer& layer, std::size_t which = 0) {
    return value(layer.inputs[which]);
  }

  /// Returns an input of a layer, packed and row-major.
  host_value plain_input_of(const network_layer& layer, std::size_t which = 0);

  void set_output(std::size_t layer, host_value tensor) {
    set_value(this->layer(layer).outputs.front(), std::move(tensor));
  }
  void set_value(std::size_t value, host_value tensor) { values_[value] = std::move(tensor); }

  host_value make_tensor(const dnnl::memory::desc& layout);

  /// Makes all outputs of a layer, packed and row-major.
  std::vector<host_operand> make_outputs(const network_layer& of);

  /// See `program::add_checks`.
  host_value add_checks(const network_layer& layer, std::size_t axis,
                        const std::vector<std::int64_t>& extents) {
    return {program_.add_checks(layer.name, axis, extents), plain_layout({std::ssize(extents)})};
  }

  /// Places a value inside a larger tensor, so that its producers write there. Returns false if the
  /// value is already part of a tensor or is not in scratch memory.
  bool lay_within(const host_value& tensor, const host_value& whole, std::size_t offset);

  host_value part_of(const host_value& whole, std::size_t offset,
                     const dnnl::memory::desc& layout) {
    return {program_.add_part_of(whole.buffer, offset, layout.get_size()), layout};
  }

  /// Returns the value in the layout `wanted`; adds a reorder if its layout differs.
  host_value in_layout(const host_value& tensor, const dnnl::memory::desc& wanted,
                       const network_layer& layer);

  /// Returns the value viewed in another shape. The view is packed unless the shape is unchanged.
  host_value in_shape(const host_value& tensor, const shape& wanted, const network_layer& layer);

  /// Adds a constant in the layout `wanted`. `values` are laid out as `given`; by default, packed
  /// and row-major.
  host_value constant(std::vector<float> values, const shape& extents,
                      const dnnl::memory::desc& wanted) {
    return constant(std::move(values), plain_layout(extents), wanted);
  }
  host_value constant(std::vector<float> values, const dnnl::memory::desc& given,
                      const dnnl::memory::desc& wanted);

  /// Adds a constant of the network, row-major.
  host_value constant(std::span<const float> values, const shape& extents) {
    return constant({values.begin(), values.end()}, extents, plain_layout(extents));
  }

  /// Adds a one-dimensional constant input of a layer.
  host_value vector_of(const network_layer& layer, std::size_t input);

  /// Adds a primitive named after `content` and oneDNN's implementation. Failures name `layer`.
  template <class Primitive>
  void add_primitive(std::string_view content, const network_layer& layer,
                     const typename Primitive::primitive_desc& chosen,
                     std::vector<host_operand> operands) {
    program_.add_primitive<Primitive>(content, owner(layer), chosen, std::move(operands));
    note(program_.steps.back().name);
  }

  /// Adds a primitive that computes a layer's output from `source` and other operands.
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

  /// Adds loops, named after `content` and their kind: "concat [AVX2 loops]".
  void add_loops(std::string_view content, std::string_view kind, std::vector<host_operand> from,
                 const std::vector<host_operand>& to, host_loops loops);

  /// Adds loops that compute all outputs of a layer from all its inputs. The tensors are packed and
  /// row-major. `checks`, if any, is a further output.
  void add_layer_loops(std::size_t index, host_loops loops,
                       const std::vector<host_operand>& checks = {});

  /// Copies each network output that `group` computes to its tensor. Then ends the group's part of
  /// the program, which contains all steps since the previous part.
  void end_part(const layer_group& group);

  /// Places all buffers and returns the program. `asked` is the requested precision, for reports.
  host_program finish(precision asked);

 private:
  void add_reorder(const host_value& from, const host_value& to, const network_layer& layer);

  host_program program_;
  std::vector<host_value> values_;
};

void lower_element_wise(host_lowering& b, const layer_group& group);

/// Lowers the mean of each plane of [N, C, height, width] to loops.
void lower_plane_means(host_lowering& b, std::size_t index);

// Lower all other layers, each in the file of its family. `group.head` is the layer.
#define GRAPHLINE_LOWER(layer) void lower(host_lowering& b, const layer_group& group, const layer&);
GRAPHLINE_LOWERED_LAYERS(GRAPHLINE_LOWER)
#undef GRAPHLINE_LOWER

struct host_target {
  std::string owner;                     ///< leads messages: "stage 'head'"
  precision asked = precision::float32;  ///< requested, for reports; host computes in float32
  bool flush_denormals = true;
};

/// Lowers a network to oneDNN primitives and loops. Runs on the worker thread. @throws run_error
/// naming the layer that oneDNN refuses.
host_program lower_network_for_host(const network_definition& network, const weight_table& weights,
                                    const host_target& target);

/// Computes the outputs of a network without inputs, on the calling thread alone, so that they do
/// not depend on the number of cores. @throws run_error naming the layer that oneDNN refuses.
std::vector<std::vector<float>> evaluate_on_host(const network_definition& network,
                                                 const weight_table& weights);

}  // namespace graphline::nn
