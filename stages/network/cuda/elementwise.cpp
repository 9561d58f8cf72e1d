#include "stages/network/cuda/lowering.hpp"
#include "stages/network/cuda/tail.hpp"
#include "stages/network/norm_folding.hpp"

namespace graphline {

void lower(cuda_program_builder& b, const fused_layers& group, const activation_layer& activated) {
  std::vector<tail_link> links = tail_of(b.network(), group, /*bias=*/false);
  links.insert(links.begin(), {tail_link::kind::activate, group.head, activated.function});
  b.note("a kernel of its own");
  lower_tail(b, links, {.value = b.value(b.layer(group.head).inputs[0])}, group.last());
}

void lower(cuda_program_builder& b, const fused_layers& group, const add_layer&) {
  const network_layer& head = b.layer(group.head);
  const value_form& first = b.value(head.inputs[0]).form;
  const value_form& second = b.value(head.inputs[1]).form;
  // Both in the form of the network's inside, rather than in that of its input.
  value_form common;
  if (first.element == b.element() || second.element == b.element()) common.element = b.element();
  if (first.layout == tensor_layout::channels_last ||
      second.layout == tensor_layout::channels_last) {
    common.layout = tensor_layout::channels_last;
  }
  const cuda_value x = b.in_form(head.inputs[0], common, head);
  std::vector<tail_link> links = tail_of(b.network(), group, /*bias=*/false);
  links.insert(links.begin(), {tail_link::kind::add, group.head});
  b.note("a kernel of its own");
  lower_tail(b, links, {.value = x}, group.last());
}

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
