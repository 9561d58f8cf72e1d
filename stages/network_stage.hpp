#pragma once

// Shared by the kinds `network` and `onnx`: from a definition and its weights to a stage.

#include <functional>
#include <memory>

#include "framework/stage/stage.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/definition/definition.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline {

/// Gives the weights of a stage, which may depend on its seed.
using weight_source = std::function<std::shared_ptr<const nn::weight_table>(const stage_config&)>;

/// A stage that runs a network, all but its `weights` member. `values` has the stage's precision.
prepared_stage prepared_network(const std::shared_ptr<const nn::network_definition>& network,
                                const weight_source& weights, const arguments& values,
                                const network_factory& make_cuda);

/// The network on a `host` device: oneDNN primitives, weights in device memory.
/// @throws run_error if oneDNN refuses a layer
std::unique_ptr<device_stage> make_host_network(device& d, const nn::network_definition& network,
                                                const nn::weight_table& weights,
                                                const stage_config& config);

}  // namespace graphline
