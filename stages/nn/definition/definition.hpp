#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "stages/nn/layers/shape_rules.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn {

/// What a network reads, a constant of it, or what one of its layers gives.
struct network_value {
  std::string name;  ///< of a constant: "0.weight", "stem.bias"
  tensor_type type;
  bool constant = false;       ///< the same in every frame: a weight
  initial_value initial = {};  ///< of a constant that is drawn from a seed
  /// How many numbers the model as written has for it, where not as many as its elements. 0: it is
  /// its reader's own, such as a scale of ones, or what passes between the layers of one node.
  std::optional<std::int64_t> written = {};

  std::int64_t written_elements() const { return written.value_or(type.shape.elements()); }
};

/// One layer of a network, checked and with its shapes.
struct network_layer {
  std::string name;  ///< the given name, or "0.conv2d"
  std::string kind;
  layer_operation operation;
  std::vector<std::size_t> inputs;  ///< values it reads, in the order that its operation states
  std::vector<std::size_t> outputs = {};
  std::vector<std::int64_t> reads = {};  ///< elements of each input that the model as written reads
  graphline::cost cost = {};
  place where = {};
};

/// A network, whatever runs it. A layer reads what stands before it: inputs, constants and what
/// earlier layers give.
struct network_definition {
  std::vector<network_value> values;
  std::vector<std::size_t> inputs;  ///< the values that it reads, in their order
  std::vector<std::size_t> outputs;
  std::vector<network_layer> layers;

  const graphline::shape& shape_of(std::size_t value) const { return values[value].type.shape; }

  /// The shape of the first value that a layer reads, and of the first it gives.
  const graphline::shape& input_of(const network_layer& layer) const {
    return shape_of(layer.inputs.front());
  }
  const graphline::shape& output_of(const network_layer& layer) const {
    return shape_of(layer.outputs.front());
  }
};

/// Whether a layer sees the same elements in another shape, which moves nothing.
bool is_view(const network_layer& layer);

/// How many elements of one of its inputs a layer reads.
std::int64_t elements_read(const network_definition& network, const network_layer& layer,
                           std::size_t input);

/// How many beyond those that the model as written reads.
std::int64_t elements_beyond(const network_definition& network, const network_layer& layer,
                             std::size_t input);

/// Counts a layer's bytes: those of the model as written, and those beyond.
void count_bytes(const network_definition& network, network_layer& layer);

/// The extents of a value seen as rows of its last dimension: [2, 197, 192] as [394, 192].
shape as_rows(const shape& s);

/// Grows a network, each layer after what it reads.
class definition_builder {
 public:
  const network_definition& network() const noexcept { return network_; }

  /// The value of what the network reads next, and of a constant whose data the reader has.
  std::size_t add_input(std::string name, tensor_type type);
  std::size_t add_constant(std::string name, tensor_type type,
                           std::optional<std::int64_t> written = {});

  /// Adds a layer whose name, kind, operation, place and inputs are stated, its weights apart: they
  /// become constants whose names begin with `prefix`, and its inputs after the others. `givers`
  /// are who gives each input, for messages. The first value that it gives; nothing where its
  /// operation does not fit what it reads, which is reported.
  std::optional<std::size_t> add_layer(network_layer layer, const std::string& prefix,
                                       std::span<const std::string> givers,
                                       layer_problems& problems);

  /// The same with weights that are constants of the network already.
  std::optional<std::size_t> add_layer(network_layer layer, std::span<const std::size_t> weights,
                                       std::span<const std::string> givers,
                                       layer_problems& problems);

  /// States that the layers from this one on are one node of the model as written, which reads
  /// these values, each as often as it stands here, and gives those.
  void make_node(std::size_t first_layer, std::span<const std::size_t> read,
                 std::span<const std::size_t> given);

  /// Replaces the FLOPs of the layer that gives a value.
  void set_flops(std::size_t value, std::int64_t flops);

  network_definition finish(std::vector<std::size_t> outputs) {
    network_.outputs = std::move(outputs);
    return std::move(network_);
  }

 private:
  std::size_t add_value(network_value value);
  std::optional<layer_shape> infer(const network_layer& layer, std::span<const std::string> givers,
                                   layer_problems& problems);
  std::size_t append(network_layer layer, const layer_shape& inferred);

  /// Bounds that keep all later arithmetic on sizes and costs within 64 bits: 64 TiB, and what no
  /// machine computes.
  void check_size(const layer_shape& inferred, layer_problems& problems);

  void count_parameters(network_layer& layer, std::size_t weights);

  network_definition network_;
  std::set<std::size_t> counted_;  ///< constants that are parameters of a layer so far
  std::int64_t flops_ = 0;         ///< of all layers so far
};

}  // namespace graphline::nn
