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

/// An input of a network, a constant, or the output of a layer.
struct network_value {
  std::string name;  ///< for constants: "0.weight", "stem.bias"
  tensor_type type;
  bool constant = false;       ///< a weight
  initial_value initial = {};  ///< for a constant drawn from a seed
  /// Numbers that the model as written has for it, if not its element count. 0: added by the
  /// reader, such as a scale of ones or a value between the layers of one node.
  std::optional<std::int64_t> written = {};

  std::int64_t written_elements() const { return written.value_or(type.shape.elements()); }
};

/// One layer, checked and with its shapes.
struct network_layer {
  std::string name;  ///< the given name, or "0.conv2d"
  std::string kind;
  layer_operation operation;
  std::vector<std::size_t> inputs;  ///< values, in the order of its operation
  std::vector<std::size_t> outputs = {};
  std::vector<std::int64_t> reads = {};  ///< elements read per input by the model as written
  graphline::cost cost = {};
  place where = {};
};

/// A network, independent of device. A layer reads inputs, constants and outputs of earlier layers.
struct network_definition {
  std::vector<network_value> values;
  std::vector<std::size_t> inputs;  ///< values
  std::vector<std::size_t> outputs;
  std::vector<network_layer> layers;

  const graphline::shape& shape_of(std::size_t value) const { return values[value].type.shape; }

  /// Shapes of a layer's first input and first output.
  const graphline::shape& input_of(const network_layer& layer) const {
    return shape_of(layer.inputs.front());
  }
  const graphline::shape& output_of(const network_layer& layer) const {
    return shape_of(layer.outputs.front());
  }
};

/// Whether a layer only views its input in another shape.
bool is_view(const network_layer& layer);

/// Elements of one of its inputs that a layer reads.
std::int64_t elements_read(const network_definition& network, const network_layer& layer,
                           std::size_t input);

/// Elements read beyond those that the model as written reads.
std::int64_t elements_beyond(const network_definition& network, const network_layer& layer,
                             std::size_t input);

/// Sets a layer's bytes: those of the model as written, and those beyond.
void count_bytes(const network_definition& network, network_layer& layer);

/// A value's extents as rows of its last dimension: [2, 197, 192] -> [394, 192].
shape as_rows(const shape& s);

/// Builds a network layer by layer, inputs first.
class definition_builder {
 public:
  const network_definition& network() const noexcept { return network_; }

  /// Adds a network input, or a constant whose data the reader keeps; returns its value.
  std::size_t add_input(std::string name, tensor_type type);
  std::size_t add_constant(std::string name, tensor_type type,
                           std::optional<std::int64_t> written = {});

  /// Adds a layer whose name, kind, operation, place and inputs, weights excluded, are set. Its
  /// weights become constants named after `prefix`, appended to its inputs. `givers` names the
  /// producer of each input in messages. Returns its first output; empty, after a report, if the
  /// operation does not fit its inputs.
  std::optional<std::size_t> add_layer(network_layer layer, const std::string& prefix,
                                       std::span<const std::string> givers,
                                       layer_problems& problems);

  /// The same with weights that already are constants of the network.
  std::optional<std::size_t> add_layer(network_layer layer, std::span<const std::size_t> weights,
                                       std::span<const std::string> givers,
                                       layer_problems& problems);

  /// Declares the layers from `first_layer` on to be one node of the model as written, which reads
  /// the values in `read`, repeated as often as it reads them, and gives those in `given`.
  void make_node(std::size_t first_layer, std::span<const std::size_t> read,
                 std::span<const std::size_t> given);

  /// Replaces the FLOPs of the layer with this output.
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

  /// Bounds that keep later arithmetic on sizes and costs within 64 bits: 64 TiB per tensor, 2^57
  /// FLOPs per network.
  void check_size(const layer_shape& inferred, layer_problems& problems);

  void count_parameters(network_layer& layer, std::size_t weights);

  network_definition network_;
  std::set<std::size_t> counted_;  ///< constants already counted as parameters
  std::int64_t flops_ = 0;         ///< of all layers added
};

}  // namespace graphline::nn
