#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stages/network/cuda/cuda_program.hpp"

namespace graphline {

/// The network as library calls and kernels. Throws `run_error` naming stage and layer when the
/// library has nothing for one, however little of it is fused.
cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target);

// How each kind of layer becomes steps; `group.head` is the layer itself. Each in the file of its
// family.
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

/// One thing that is applied to the product of a conv2d or linear, or to what an element-wise layer
/// reads.
struct tail_link {
  enum class kind { bias, activate, add };  ///< a batch norm is a bias with a scale before it
  kind what = kind::activate;
  std::size_t layer = 0;  ///< whose it is
  activation function = activation::relu;
};

/// What follows the head of a group, in order: its bias first if it has one, then its epilogue.
std::vector<tail_link> tail_of(const network_definition& network, const fused_layers& group,
                               bool bias);

/// The links as a message lists them: "bias, gelu".
std::string describe(const network_definition& network, std::span<const tail_link> links);

/// What a tail works on.
struct tail_input {
  cuda_value value;
  std::vector<float> bias = {};   ///< per channel
  std::vector<float> scale = {};  ///< per channel, multiplied with before the bias; or empty
  std::int64_t inner = 1;         ///< elements from one channel to the next
  bool may_overwrite = false;     ///< nobody else reads the value
};

/// Adds kernels that apply the links, and states the output of `last`, the last link's layer.
void lower_tail(cuda_program_builder& b, std::span<const tail_link> links, tail_input input,
                std::size_t last);

/// How long the kernels take that apply the links to a value with channels last, and bring the
/// output of `last` to the type it is wanted in; nothing where the library does not tell.
std::optional<nanoseconds> time_of_tail(const cuda_program_builder& b,
                                        std::span<const tail_link> links, std::size_t last);

/// What to say of a tail that the library left to a kernel. `why_not` is its reason.
void note_tail(cuda_program_builder& b, std::span<const tail_link> links,
               const std::string& why_not);

}  // namespace graphline
