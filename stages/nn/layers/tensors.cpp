#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "stages/nn/layers/layers.hpp"
#include "stages/nn/operations/indexed_places.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::nn {
namespace {

parameter dim_parameter() {
  return {.name = "dim", .help = "The dimension; negative: from the last.", .required = true};
}

/// Indices are float32, which represents every integer up to 2^24.
constexpr std::int64_t most_indexed = std::int64_t{1} << 24;

/// Reports an error if loops and kernels cannot select these elements.
void check_indexed(const indexed_elements& selected, const layer_input& x,
                   layer_problems& problems) {
  constexpr std::size_t most = indexed_places::most_axes;
  const auto is_large = [](std::int64_t extent) { return extent > most_indexed; };
  if (selected.space.extents.size() > most || selected.extents.size() > most) {
    problems.refuse("takes indices of more than {} dimensions", most);
  } else if (std::ranges::any_of(selected.extents, is_large)) {
    problems.refuse("takes elements out of more than 2^24 ({} gives {})", x.giver,
                    to_string(x.shape));
  }
}

/// Returns the extent for rows of which a layer gives up to `most`. It is at least 2, so that these
/// rows lie along a dimension that differs from those of one element.
std::int64_t counted_capacity(std::int64_t most, layer_problems& problems) {
  if (most > most_indexed) problems.refuse("may give {} rows, above 2^24", most);
  return std::max<std::int64_t>(most, 2);
}

/// Returns the product of the extents that are not -1.
std::int64_t stated_elements(const std::vector<std::int64_t>& extents) {
  std::int64_t stated = 1;
  for (const std::int64_t extent : extents) {
    if (extent != -1) stated = count_of({stated, extent});
  }
  return stated;
}

/// Infers the extent -1. If that is impossible, keeps -1, which the shape rule refuses.
layer_operation read_reshape(const arguments& values, layer_inputs inputs, layer_problems&) {
  std::vector<std::int64_t> extents = values.integers("shape");
  if (std::ranges::count(extents, -1) == 1) {
    const std::int64_t known = stated_elements(extents);
    const std::int64_t elements = inputs[0].shape.elements();
    if (known > 0 && elements % known == 0) *std::ranges::find(extents, -1) = elements / known;
  }
  return reshape_layer{shape(std::move(extents))};
}

layer_operation read_flatten(const arguments& values, layer_inputs inputs,
                             layer_problems& problems) {
  const auto start = resolve_dim(values.integer("start_dim"), inputs[0], "start_dim", problems);
  std::vector<std::int64_t> extents = inputs[0].shape.extents();
  const auto [outer, extent, inner] = extents_along(extents, start);
  extents.resize(start);
  extents.push_back(extent * inner);
  return reshape_layer{shape(std::move(extents))};
}

layer_operation read_permute(const arguments& values, layer_inputs inputs,
                             layer_problems& problems) {
  const shape& s = inputs[0].shape;
  transpose_layer transpose;
  for (const std::int64_t dim : values.integers("dims")) {
    transpose.order.push_back(resolve_dim(dim, inputs[0], "dims", problems));
  }
  const std::set<std::size_t> different(transpose.order.begin(), transpose.order.end());
  if (transpose.order.size() != s.rank() || different.size() != s.rank()) {
    problems.report_at("dims", "must name each dimension of {} once ({} gives it)", to_string(s),
                       inputs[0].giver);
  }
  return transpose;
}

layer_operation read_slice(const arguments& values, layer_inputs inputs, layer_problems& problems) {
  const shape& s = inputs[0].shape;
  const auto axis = resolve_dim(values.integer("dim"), inputs[0], "dim", problems);
  const std::int64_t extent = s[axis];
  const auto from_begin = [&](std::int64_t at) { return at < 0 ? at + extent : at; };
  const std::int64_t start = from_begin(values.integer("start"));
  const std::int64_t end = values.has("end") ? from_begin(values.integer("end")) : extent;
  const std::int64_t step = values.integer("step");
  if (start < 0 || start >= end || end > extent) {
    problems.refuse_at(values.has("end") ? "end" : "start",
                       "takes elements from {} to before {} along dimension {}, where {} has {}",
                       start, end, axis, inputs[0].giver, extent);
  }
  slice_layer slice{.begin = std::vector<std::int64_t>(s.rank(), 0),
                    .step = std::vector<std::int64_t>(s.rank(), 1),
                    .extents = with_extent(s, axis, (end - start + step - 1) / step)};
  slice.begin[axis] = start;
  slice.step[axis] = step;
  return slice;
}

layer_operation read_zero_pad2d(const arguments& values, layer_inputs inputs,
                                layer_problems& problems) {
  std::vector<std::int64_t> around = values.integers("padding");
  if (around.size() == 1) around.resize(4, around.front());
  if (around.size() != 4) {
    problems.refuse_at("padding",
                       "takes one number or [left, right, top, bottom] as 'padding', found {} "
                       "numbers",
                       around.size());
  }
  expect_images(inputs[0], problems);
  return pad_layer{.before = {0, 0, around[2], around[0]}, .after = {0, 0, around[3], around[1]}};
}

layer_operation read_concat(const arguments& values, layer_inputs inputs,
                            layer_problems& problems) {
  if (inputs.size() < 2) {
    const bool none = values.tree("reads").is_sequence() && values.tree("reads").items().empty();
    problems.report_at("reads", "takes two names or more in 'reads', found {}",
                       none ? "none" : "one");
  }
  return concat_layer{resolve_dim(values.integer("dim"), inputs[0], "dim", problems)};
}

}  // namespace

layer_shape infer(const concat_layer& concat, layer_inputs inputs, layer_problems& problems) {
  std::vector<std::int64_t> extents = inputs[0].shape.extents();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const shape& other = inputs[i].shape;
    const bool same_rank = other.rank() == extents.size();
    std::vector<std::size_t> different;
    for (std::size_t axis = 0; same_rank && axis < extents.size(); ++axis) {
      if (axis != concat.axis && other[axis] != extents[axis]) different.push_back(axis);
    }
    if (!same_rank || !different.empty()) {
      problems.refuse("cannot join {} of {} and {} of {} along dimension {}: they differ in {}{}",
                      inputs[0].giver, to_string(inputs[0].shape), inputs[i].giver,
                      to_string(other), concat.axis,
                      same_rank ? "dimension " : "their number of dimensions",
                      fmt::join(different, " and dimension "));
    }
    extents[concat.axis] += other[concat.axis];
  }
  return {.output = shape(std::move(extents))};
}

layer_shape infer(const slice_layer& slice, layer_inputs, layer_problems&) {
  return {.output = slice.extents};
}

layer_shape infer(const pad_layer& pad, layer_inputs inputs, layer_problems&) {
  return {.output = padded_extents(inputs[0].shape, pad)};
}

layer_shape infer(const transpose_layer& transpose, layer_inputs inputs, layer_problems&) {
  std::vector<std::int64_t> extents;
  for (const std::size_t axis : transpose.order) extents.push_back(inputs[0].shape[axis]);
  return {.output = shape(std::move(extents))};
}

layer_shape infer(const reshape_layer& reshape, layer_inputs inputs, layer_problems& problems) {
  if (reshape.extents.checked_elements() != inputs[0].shape.checked_elements()) {
    const std::vector<std::int64_t>& extents = reshape.extents.extents();
    const auto open = std::ranges::count(extents, -1);
    problems.refuse_at(
        "shape", "cannot see {} of {} as {}: {}", inputs[0].giver, to_string(inputs[0].shape),
        to_string(reshape.extents),
        open > 1 ? "only one extent may be -1"
                 : fmt::format("{} elements are {} {}", inputs[0].shape.elements(),
                               open == 1 ? "no multiple of" : "not", stated_elements(extents)));
  }
  // A view costs nothing.
  return {.output = reshape.extents};
}

layer_shape infer(const expand_layer& expand, layer_inputs, layer_problems&) {
  return {.output = expand.extents};
}

layer_shape infer(const reduce_layer& reduce, layer_inputs inputs, layer_problems&) {
  const shape& input = inputs[0].shape;
  layer_shape result{.output = reduced_shape(input, reduce.axes, reduce.keep_dims)};
  // One addition or comparison per element except the first; a mean adds one division.
  const bool divides = reduce.function == reduce_layer::reduction::mean;
  result.cost.flops = count_of(input) - (divides ? 0 : count_of(result.output));
  return result;
}

layer_shape infer(const gather_layer& gather, layer_inputs inputs, layer_problems&) {
  return {.output = with_extent(inputs[0].shape, gather.axis, std::ssize(gather.indices))};
}

layer_shape infer(const take_layer& take, layer_inputs inputs, layer_problems& problems) {
  const std::vector<std::int64_t>& from = inputs[0].shape.extents();
  const std::vector<std::int64_t>& numbers = inputs[1].shape.extents();
  if (from[take.axis] > most_indexed) {
    problems.refuse("takes elements out of more than 2^24 ({} gives {})", inputs[0].giver,
                    to_string(inputs[0].shape));
  }
  const auto axis = from.begin() + static_cast<std::ptrdiff_t>(take.axis);
  std::vector<std::int64_t> extents(from.begin(), axis);
  extents.insert(extents.end(), numbers.begin(), numbers.end());
  extents.insert(extents.end(), axis + 1, from.end());
  return {.output = shape(std::move(extents))};
}

layer_shape infer(const indexed_gather_layer& gather, layer_inputs inputs,
                  layer_problems& problems) {
  check_indexed(gather.selected, inputs[0], problems);
  return {.output = gather.extents};
}

layer_shape infer(const indexed_scatter_layer& scatter, layer_inputs inputs,
                  layer_problems& problems) {
  check_indexed(scatter.selected, inputs[0], problems);
  layer_shape result{.output = inputs[0].shape};
  if (scatter.function) result.cost.flops = count_of(inputs[2].shape);
  return result;
}

layer_shape infer(const top_k_layer& top, layer_inputs inputs, layer_problems& problems) {
  const std::int64_t extent = inputs[0].shape[top.axis];
  if (top.count < 1 || top.count > extent || extent > most_indexed) {
    problems.refuse(
        "takes {} of {} elements along dimension {} of {}; at least one, at most all of up to "
        "2^24, is supported",
        top.count, extent, top.axis, inputs[0].giver);
  }
  const shape output = with_extent(inputs[0].shape, top.axis, top.count);
  // At least one comparison per element.
  return {.output = output, .further = {output}, .cost = element_cost(inputs[0].shape, 1)};
}

layer_shape infer(const cumulative_sum_layer&, layer_inputs inputs, layer_problems&) {
  return {.output = inputs[0].shape, .cost = element_cost(inputs[0].shape, 1)};
}

layer_shape infer(const non_max_suppression_layer& suppression, layer_inputs inputs,
                  layer_problems& problems) {
  const shape& boxes = inputs[0].shape;
  const shape& scores = inputs[1].shape;
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[2] != 4 || scores[0] != boxes[0] ||
      scores[2] != boxes[1] || boxes[1] > most_indexed) {
    problems.refuse(
        "takes boxes [batch, N, 4] and scores [batch, classes, N] of up to 2^24 boxes, not {} and "
        "{}",
        to_string(boxes), to_string(scores));
  }
  const std::int64_t most = std::min(suppression.most, boxes[1]);
  return {.output = {counted_capacity(count_of({scores[0], scores[1], most}), problems), 3},
          .further = {shape{1}},
          .cost = element_cost(scores, 1)};  // at least one comparison per score
}

layer_shape infer(const nonzero_layer&, layer_inputs inputs, layer_problems& problems) {
  const shape& x = inputs[0].shape;
  return {.output = {static_cast<std::int64_t>(x.rank()), counted_capacity(count_of(x), problems)},
          .further = {shape{1}},
          .cost = element_cost(x, 1)};
}

layer_shape infer(const convert_layer& convert, layer_inputs inputs, layer_problems&) {
  return {.output = inputs[0].shape, .element = convert.to};
}

std::vector<layer_kind> tensor_kinds() {
  return {{"flatten",
           "Merges the dimensions from one on",
           {{.name = "start_dim",
             .help = "The first dimension to merge; negative: from the last.",
             .default_value = "1"}},
           {},
           read_flatten},
          {"reshape",
           "Views the row-major elements in another shape",
           {{.name = "shape",
             .type = parameter_type::integers,
             .help = "The extents; one may be -1 and is inferred.",
             .required = true,
             .minimum = -1,
             .maximum = largest_size}},
           {},
           read_reshape},
          {"permute",
           "Reorders the dimensions",
           {{.name = "dims",
             .type = parameter_type::integers,
             .help = "Input dimension of each output dimension; negative: from the last.",
             .required = true}},
           {},
           read_permute},
          {"slice",
           "Part of one dimension: x[start:end:step]",
           {dim_parameter(),
            {.name = "start",
             .help = "The first element; negative: from the end.",
             .default_value = "0"},
            {.name = "end", .help = "One past the last element, likewise; the end by default."},
            {.name = "step",
             .help = "The distance between elements.",
             .default_value = "1",
             .minimum = 1,
             .maximum = largest_size}},
           {},
           read_slice},
          {"zero_pad2d",
           "Pads images with zeros",
           {{.name = "padding",
             .type = parameter_type::integers,
             .help = "Zeros on each side: a number or [left, right, top, bottom].",
             .required = true,
             .minimum = 0,
             .maximum = largest_size}},
           {},
           read_zero_pad2d},
          {"concat",
           "Joins its inputs along one dimension",
           {dim_parameter(),
            {.name = "reads",
             .type = parameter_type::tree,
             .help = "Earlier layers or network inputs, in order.",
             .required = true,
             .structure = "name or list of names"}},
           {},
           read_concat}};
}

}  // namespace graphline::nn
