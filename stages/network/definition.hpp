#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/stage/stage.hpp"
#include "stages/network/layer_kind.hpp"

namespace graphline {

/// One layer of a network, checked and with its shapes. Values are numbered: 0 is what the network
/// reads, i + 1 what layer i gives.
struct network_layer {
  std::string name;  ///< the given name, or "0.conv2d"
  std::string kind;
  layer_operation operation;
  std::vector<std::size_t> inputs;  ///< values it reads; for `add` the other operand after it
  graphline::shape output;
  graphline::cost cost;
  std::vector<weight_spec> weights;  ///< with whole names: "0.weight", "stem.bias"
  place where = {};
};

/// A network, whatever runs it.
struct network_definition {
  graphline::shape input;
  std::vector<network_layer> layers;

  const graphline::shape& shape_of(std::size_t value) const {
    return value == 0 ? input : layers[value - 1].output;
  }
};

/// The extents of a value seen as rows of its last dimension: [2, 197, 192] as [394, 192].
shape as_rows(const shape& s);

/// Reads the list of layers and works out every shape. Reports everything wrong to `out`: layers
/// after one that failed are still checked for what does not depend on its shape. `where` is the
/// place for problems of the whole. After an error the result is incomplete.
network_definition define_network(const node& layers, const graphline::shape& input,
                                  const place& where, diagnostics& out);

/// The network of a stage's `layers`, which the planner has found to be in order.
network_definition network_of(const stage_config& config);

/// The `network` stage on a `host` device: oneDNN primitives, weights in device memory. Throws
/// `input_error` for a wrong weights file, `run_error` when oneDNN refuses a layer.
std::unique_ptr<device_stage> make_network_host(device& d, const stage_config& config);

}  // namespace graphline
