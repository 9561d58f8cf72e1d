#include "stages/network/cuda/lowering.hpp"

namespace graphline {

void lower(cuda_program_builder& b, const fused_layers& group, const layer_norm_layer& norm) {
  const network_layer& head = b.layer(group.head);
  const tensor_layout layout = tensor_layout::row_major;
  const dtype element = b.value(head.inputs[0]).form.element;
  const cuda_value x = b.in_form(head.inputs[0], {layout, element}, head);
  const shape rows = as_rows(head.output);
  const cuda_value y =
      b.make_value(head.output.elements(), {layout, b.result_element(group.head, layout)});
  const auto constant = [&](std::string_view name) {
    const auto values = b.weights().of(head, name);
    return b.constant({values.begin(), values.end()}, dtype::float32);
  };
  b.add_kernel(layer_norm_form{.from = x.form.element,
                               .to = y.form.element,
                               .rows = rows[0],
                               .extent = rows[1],
                               .eps = static_cast<float>(norm.eps)},
               {x.buffer, constant("weight"), constant("bias"), y.buffer}, head);
  b.note("a kernel of its own");
  b.set_output(group.head, y);
}

}  // namespace graphline
