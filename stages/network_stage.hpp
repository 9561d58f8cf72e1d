#pragma once

// For the kinds `network` and `onnx`: makes a stage from a definition and its weights.

#include <functional>
#include <memory>

#include "framework/stage/stage.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/definition/definition.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline {

/// Returns the weights of a stage, which may depend on its seed.
using weight_source = std::function<std::shared_ptr<const nn::weight_table>(const stage_config&)>;

/// Prepares a network's stage except its `weights` member. Reads the precision from `values`.
prepared_stage prepared_network(const std::shared_ptr<const nn::network_definition>& network,
                                const weight_source& weights, const arguments& values,
                                const network_factory& make_cuda);

/// Makes the network on a `host` device, with oneDNN primitives and weights in device memory.
/// @throws run_error if oneDNN refuses a layer
std::unique_ptr<device_stage> make_host_network(device& d, const nn::network_definition& network,
                                                const nn::weight_table& weights,
                                                const stage_config& config);

}  // namespace graphline
