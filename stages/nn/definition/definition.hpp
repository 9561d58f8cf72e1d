#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
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
  bool constant = false;       ///< data of the model
  bool whole = false;          ///< integers or bools, which are float32 in every precision
  initial_value initial = {};  ///< for a constant drawn from a seed
  /// Element count in the model as written; empty if it equals the shape's. 0 for values added by
  /// the reader, for example a scale of ones.
  std::optional<std::int64_t> written = {};

  std::int64_t written_elements() const { return written.value_or(type.shape.elements()); }
};

/// A layer that passed all checks.
struct network_layer {
  std::string name;  ///< from the model, or "0.conv2d"
  std::string kind;
  layer_operation operation;
  std::vector<std::size_t> inputs;  ///< values, in the order that the operation defines
  std::vector<std::size_t> outputs = {};
  std::vector<std::int64_t> reads = {};  ///< elements read per input by the model as written
  graphline::cost cost = {};
  std::int64_t shared_parameters = 0;  ///< parameters it reads that count with an earlier layer
  place where = {};
};

/// A device-independent network. A layer reads the network's inputs, its constants, and the outputs
/// of earlier layers.
struct network_definition {
  std::vector<network_value> values;
  std::vector<std::size_t> inputs;  ///< indices of values
  std::vector<std::size_t> outputs;
  std::vector<network_layer> layers;

  const graphline::shape& shape_of(std::size_t value) const { return values[value].type.shape; }

  /// Return the shapes of a layer's first input and first output.
  const graphline::shape& input_of(const network_layer& layer) const {
    return shape_of(layer.inputs.front());
  }
  const graphline::shape& output_of(const network_layer& layer) const {
    return shape_of(layer.outputs.front());
  }
};

/// Returns true if a layer only views its input in another shape.
bool is_view(const network_layer& layer);

/// Returns the number of elements of an input that a layer reads.
std::int64_t elements_read(const network_definition& network, const network_layer& layer,
                           std::size_t input);

/// Returns how many more elements a layer reads than the model as written.
std::int64_t elements_beyond(const network_definition& network, const network_layer& layer,
                             std::size_t input);

/// Returns how often each value is read, by layers and as an output of the network.
std::vector<std::size_t> reads_of_values(const network_definition& network);

/// Sets the bytes that a layer reads and writes in the model as written, and the extra bytes moved.
void count_bytes(const network_definition& network, network_layer& layer);

/// Returns the extents of a value viewed as rows: [2, 197, 192] -> [394, 192].
shape as_rows(const shape& s);

/// Returns the shape [extent, 1, ...] of `rank` dimensions: one number per position of the first.
shape first_of(std::int64_t extent, std::size_t rank);

/// Builds a network layer by layer, inputs first.
class definition_builder {
 public:
  const network_definition& network() const noexcept { return network_; }

  /// Adds a network input, or a constant whose data the caller keeps; returns the value's index. If
  /// `same_as` is set, the constant has the parameters of that constant in another order.
  std::size_t add_input(std::string name, tensor_type type);
  std::size_t add_constant(std::string name, tensor_type type,
                           std::optional<std::int64_t> written = {},
                           std::optional<std::size_t> same_as = {});

  /// The weights of a layer: constants of the network, or a prefix for the names of new ones.
  using layer_weights = std::variant<std::string, std::vector<std::size_t>>;

  /// Adds a layer, which has all inputs except the weights. `givers` names the producer of each
  /// input in messages. Returns the layer's first output; empty, after a report, if the operation
  /// does not fit its inputs.
  std::optional<std::size_t> add_layer(network_layer layer, const layer_weights& weights,
                                       std::span<const std::string> givers,
                                       layer_problems& problems);

  /// Declares that the layers from `first_layer` on are one node of the model as written. `read`
  /// contains each value as often as the node reads it; `given` contains the node's outputs.
  void make_node(std::size_t first_layer, std::span<const std::size_t> read,
                 std::span<const std::size_t> given);

  /// Declares that the layers from `first_layer` on compute integers or bools.
  void make_whole(std::size_t first_layer);

  /// Replaces the FLOPs of the layer whose first output is `value`.
  void set_flops(std::size_t value, std::int64_t flops);

  network_definition finish(std::vector<std::size_t> outputs) {
    network_.outputs = std::move(outputs);
    return std::move(network_);
  }

 private:
  std::size_t add_value(network_value value);
  std::optional<layer_shape> infer(const network_layer& layer, std::span<const std::string> givers,
                                   layer_problems& problems);
  void count_parameters(network_layer& layer, std::size_t weights);

  network_definition network_;
  std::set<std::size_t> counted_;               ///< constants already counted as parameters
  std::map<std::size_t, std::size_t> same_as_;  ///< by constant: the one that has its parameters
  std::int64_t flops_ = 0;                      ///< sum over all layers
};

}  // namespace graphline::nn
