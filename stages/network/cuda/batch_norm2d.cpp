#include "stages/network/cuda/lowering.hpp"
#include "stages/network/cuda/tail.hpp"
#include "stages/network/norm_folding.hpp"

namespace graphline {

/// A batch norm that no convolution took into its weights.
void lower(cuda_program_builder& b, const fused_layers& group, const batch_norm2d_layer&) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.value(head.inputs[0]);
  const bool channels_last = x.form.layout == tensor_layout::channels_last;
  const channel_affine norm = affine_of(b.weights(), head);
  b.note("a kernel of its own");
  lower_tail(b, tail_of(b.network(), group, /*bias=*/true),
             {.value = x,
              .bias = {norm.shift.begin(), norm.shift.end()},
              .scale = {norm.scale.begin(), norm.scale.end()},
              .inner = channels_last ? 1 : head.output[2] * head.output[3]},
             group.last());
}

}  // namespace graphline
