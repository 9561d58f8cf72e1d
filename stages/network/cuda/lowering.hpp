#pragma once

#include "stages/network/cuda/cuda_program_builder.hpp"

namespace graphline {

/// The network as library calls and kernels. Throws `run_error` naming stage and layer when the
/// library has nothing for one, however little of it is fused.
cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target);

// How each kind of layer becomes steps; `group.head` is the layer itself. Each in the file of its
// name or family.
void lower(cuda_program_builder& b, const fused_layers& group, const conv2d_layer& conv);
void lower(cuda_program_builder& b, const fused_layers& group, const linear_layer& linear);
void lower(cuda_program_builder& b, const fused_layers& group, const add_layer& add);
void lower(cuda_program_builder& b, const fused_layers& group, const activation_layer& activation);
void lower(cuda_program_builder& b, const fused_layers& group, const softmax_layer& softmax);
void lower(cuda_program_builder& b, const fused_layers& group, const batch_norm2d_layer& norm);
void lower(cuda_program_builder& b, const fused_layers& group, const layer_norm_layer& norm);
void lower(cuda_program_builder& b, const fused_layers& group, const attention_layer& attention);
void lower(cuda_program_builder& b, const fused_layers& group, const pool2d_layer& pool);
void lower(cuda_program_builder& b, const fused_layers& group,
           const adaptive_avg_pool2d_layer& pool);
void lower(cuda_program_builder& b, const fused_layers& group, const flatten_layer& flatten);

}  // namespace graphline
