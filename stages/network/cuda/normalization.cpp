#include "stages/network/cuda/lowering.hpp"
#include "stages/network/fusion.hpp"

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

void lower(cuda_program_builder& b, const fused_layers& group, const softmax_layer& softmax) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.value(head.inputs[0]);
  const shape& s = head.output;
  // The extents as they lie in memory, and where the softmax's is among them.
  std::vector<std::int64_t> extents = s.extents();
  auto axis = softmax.dim < 0 ? softmax.dim + static_cast<std::int64_t>(s.rank()) : softmax.dim;
  if (x.form.layout == tensor_layout::channels_last) {
    extents = {s[0], s[2], s[3], s[1]};
    if (axis > 0) axis = axis == 1 ? 3 : axis - 1;
  }
  const cuda_value y =
      b.make_value(s.elements(), {x.form.layout, b.result_element(group.head, x.form.layout)});
  softmax_form form{.from = x.form.element, .to = y.form.element};
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(extents.size()); ++i) {
    const std::int64_t extent = extents[static_cast<std::size_t>(i)];
    (i < axis ? form.outer : i == axis ? form.extent : form.inner) *= extent;
  }
  b.add_kernel(form, {x.buffer, y.buffer}, head);
  b.note("a kernel of its own");
  b.set_output(group.head, y);
}

}  // namespace graphline
