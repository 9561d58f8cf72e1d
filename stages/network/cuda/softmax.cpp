#include "stages/network/cuda/lowering.hpp"

namespace graphline {

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
