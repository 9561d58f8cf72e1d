#pragma once

#include <span>
#include <string>

#include "stages/network/host/program_builder.hpp"

namespace graphline {

/// The network as oneDNN primitives. On the worker thread. Throws `run_error` naming stage and
/// layer when oneDNN refuses one.
host_program lower_network(const network_definition& network, const weight_table& weights,
                           const std::string& stage);

// How each kind of layer becomes steps; `group.head` is the layer itself. Each in the file of its
// name or family.
void lower(program_builder& b, const fused_layers& group, const conv2d_layer& conv);
void lower(program_builder& b, const fused_layers& group, const linear_layer& linear);
void lower(program_builder& b, const fused_layers& group, const add_layer& add);
void lower(program_builder& b, const fused_layers& group, const activation_layer& activation);
void lower(program_builder& b, const fused_layers& group, const softmax_layer& softmax);
void lower(program_builder& b, const fused_layers& group, const batch_norm2d_layer& norm);
void lower(program_builder& b, const fused_layers& group, const layer_norm_layer& norm);
void lower(program_builder& b, const fused_layers& group, const attention_layer& attention);
void lower(program_builder& b, const fused_layers& group, const pool2d_layer& pool);
void lower(program_builder& b, const fused_layers& group, const adaptive_avg_pool2d_layer& pool);
void lower(program_builder& b, const fused_layers& group, const flatten_layer& flatten);

}  // namespace graphline
