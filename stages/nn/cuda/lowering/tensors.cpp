#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stages/nn/cuda/lowering/lowering.hpp"

namespace graphline::nn {
namespace {

/// Returns the element type of values that are moved without arithmetic. 16-bit types stay. Other
/// types become float32, which is exact for integers up to 2^24.
dtype kept_type(dtype element) {
  return size_of(element) == 2 ? element : dtype::float32;
}

void copy_part(cuda_lowering& b, const layer_group& group, tensor_layout layout,
               const strided_part& part) {
  const network_layer& head = b.layer(group.head);
  const shape& out = b.output_shape(head);
  const cuda_value given = b.input_of(head);
  const cuda_value result = b.make_output(group.head, layout, kept_type(given.form.element));
  add_copy(b, head, out, given, part, result, {0, strides_of(out, layout)});
  b.note("a kernel of its own");
  b.set_output(group.head, result);
}

/// Returns the kernel's table for rows or columns of a resized image.
std::vector<float> table_of(const std::vector<resize_position>& positions) {
  std::vector<float> table;
  for (const resize_position& position : positions) {
    table.insert(table.end(), {static_cast<float>(position.first),
                               static_cast<float>(position.second), position.weight});
  }
  return table;
}

/// Refuses an extent with indices that float32, the type of the tables, cannot represent.
void check_extent(const cuda_lowering& b, const network_layer& layer, std::int64_t extent) {
  if (extent > std::int64_t{1} << 24) {
    b.refuse(layer, "a dimension has more than 2^24 elements");
  }
}

/// Returns a new value for the output of a layer that only moves elements of `x`.
cuda_value moved_output(cuda_lowering& b, const layer_group& group, const cuda_value& x) {
  return b.make_output(group.head, tensor_layout::row_major, kept_type(x.form.element));
}

/// Gathers elements along an axis by `count` indices. `table` contains their buffer and, if they
/// are computed, the buffer of the check.
void add_gather(cuda_lowering& b, const layer_group& group, std::size_t along,
                std::vector<cuda_operand> table, dtype numbers, std::int64_t count) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.plain_input_of(head);
  const cuda_value y = moved_output(b, group, x);
  const axis_extents axis = extents_along(b.input_shape(head).extents(), along);
  table.insert(table.begin(), x.buffer);
  table.insert(table.begin() + 2, y.buffer);
  b.add_layer_kernel(group.head,
                     gather_form{.from = x.form.element,
                                 .to = y.form.element,
                                 .numbers = numbers,
                                 .axis = axis,
                                 .count = count},
                     std::move(table), y);
}

/// Adds a kernel that gathers or scatters by the indices in a layer's second input. `to` is the
/// kernel's output.
void add_indexed(cuda_lowering& b, const network_layer& head, const cuda_value& from,
                 const cuda_value& to, indexed_form form) {
  const cuda_value numbers = b.plain_input_of(head, 1);
  form.from = from.form.element;
  form.to = to.form.element;
  form.numbers = numbers.form.element;
  const std::size_t checks = b.add_checks(head, form.selected.axis, form.selected.extents);
  b.add_kernel(std::move(form), {from.buffer, numbers.buffer, to.buffer, checks}, head);
}

[[noreturn]] void refuse_counted(const cuda_lowering& b, const layer_group& group) {
  const network_layer& head = b.layer(group.head);
  throw refused_layer(
      fmt::format("{}: {} runs on 'host' only; split the model before it, and "
                  "export what precedes it for 'cuda'",
                  b.owner(head), head.kind));
}

}  // namespace

/// Views the same buffer in another shape; copies if the elements are not in row-major order.
void lower(cuda_lowering& b, const layer_group& group, const reshape_layer&) {
  b.set_output(group.head, b.plain_input_of(b.layer(group.head)));
}

/// The result has the layout of the first input.
void lower(cuda_lowering& b, const layer_group& group, const concat_layer& concat) {
  const network_layer& head = b.layer(group.head);
  const shape& out = b.output_shape(head);
  const tensor_layout layout = b.input_of(head).form.layout;
  const std::vector<std::int64_t> strides = strides_of(out, layout);
  dtype kept = b.element();
  for (std::size_t i = 0; i < head.inputs.size(); ++i) {
    if (kept_type(b.input_of(head, i).form.element) == dtype::float32) kept = dtype::float32;
  }
  const cuda_value result = b.make_output(group.head, layout, kept);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < head.inputs.size(); ++i) {
    const shape& extents = b.network().shape_of(head.inputs[i]);
    const cuda_value given = b.input_of(head, i);
    const cuda_value part = b.in_form(head.inputs[i], {layout, given.form.element}, head);
    add_copy(b, head, extents, part, {0, strides_of(extents, layout)}, result, {begin, strides});
    begin += extents[concat.axis] * strides[concat.axis];
  }
  b.note(fmt::format("{} kernels of their own", head.inputs.size()));
  b.set_output(group.head, result);
}

void lower(cuda_lowering& b, const layer_group& group, const slice_layer& slice) {
  const network_layer& head = b.layer(group.head);
  const tensor_layout layout = b.input_of(head).form.layout;
  copy_part(b, group, layout, part_of(slice, strides_of(b.input_shape(head), layout)));
}

void lower(cuda_lowering& b, const layer_group& group, const transpose_layer& transpose) {
  const network_layer& head = b.layer(group.head);
  const auto strides = strides_of(b.input_shape(head), b.input_of(head).form.layout);
  copy_part(b, group, tensor_layout::row_major, part_of(transpose, strides));
}

void lower(cuda_lowering& b, const layer_group& group, const expand_layer& expand) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  const auto strides = strides_of(in, b.input_of(head).form.layout);
  copy_part(b, group, tensor_layout::row_major,
            {0, broadcast_strides(in, strides, expand.extents)});
}

void lower(cuda_lowering& b, const layer_group& group, const pad_layer& pad) {
  const network_layer& head = b.layer(group.head);
  b.set_output(group.head, padded(b, head, b.input_of(head), b.input_shape(head), pad));
  b.note("2 kernels of their own");
}

void lower(cuda_lowering& b, const layer_group& group, const resize2d_layer& resize) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.input_of(head);
  const shape& in = b.input_shape(head);
  const shape& out = b.output_shape(head);
  check_extent(b, head, std::max(in[2], in[3]));
  const bool channels_last = x.form.layout == tensor_layout::channels_last;
  const cuda_value y = b.make_output(group.head, x.form.layout);
  b.add_layer_kernel(group.head,
                     resize_form{.from = x.form.element,
                                 .to = y.form.element,
                                 .batch = channels_last ? in[0] : in[0] * in[1],
                                 .channels = channels_last ? in[1] : 1,
                                 .in = {in[2], in[3]},
                                 .out = {out[2], out[3]}},
                     {x.buffer, b.constant(table_of(resize.rows), dtype::float32),
                      b.constant(table_of(resize.columns), dtype::float32), y.buffer},
                     y);
}

void lower(cuda_lowering& b, const layer_group& group, const gather_layer& gather) {
  const std::vector<float> table(gather.indices.begin(), gather.indices.end());
  check_extent(b, b.layer(group.head), b.input_shape(b.layer(group.head))[gather.axis]);
  add_gather(b, group, gather.axis, {b.constant(table, dtype::float32)}, dtype::float32,
             std::ssize(table));
}

void lower(cuda_lowering& b, const layer_group& group, const take_layer& take) {
  const network_layer& head = b.layer(group.head);
  const cuda_value numbers = b.plain_input_of(head, 1);
  const std::size_t check = b.add_checks(head, take.axis, {b.input_shape(head)[take.axis]});
  add_gather(b, group, take.axis, {numbers.buffer, check}, numbers.form.element,
             b.network().shape_of(head.inputs[1]).elements());
}

void lower(cuda_lowering& b, const layer_group& group, const indexed_gather_layer& gather) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.plain_input_of(head);
  const cuda_value y = moved_output(b, group, x);
  add_indexed(b, head, x, y, {.selected = gather.selected});
  b.note("a kernel of its own");
  b.set_output(group.head, y);
}

void lower(cuda_lowering& b, const layer_group& group, const indexed_scatter_layer& scatter) {
  const network_layer& head = b.layer(group.head);
  const shape& extents = b.output_shape(head);
  const cuda_value x = b.plain_input_of(head);
  const cuda_value y = moved_output(b, group, x);
  const std::vector<std::int64_t> strides = packed_strides(extents);
  add_copy(b, head, extents, x, {0, strides}, y, {0, strides});
  add_indexed(b, head, b.plain_input_of(head, 2), y,
              {.selected = scatter.selected, .scatters = true, .function = scatter.function});
  b.note("2 kernels of their own");
  b.set_output(group.head, y);
}

void lower(cuda_lowering& b, const layer_group& group, const resample_layer& resample) {
  const network_layer& head = b.layer(group.head);
  const axis_extents axis = extents_along(b.input_shape(head).extents(), resample.axis);
  check_extent(b, head, axis.extent);
  std::vector<float> table;
  for (std::size_t i = 0; i < resample.indices.size(); ++i) {
    table.insert(table.end(), {static_cast<float>(resample.indices[i]), resample.weights[i]});
  }
  const cuda_value x = b.plain_input_of(head);
  const cuda_value y = b.make_output(group.head, tensor_layout::row_major);
  b.add_layer_kernel(group.head,
                     resample_form{.from = x.form.element,
                                   .to = y.form.element,
                                   .axis = axis,
                                   .count = b.output_shape(head)[resample.axis],
                                   .taps = resample.taps},
                     {x.buffer, b.constant(std::move(table), dtype::float32), y.buffer}, y);
}

void lower(cuda_lowering& b, const layer_group& group, const top_k_layer& top) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.plain_input_of(head);
  const axis_extents axis = extents_along(b.input_shape(head).extents(), top.axis);
  const cuda_value values = moved_output(b, group, x);
  const cuda_value indices = b.make_value(b.output_shape(head).elements(), {});
  b.add_layer_kernel(group.head,
                     top_k_form{.from = x.form.element,
                                .indices = indices.form.element,
                                .to = values.form.element,
                                .axis = axis,
                                .count = top.count,
                                .largest = top.largest,
                                .last_of_equal = top.last_of_equal},
                     {x.buffer, indices.buffer, values.buffer}, values);
  b.set_value(head.outputs[1], indices);
}

void lower(cuda_lowering& b, const layer_group& group, const cumulative_sum_layer& sum) {
  const network_layer& head = b.layer(group.head);
  const cuda_value x = b.plain_input_of(head);
  const cuda_value y = b.make_output(group.head, tensor_layout::row_major);
  const axis_extents axis = extents_along(b.input_shape(head).extents(), sum.axis);
  b.add_layer_kernel(group.head,
                     cumulative_sum_form{.from = x.form.element,
                                         .to = y.form.element,
                                         .axis = axis,
                                         .exclusive = sum.exclusive,
                                         .reverse = sum.reverse},
                     {x.buffer, y.buffer}, y);
}

void lower(cuda_lowering& b, const layer_group& group, const non_max_suppression_layer&) {
  refuse_counted(b, group);
}

void lower(cuda_lowering& b, const layer_group& group, const nonzero_layer&) {
  refuse_counted(b, group);
}

void lower(cuda_lowering& b, const layer_group& group, const convert_layer& convert) {
  const network_layer& head = b.layer(group.head);
  const cuda_value given = b.input_of(head);
  // An output of the network is converted where it is copied to its tensor.
  const bool stays = convert.to != dtype::float32 || given.form.element == b.element();
  const value_form form{given.form.layout, dtype::float32};
  b.set_output(group.head, stays ? given : b.in_form(head.inputs[0], form, head));
}

}  // namespace graphline::nn
