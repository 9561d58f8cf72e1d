#include <algorithm>

#include "stages/nn/cuda/lowering/lowering.hpp"

namespace graphline::nn {

void lower(cuda_lowering& b, const layer_group& group, const layer_norm_layer& norm) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.plain_input_of(head);
  const shape rows = as_rows(b.output_shape(head));
  const cuda_value y = b.make_output(group.head, tensor_layout::row_major);
  const auto constant = [&](std::size_t input) {
    const auto values = b.weights().of(head, input);
    return b.constant({values.begin(), values.end()}, dtype::float32);
  };
  b.add_layer_kernel(group.head,
                     layer_norm_form{.from = x.form.element,
                                     .to = y.form.element,
                                     .rows = rows[0],
                                     .extent = rows[1],
                                     .eps = static_cast<float>(norm.eps)},
                     {x.buffer, constant(1), constant(2), y.buffer}, y);
}

void lower(cuda_lowering& b, const layer_group& group, const softmax_layer& softmax) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.input_of(head);
  const shape& s = b.output_shape(head);
  // Order the extents as in memory, and find the softmax's axis among them.
  std::vector<std::int64_t> extents = s.extents();
  auto axis = softmax.dim < 0 ? softmax.dim + static_cast<std::int64_t>(s.rank()) : softmax.dim;
  if (x.form.layout == tensor_layout::channels_last) {
    extents = {s[0], s[2], s[3], s[1]};
    if (axis > 0) axis = axis == 1 ? 3 : axis - 1;
  }
  const cuda_value y = b.make_output(group.head, x.form.layout);
  const axis_extents lines = extents_along(extents, static_cast<std::size_t>(axis));
  b.add_layer_kernel(group.head,
                     softmax_form{.from = x.form.element, .to = y.form.element, .axis = lines},
                     {x.buffer, y.buffer}, y);
}

namespace {

/// Adds a pool. The kernel reads either layout and any type, and keeps the layout.
void add_pool(cuda_lowering& b, std::size_t layer, const extent_pair& positions, bool adaptive,
              const pool2d_layer& pool) {
  const network_layer& head = b.layer(layer);
  const cuda_value x = b.input_of(head);
  const shape& in = b.input_shape(head);
  const bool channels_last = x.form.layout == tensor_layout::channels_last;
  // With one position, both layouts are the same. A result with one position may lie row-major,
  // because extents of 1 do not affect the order.
  const bool one = positions[0] * positions[1] == 1;
  const tensor_layout layout = one ? tensor_layout::row_major : x.form.layout;
  const cuda_value y = b.make_output(layer, layout);
  b.add_layer_kernel(layer,
                     pool_form{.from = x.form.element,
                               .to = y.form.element,
                               .batch = channels_last ? in[0] : in[0] * in[1],
                               .channels = channels_last ? in[1] : 1,
                               .in = {in[2], in[3]},
                               .out = positions,
                               .adaptive = adaptive,
                               .pool = pool},
                     {x.buffer, y.buffer}, y);
}

}  // namespace

/// The result is row-major.
void lower(cuda_lowering& b, const layer_group& group, const reduce_layer& reduce) {
  using reduction = reduce_layer::reduction;
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  const cuda_value x = b.input_of(head);
  // A mean over height and width is a pool, with or without extents of 1 in the result.
  const bool of_images = reduce.function == reduction::mean && in.rank() == 4 &&
                         reduce.axes == std::vector<std::size_t>{2, 3};
  if (of_images) return add_pool(b, group.head, {1, 1}, /*adaptive=*/true, {});
  const std::vector<std::int64_t> strides = strides_of(in, x.form.layout);
  pointwise_space kept{{}, {{}}};
  pointwise_space reduced{{}, {{}}};
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < in.rank(); ++axis) {
    const bool goes = std::ranges::find(reduce.axes, axis) != reduce.axes.end();
    pointwise_space& space = goes ? reduced : kept;
    space.extents.push_back(in[axis]);
    space.strides[0].push_back(strides[axis]);
    if (goes) count *= in[axis];
  }
  // The result stays float32, because sums may overflow 16-bit types.
  const cuda_value y = b.make_output(group.head, tensor_layout::row_major, dtype::float32);
  reduce_form form{.from = x.form.element,
                   .to = y.form.element,
                   .function = reduce.function,
                   .kept = collapsed(kept),
                   .reduced = collapsed(reduced)};
  if (reduce.function == reduction::mean) {
    form.function = reduction::sum;
    form.scale = 1.0F / static_cast<float>(count);
  }
  if (std::max(form.kept.extents.size(), form.reduced.extents.size()) > most_extents) {
    b.refuse(head, "its elements lie in more than 8 dimensions that cannot be joined");
  }
  b.add_layer_kernel(group.head, std::move(form), {x.buffer, y.buffer}, y);
}

void lower(cuda_lowering& b, const layer_group& group, const pool2d_layer& pool) {
  const shape& out = b.output_shape(b.layer(group.head));
  add_pool(b, group.head, {out[2], out[3]}, /*adaptive=*/false, pool);
}

void lower(cuda_lowering& b, const layer_group& group, const adaptive_avg_pool2d_layer& pool) {
  add_pool(b, group.head, pool.output, /*adaptive=*/true, {});
}

}  // namespace graphline::nn
