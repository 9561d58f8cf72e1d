#include "stages/network/host/lowering.hpp"

namespace graphline {

/// No work beyond bringing the elements in order: the same buffer, seen in another shape.
void lower(program_builder& b, const fused_layers& group, const flatten_layer&) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.network().shape_of(head.inputs[0]);
  const program_tensor packed = b.in_layout(b.input_of(head), plain_layout(in), head);
  b.set_output(group.head, {packed.buffer, plain_layout(head.output)});
}

}  // namespace graphline
