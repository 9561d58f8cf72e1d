#include <fmt/format.h>

#include <algorithm>

#include "stages/network/layers/layers.hpp"

namespace graphline {
namespace {

/// Cost of bringing `out` together from elements of `in`: none but the bytes.
cost moving(std::int64_t read, const shape& out) {
  return {.bytes_read = 4 * read, .bytes_written = 4 * count_of(out)};
}

}  // namespace

layer_shape infer(const pointwise_layer& layer, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  std::vector<shape> shapes;
  std::int64_t read = 0;
  for (const layer_input& input : inputs) {
    shapes.push_back(input.shape);
    read += count_of(input.shape);
  }
  const auto output = broadcast(shapes);
  if (!output) {
    std::string given;
    for (const layer_input& input : inputs) {
      given +=
          fmt::format("{}{} of {}", given.empty() ? "" : ", ", input.giver, to_string(input.shape));
    }
    problems.report("needs shapes that broadcast to one but reads " + given);
    return {};
  }
  layer_shape result{.output = *output};
  result.cost = element_cost(*output, *output, traits_of(layer.function).flops);
  result.cost.bytes_read = 4 * read;
  return result;
}

layer_shape infer(const concat_layer& concat, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  std::vector<std::int64_t> extents = inputs[0].shape.extents();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const shape& other = inputs[i].shape;
    bool fits = other.rank() == extents.size();
    for (std::size_t axis = 0; fits && axis < extents.size(); ++axis) {
      fits = axis == concat.axis || other[axis] == extents[axis];
    }
    if (!fits) {
      problems.report(fmt::format("cannot join {} of {} and {} of {} along dimension {}",
                                  inputs[0].giver, to_string(inputs[0].shape), inputs[i].giver,
                                  to_string(other), concat.axis));
      return {};
    }
    extents[concat.axis] += other[concat.axis];
  }
  const shape output(std::move(extents));
  return {.output = output, .cost = moving(count_of(output), output)};
}

layer_shape infer(const slice_layer& slice, std::span<const layer_input>, layer_problems&) {
  return {.output = slice.extents, .cost = moving(count_of(slice.extents), slice.extents)};
}

layer_shape infer(const pad_layer& pad, std::span<const layer_input> inputs, layer_problems&) {
  std::vector<std::int64_t> extents = inputs[0].shape.extents();
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    extents[axis] += pad.before[axis] + pad.after[axis];
  }
  const shape output(std::move(extents));
  return {.output = output, .cost = moving(count_of(inputs[0].shape), output)};
}

layer_shape infer(const transpose_layer& transpose, std::span<const layer_input> inputs,
                  layer_problems&) {
  std::vector<std::int64_t> extents;
  for (const std::size_t axis : transpose.order) extents.push_back(inputs[0].shape[axis]);
  const shape output(std::move(extents));
  return {.output = output, .cost = moving(count_of(output), output)};
}

layer_shape infer(const reshape_layer& reshape, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  if (reshape.extents.checked_elements() != inputs[0].shape.checked_elements()) {
    problems.report(fmt::format("cannot see {} of {} as {}", inputs[0].giver,
                                to_string(inputs[0].shape), to_string(reshape.extents)));
    return {};
  }
  // The elements stay where they are: no work and no bytes.
  return {.output = reshape.extents};
}

layer_shape infer(const expand_layer& expand, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const shape both[] = {inputs[0].shape, expand.extents};
  if (broadcast(both) != expand.extents) {
    problems.report(fmt::format("cannot broadcast {} of {} to {}", inputs[0].giver,
                                to_string(inputs[0].shape), to_string(expand.extents)));
    return {};
  }
  return {.output = expand.extents, .cost = moving(count_of(inputs[0].shape), expand.extents)};
}

layer_shape infer(const reduce_layer& reduce, std::span<const layer_input> inputs,
                  layer_problems&) {
  const shape& input = inputs[0].shape;
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < input.rank(); ++axis) {
    const bool gone = std::ranges::find(reduce.axes, axis) != reduce.axes.end();
    if (!gone) extents.push_back(input[axis]);
    if (gone && reduce.keep_dims) extents.push_back(1);
  }
  layer_shape result{.output = shape(std::move(extents))};
  result.cost = element_cost(input, result.output, 0);
  // One addition or comparison for each element but the first; a mean divides in its place.
  const bool divides = reduce.function == reduce_layer::reduction::mean;
  result.cost.flops = count_of(input) - (divides ? 0 : count_of(result.output));
  return result;
}

layer_shape infer(const resize2d_layer& resize, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  if (!expect_images(inputs[0], problems)) return {};
  const shape& input = inputs[0].shape;
  const shape output{input[0], input[1], static_cast<std::int64_t>(resize.rows.size()),
                     static_cast<std::int64_t>(resize.columns.size())};
  const auto blends = [](const std::vector<resize_position>& positions) {
    return std::ranges::any_of(positions, [](const auto& at) { return at.weight != 0; });
  };
  // A difference, a product and a sum for each dimension along which elements are blended.
  const std::int64_t flops = (blends(resize.rows) ? 3 : 0) + (blends(resize.columns) ? 3 : 0);
  return {.output = output, .cost = element_cost(input, output, flops)};
}

layer_shape infer(const gather_layer& gather, std::span<const layer_input> inputs,
                  layer_problems&) {
  std::vector<std::int64_t> extents = inputs[0].shape.extents();
  extents[gather.axis] = static_cast<std::int64_t>(gather.indices.size());
  const shape output(std::move(extents));
  return {.output = output, .cost = moving(count_of(output), output)};
}

layer_shape infer(const convert_layer& convert, std::span<const layer_input> inputs,
                  layer_problems&) {
  const shape& output = inputs[0].shape;
  layer_shape result{.output = output, .cost = moving(0, output)};
  result.cost.bytes_read =
      count_of({count_of(output), static_cast<std::int64_t>(size_of(convert.from))});
  return result;
}

}  // namespace graphline
