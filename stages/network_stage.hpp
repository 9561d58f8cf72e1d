#pragma once

// What the kinds `network` and `onnx` share: from a definition and its weights to a stage.

#include <memory>

#include "framework/stage/stage.hpp"
#include "stages/nn/definition/definition.hpp"
#include "stages/nn/onnx/onnx_import.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline {

/// The network of a `network` stage, which the planner has found to be in order.
nn::network_definition network_of(const stage_config& config);

/// The network of an `onnx` stage, likewise. Throws `input_error` where the file was changed since.
nn::onnx_network onnx_network_of(const stage_config& config);

/// What a stage that runs a network tells the planner.
stage_shape shape_of_network(const nn::network_definition& network);

/// The network on a `host` device: oneDNN primitives, weights in device memory. Throws `run_error`
/// when oneDNN refuses a layer.
std::unique_ptr<device_stage> make_host_network(device& d, const nn::network_definition& network,
                                                const nn::weight_table& weights,
                                                const stage_config& config);

/// The network on a `cuda` device.
std::unique_ptr<device_stage> make_cuda_network(device& d, const nn::network_definition& network,
                                                const nn::weight_table& weights,
                                                const stage_config& config);

}  // namespace graphline
