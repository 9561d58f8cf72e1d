#include "stages/network/cuda/lowering.hpp"

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

/// No work beyond bringing the elements in order: the same buffer, seen in another shape.
void lower(cuda_program_builder& b, const fused_layers& group, const flatten_layer&) {
  const network_layer& head = b.layer(group.head);
  const dtype element = b.value(head.inputs[0]).form.element;
  const cuda_value packed = b.in_form(head.inputs[0], {tensor_layout::row_major, element}, head);
  b.set_output(group.head, packed);
}

}  // namespace graphline
