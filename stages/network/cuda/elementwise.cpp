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

/// A batch norm that no convolution took into its weights.
void lower(cuda_program_builder& b, const fused_layers& group, const batch_norm2d_layer&) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.value(head.inputs[0]);
  const bool channels_last = x.form.layout == tensor_layout::channels_last;
  const channel_affine norm = affine_of(b.weights(), head);
  const shape& s = b.output_shape(head);
  b.note("a kernel of its own");
  lower_tail(b, tail_of(b.network(), group, /*bias=*/true),
             {.value = x,
              .bias = {norm.shift.begin(), norm.shift.end()},
              .scale = {norm.scale.begin(), norm.scale.end()},
              .inner = channels_last ? 1 : s[2] * s[3]},
             group.last());
}

void lower(cuda_program_builder& b, const fused_layers& group, const layer_norm_layer& norm) {
  const network_layer& head = b.layer(group.head);
  const tensor_layout layout = tensor_layout::row_major;
  const dtype element = b.value(head.inputs[0]).form.element;
  const cuda_value x = b.in_form(head.inputs[0], {layout, element}, head);
  const shape rows = as_rows(b.output_shape(head));
  const cuda_value y =
      b.make_value(b.output_shape(head).elements(), {layout, b.result_element(group.head, layout)});
  const auto constant = [&](std::size_t input) {
    const auto values = b.weights().of(head, input);
    return b.constant({values.begin(), values.end()}, dtype::float32);
  };
  b.add_kernel(layer_norm_form{.from = x.form.element,
                               .to = y.form.element,
                               .rows = rows[0],
                               .extent = rows[1],
                               .eps = static_cast<float>(norm.eps)},
               {x.buffer, constant(1), constant(2), y.buffer}, head);
  b.note("a kernel of its own");
  b.set_output(group.head, y);
}

void lower(cuda_program_builder& b, const fused_layers& group, const softmax_layer& softmax) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.value(head.inputs[0]);
  const shape& s = b.output_shape(head);
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

namespace {

/// A pool takes its input in either layout and type, and gives the layout it took.
void add_pool(cuda_program_builder& b, std::size_t layer, bool adaptive, const pool2d_layer& pool) {
  const network_layer& head = b.layer(layer);
  const cuda_value x = b.value(head.inputs[0]);
  const shape& in = b.input_shape(head);
  const shape& out = b.output_shape(head);
  const bool channels_last = x.form.layout == tensor_layout::channels_last;
  const cuda_value y =
      b.make_value(out.elements(), {x.form.layout, b.result_element(layer, x.form.layout)});
  b.add_kernel(pool_form{.from = x.form.element,
                         .to = y.form.element,
                         .batch = channels_last ? in[0] : in[0] * in[1],
                         .channels = channels_last ? in[1] : 1,
                         .in = {in[2], in[3]},
                         .out = {out[2], out[3]},
                         .adaptive = adaptive,
                         .pool = pool},
               {x.buffer, y.buffer}, head);
  b.note("a kernel of its own");
  b.set_output(layer, y);
}

}  // namespace

void lower(cuda_program_builder& b, const fused_layers& group, const pool2d_layer& pool) {
  add_pool(b, group.head, /*adaptive=*/false, pool);
}

void lower(cuda_program_builder& b, const fused_layers& group, const adaptive_avg_pool2d_layer&) {
  add_pool(b, group.head, /*adaptive=*/true, {});
}

}  // namespace graphline
