#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "stages/nn/layers/layers.hpp"
#include "stages/nn/onnx/onnx_importer.hpp"
#include "stages/nn/operations/scalar_math.hpp"

namespace graphline::nn::onnx {
namespace {

std::size_t import_dropout(onnx_importer& to, const onnx_call& node) {
  const bool trains = node.has(2) && node.number(2) != 0;
  const bool drops = !node.has(1) || node.number(1) != 0;
  node.require(!(trains && drops), "trains, which is not supported");
  return to.value(0);
}

std::size_t import_concat(onnx_importer& to, const onnx_call& node) {
  const std::size_t axis = concat_axis(node);
  std::vector<std::size_t> values;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.extents(i)[axis] > 0) values.push_back(to.value(i));
  }
  node.require(!values.empty(), "gives no elements, which is not supported");
  return values.size() == 1 ? values.front() : to.add(concat_layer{axis}, std::move(values));
}

indexed_elements collapsed(indexed_elements selected) {
  selected.space = nn::collapsed(selected.space);
  return selected;
}

std::size_t import_gather_indexed(onnx_importer& to, const onnx_call& node) {
  const shape extents = indexed_extents(node);
  if (!node.is_constant(1)) {
    return to.add(indexed_gather_layer{collapsed(indexed_of(node)), extents},
                  {to.value(0), to.value(1)});
  }
  indexed_rows wanted = indexed_rows_of(node);
  const std::size_t rows =
      to.add_reshape(to.value(0), {node.extents(0).elements() / wanted.row, wanted.row});
  return to.add_reshape(to.add_selection(rows, {{0, std::move(wanted.places)}}), extents);
}

/// Replaces rows at constant indices: concatenates the rows of the data and the updates, then
/// selects a row for each row of the result.
std::size_t import_scatter(onnx_importer& to, const onnx_call& node) {
  using reduced_by = reduce_layer::reduction;
  static const std::map<std::string_view, std::optional<reduced_by>> functions = {
      {"none", {}},
      {"add", reduced_by::sum},
      {"mul", reduced_by::product},
      {"max", reduced_by::max},
      {"min", reduced_by::min}};
  const auto function = functions.find(node.text("reduction", "none"));
  node.require(function != functions.end(), "has a reduction that is not known");
  node.require(node.extents(2) == indexed_extents(node), "has updates that do not fit its indices");
  if (node.extents(2).elements() == 0) return to.value(0);
  if (!node.is_constant(1) || function->second) {
    return to.add(indexed_scatter_layer{collapsed(indexed_of(node)), function->second},
                  {to.value(0), to.value(1), to.value(2)});
  }
  const shape& extents = node.extents(0);
  const auto [row, places] = indexed_rows_of(node);
  const std::int64_t rows = extents.elements() / row;
  const std::int64_t updates = std::ssize(places);
  node.charge(shape{rows});
  std::vector<std::int64_t> taken(static_cast<std::size_t>(rows));
  std::iota(taken.begin(), taken.end(), 0);
  for (std::int64_t i = 0; i < updates; ++i) {
    taken[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])] = rows + i;
  }
  const std::size_t all = to.add(concat_layer{0}, {to.add_reshape(to.value(0), {rows, row}),
                                                   to.add_reshape(to.value(2), {updates, row})});
  return to.add_reshape(to.add_selection(all, {{0, std::move(taken)}}), extents);
}

std::size_t import_expand(onnx_importer& to, const onnx_call& node) {
  const shape extents = expanded_extents(node);
  if (extents == node.extents(0)) return to.value(0);
  return to.add(expand_layer{extents}, {to.value(0)});
}

std::size_t import_gather(onnx_importer& to, const onnx_call& node) {
  if (!node.is_constant(1)) {
    const std::size_t axis = node.axis(node.integer("axis", 0), node.extents(0).rank());
    return to.add(take_layer{axis}, {to.value(0), to.value(1)});
  }
  const gathering wanted = gathering_of(node);
  return to.add_reshape(to.add_selection(to.value(0), wanted.selected), wanted.extents);
}

/// Sorts all elements if the number of those to give is computed.
std::vector<std::size_t> import_top_k(onnx_importer& to, const onnx_call& node) {
  const std::size_t axis = node.axis(node.integer("axis", -1), node.extents(0).rank());
  const auto first = [&](std::int64_t count) {
    return to.add_all(
        top_k_layer{.axis = axis, .count = count, .largest = node.integer("largest", 1) != 0},
        {to.value(0)}, {});
  };
  if (to.opset() < 10) return first(node.integer("k", 0));
  node.require(node.extents(1).elements() == 1, "takes one number as its input 1");
  if (node.is_constant(1)) return first(node.integers(1)[0]);
  const std::int64_t capacity = node.extents(0)[axis];
  node.require(capacity > 1,
               "has a computed K along a dimension of extent 1, which is not supported");
  const std::vector<std::size_t> sorted = first(capacity);
  const std::size_t number =
      to.add_pointwise(pointwise_function::clip, {to.value(1)}, 0.0F, static_cast<float>(capacity));
  const std::size_t count = to.add_reshape(number, shape{1});
  for (const std::size_t value : sorted) to.count_rows(value, axis, count);
  return sorted;
}

/// Refuses constant boxes and scores, because a constant result has an exact number of rows.
std::size_t import_non_max_suppression(onnx_importer& to, const onnx_call& node) {
  node.require(!node.is_constant(0) || !node.is_constant(1),
               "reads only constants, which is not supported");
  const float overlap = node.has(3) ? node.number(3) : 0.0F;
  node.require(overlap >= 0 && overlap <= 1, "has an IoU threshold that is not from 0 to 1");
  const float most = node.has(2) ? node.number(2) : 0.0F;
  non_max_suppression_layer suppression{.most = saturated<std::int64_t>(most),
                                        .iou_threshold = overlap,
                                        .score_threshold = {},
                                        .centered = node.integer("center_point_box", 0) != 0};
  node.require(suppression.most > 0, "gives no elements, which is not supported");
  if (node.has(4)) suppression.score_threshold = node.number(4);
  return to.add(suppression, {to.value(0), to.value(1)});
}

onnx_operator imported_arg_of(bool largest) {
  return one_output([largest](onnx_importer& to, const onnx_call& node) {
    const std::size_t axis = node.axis(node.integer("axis", 0), node.extents(0).rank());
    const bool last = node.integer("select_last_index", 0) != 0;
    const std::size_t index = to.add_all(
        top_k_layer{.axis = axis, .largest = largest, .last_of_equal = last}, {to.value(0)}, {})[1];
    const bool keeps = node.integer("keepdims", 1) != 0;
    return to.add_reshape(index, reduced_shape(node.extents(0), {axis}, keeps));
  });
}

std::size_t import_cumulative_sum(onnx_importer& to, const onnx_call& node) {
  const std::vector<std::int64_t> axes = node.integers(1);
  node.require(axes.size() == 1, "needs exactly one axis");
  return to.add(cumulative_sum_layer{.axis = node.axis(axes[0], node.extents(0).rank()),
                                     .exclusive = node.integer("exclusive", 0) != 0,
                                     .reverse = node.integer("reverse", 0) != 0},
                {to.value(0)});
}

/// Compares the indices, of which negative ones count from the end, with each position.
std::size_t import_one_hot(onnx_importer& to, const onnx_call& node) {
  const auto depth = saturated<std::int64_t>(node.number(1));
  const shape& indices = node.extents(0);
  const std::size_t axis = node.axis(node.integer("axis", -1), indices.rank() + 1);
  node.require(depth > 0, "gives no elements, which is not supported");
  node.require(node.extents(2) == shape{2}, "takes two values");
  node.charge(shape{depth});
  std::vector<float> positions(static_cast<std::size_t>(depth));
  std::iota(positions.begin(), positions.end(), 0.0F);
  const shape along = first_of(depth, indices.rank() + 1 - axis);
  std::vector<std::int64_t> extents = indices.extents();
  extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  const std::size_t index = to.add_reshape(to.value(0), shape(std::move(extents)));
  const auto is_at = [&](std::size_t value) {
    return to.add_pointwise(pointwise_function::equal, {value, to.add_constant(positions, along)});
  };
  const std::size_t from_end =
      to.add_pointwise(pointwise_function::add, {index, to.add_number(static_cast<float>(depth))});
  const std::size_t hot =
      to.add_pointwise(pointwise_function::logical_or, {is_at(index), is_at(from_end)});
  const std::size_t values = to.value(2);
  return to.add_pointwise(pointwise_function::where, {hot, to.add_selection(values, {{0, {1}}}),
                                                      to.add_selection(values, {{0, {0}}})});
}

/// Returns the block side. DepthToSpace and SpaceToDepth exchange square blocks for channels.
std::int64_t block_size(const onnx_call& node) {
  const std::int64_t size = node.integer("blocksize", 0);
  node.require(node.extents(0).rank() == 4, "takes [N, C, H, W]");
  node.require(size > 0 && size <= 1024, "has no block size from 1 to 1024");
  return size;
}

std::size_t import_depth_to_space(onnx_importer& to, const onnx_call& node) {
  const std::int64_t size = block_size(node);
  const shape& s = node.extents(0);
  node.require(s[1] % (size * size) == 0, "has channels that are not whole blocks");
  const std::int64_t channels = s[1] / size / size;
  std::size_t x = to.value(0);
  if (node.text("mode", "DCR") == "CRD") {
    x = to.add_reshape(x, {s[0], channels, size, size, s[2], s[3]});
    x = to.add(transpose_layer{{0, 1, 4, 2, 5, 3}}, {x});
  } else {
    x = to.add_reshape(x, {s[0], size, size, channels, s[2], s[3]});
    x = to.add(transpose_layer{{0, 3, 4, 1, 5, 2}}, {x});
  }
  return to.add_reshape(x, {s[0], channels, s[2] * size, s[3] * size});
}

std::size_t import_space_to_depth(onnx_importer& to, const onnx_call& node) {
  const std::int64_t size = block_size(node);
  const shape& s = node.extents(0);
  node.require(s[2] % size == 0 && s[3] % size == 0,
               "has rows or columns that are not whole blocks");
  std::size_t x = to.add_reshape(to.value(0), {s[0], s[1], s[2] / size, size, s[3] / size, size});
  x = to.add(transpose_layer{{0, 3, 5, 1, 2, 4}}, {x});
  return to.add_reshape(x, {s[0], s[1] * size * size, s[2] / size, s[3] / size});
}

}  // namespace

onnx_operators imported_movements() {
  onnx_operators all = {
      {"ArgMax", imported_arg_of(true)},
      {"ArgMin", imported_arg_of(false)},
      {"Concat", one_output(import_concat)},
      {"CumSum", one_output(import_cumulative_sum)},
      {"DepthToSpace", one_output(import_depth_to_space)},
      {"Dropout", one_output(import_dropout)},
      {"Expand", one_output(import_expand)},
      {"Gather", one_output(import_gather)},
      {"GatherElements", one_output(import_gather_indexed)},
      {"GatherND", one_output(import_gather_indexed)},
      {"NonMaxSuppression", one_output(import_non_max_suppression)},
      {"NonZero", one_output([](onnx_importer& to, const onnx_call&) {
         return to.add(nonzero_layer{}, {to.value(0)});
       })},
      {"OneHot", one_output(import_one_hot)},
      {"Scatter", one_output(import_scatter)},
      {"ScatterElements", one_output(import_scatter)},
      {"ScatterND", one_output(import_scatter)},
      {"SpaceToDepth", one_output(import_space_to_depth)},
      {"TopK", import_top_k},
      {"Transpose", one_output([](onnx_importer& to, const onnx_call& node) {
         return to.add(transpose_layer{transposed_order(node)}, {to.value(0)});
       })},
  };
  for (const auto& [name, extents_of] : reshapings()) {
    all[name] = one_output([extents_of = extents_of](onnx_importer& to, const onnx_call& node) {
      return to.add_reshape(to.value(0), extents_of(node));
    });
  }
  for (const auto& [name, parts_of] : selectings()) {
    all[name] = [parts_of = parts_of](onnx_importer& to, const onnx_call& node) {
      // Only `Pad` reads a padding value from input 2.
      const bool pads = node.node().op_type == "Pad";
      const float padding = pads && node.has(2) ? node.number(2) : node.number("value", 0.0F);
      std::vector<std::size_t> parts;
      for (const selection& part : parts_of(node)) {
        parts.push_back(to.add_selection(to.value(0), part, padding));
      }
      return parts;
    };
  }
  return all;
}

}  // namespace graphline::nn::onnx
