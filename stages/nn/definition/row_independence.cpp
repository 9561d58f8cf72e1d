#include "stages/nn/definition/row_independence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "stages/nn/operations/movements.hpp"

namespace graphline::nn {
namespace {

using strided_view = strided_matrices;

/// The dimension of a view along which rows lie: position i belongs to row i / inner % rows.
struct row_dimension {
  std::size_t axis = 0;
  std::int64_t inner = 1;

  bool operator==(const row_dimension&) const = default;
};

/// Finds the rows of a value, whose element i belongs to row i / stride % rows, in a view of it.
/// Returns empty if they lie along several dimensions or in another order.
std::optional<row_dimension> rows_in(const strided_view& view, std::int64_t stride,
                                     std::int64_t rows) {
  const std::int64_t period = stride * rows;
  for (std::size_t axis = 0; axis < view.strides.size(); ++axis) {
    const std::int64_t step = view.strides[axis];
    if (step <= 0 || stride % step != 0) continue;
    // Positions along the other dimensions must not lead to another row.
    std::int64_t least = view.offset % period;
    std::int64_t greatest = least;
    for (std::size_t other = 0; other < view.strides.size(); ++other) {
      if (other == axis || view.strides[other] % period == 0) continue;
      const std::int64_t reach = (view.extents[other] - 1) * view.strides[other];
      (reach < 0 ? least : greatest) += reach;
    }
    if (least >= 0 && greatest < step) return row_dimension{axis, stride / step};
  }
  return {};
}

/// How a layer carries elements of an input to an output. `axes` has the dimension of `to` for each
/// dimension of `from`; it is empty if the layer combines elements along that dimension.
struct row_path {
  strided_view from;
  strided_view to;
  std::vector<std::optional<std::size_t>> axes;

  row_path(strided_view input, strided_view output, const std::vector<std::size_t>& combined = {})
      : from(std::move(input)), to(std::move(output)) {
    for (std::size_t axis = 0; axis < from.strides.size(); ++axis) axes.emplace_back(axis);
    for (const std::size_t axis : combined) axes[axis].reset();
  }
};

/// Makes the path of each operation from one of its inputs. Weights are constants, without rows.
struct path_rule {
  const network_definition& network;
  const network_layer& layer;
  std::size_t input;  ///< position among the layer's inputs
  const shape& in;
  const shape& out;

  row_path combining(const std::vector<std::size_t>& axes) const {
    return {packed_matrices(in), packed_matrices(out), axes};
  }
  row_path reading(const strided_part& part) const {
    return {{out, part.strides, part.begin}, packed_matrices(out)};
  }

  row_path operator()(const pointwise_layer&) const { return reading({0, from_broadcast()}); }
  row_path operator()(const expand_layer&) const { return reading({0, from_broadcast()}); }
  row_path operator()(const batch_norm2d_layer&) const { return combining({}); }
  row_path operator()(const convert_layer&) const { return combining({}); }
  row_path operator()(const conv2d_layer&) const { return combining({1, 2, 3}); }
  row_path operator()(const conv_transpose2d_layer&) const { return combining({1, 2, 3}); }
  row_path operator()(const pool2d_layer&) const { return combining({2, 3}); }
  row_path operator()(const adaptive_avg_pool2d_layer&) const { return combining({2, 3}); }
  row_path operator()(const resize2d_layer&) const { return combining({2, 3}); }
  row_path operator()(const attention_layer&) const { return combining({1, 2}); }
  row_path operator()(const recurrent_layer&) const { return combining({0, 2}); }
  row_path operator()(const linear_layer&) const { return combining({in.rank() - 1}); }
  row_path operator()(const layer_norm_layer&) const { return combining({in.rank() - 1}); }
  row_path operator()(const gather_layer& gather) const { return combining({gather.axis}); }
  row_path operator()(const resample_layer& resample) const { return combining({resample.axis}); }
  row_path operator()(const indexed_scatter_layer&) const { return combining(all_axes()); }
  row_path operator()(const top_k_layer& top) const { return combining({top.axis}); }
  row_path operator()(const cumulative_sum_layer& sum) const { return combining({sum.axis}); }
  row_path operator()(const non_max_suppression_layer&) const { return combining(all_axes()); }
  row_path operator()(const nonzero_layer&) const { return combining(all_axes()); }

  row_path operator()(const softmax_layer& softmax) const {
    const auto dim = static_cast<std::size_t>(softmax.dim);
    return combining({softmax.dim < 0 ? in.rank() + dim : dim});
  }

  row_path operator()(const reduce_layer& reduce) const {
    row_path path = combining(reduce.axes);
    std::size_t kept = 0;
    for (auto& axis : path.axes) {
      if (axis && !reduce.keep_dims) axis = kept++;
    }
    return path;
  }

  row_path operator()(const matmul_layer& matmul) const {
    const auto [a, b, c, scale] = matrices_of(matmul, network.shape_of(layer.inputs[0]),
                                              network.shape_of(layer.inputs[1]), out);
    const std::size_t rank = c.strides.size();
    return input == 0 ? row_path(a, c, {rank - 1}) : row_path(b, c, {rank - 2});
  }

  row_path operator()(const reshape_layer&) const {
    const strided_view flat = packed_matrices({in.elements()});
    return {flat, flat};
  }
  row_path operator()(const transpose_layer& transpose) const {
    return reading(part_of(transpose, packed_strides(in)));
  }
  row_path operator()(const slice_layer& slice) const {
    return reading(part_of(slice, packed_strides(in)));
  }
  row_path operator()(const pad_layer& pad) const {
    const strided_part inside = inside_of(pad, packed_strides(out));
    return {packed_matrices(in), {in, inside.strides, inside.begin}};
  }

  row_path operator()(const concat_layer& concat) const {
    strided_view to{in, packed_strides(out)};
    for (std::size_t i = 0; i < input; ++i) {
      to.offset += network.shape_of(layer.inputs[i])[concat.axis] * to.strides[concat.axis];
    }
    return {packed_matrices(in), std::move(to)};
  }

  row_path operator()(const take_layer& take) const {
    const std::size_t indices = network.shape_of(layer.inputs[1]).rank();
    row_path path = combining({});
    for (std::size_t axis = 0; axis < path.axes.size(); ++axis) {
      if (input == 1) path.axes[axis] = axis + take.axis;
      if (input == 0 && axis > take.axis) path.axes[axis] = axis + indices - 1;
    }
    if (input == 0) path.axes[take.axis].reset();
    return path;
  }

  row_path operator()(const indexed_gather_layer& gather) const {
    if (input == 0) return combining(all_axes());
    // The view of the indices has a last dimension for those of one element.
    const pointwise_space& space = gather.selected.space;
    std::vector<std::int64_t> extents = space.extents;
    std::vector<std::int64_t> from = space.strides[1];
    std::vector<std::int64_t> to = packed_strides(shape(extents));
    extents.push_back(std::ssize(gather.selected.extents));
    from.push_back(1);
    to.push_back(0);
    const shape viewed(std::move(extents));
    const std::size_t last = space.extents.size();
    return {{viewed, std::move(from)}, {viewed, std::move(to)}, {last}};
  }

  std::vector<std::size_t> all_axes() const {
    std::vector<std::size_t> axes(in.rank());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    return axes;
  }

  std::vector<std::int64_t> from_broadcast() const { return broadcast_strides(in, out); }
};

enum class rows_are { independent, combined, unknown };

/// Element i of a value belongs to row i / stride % rows, in any shape of the value. Empty for a
/// value without rows.
using row_stride = std::optional<std::int64_t>;

/// Sets `made`, the rows of an output, to those that the layer carries there from one input.
rows_are carry(const path_rule& rule, const row_stride& read, std::int64_t rows, row_stride& made) {
  if (!read) return rows_are::independent;
  const row_path path = std::visit(rule, rule.layer.operation);
  const auto from = rows_in(path.from, *read, rows);
  if (!from) return rows_are::unknown;
  const auto axis = path.axes[from->axis];
  if (!axis) return rows_are::combined;
  const std::int64_t stride = from->inner * path.to.strides[*axis];
  if (rows_in(path.to, stride, rows) != row_dimension{*axis, from->inner}) return rows_are::unknown;
  if (made && *made != stride) return rows_are::combined;
  made = stride;
  return rows_are::independent;
}

}  // namespace

std::string combined_rows(const network_definition& network, const std::vector<bool>& with_rows) {
  std::int64_t rows = 0;
  std::vector<row_stride> strides(network.values.size());
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    if (!with_rows[i]) continue;
    const shape& extents = network.shape_of(network.inputs[i]);
    // The planner reports inputs with different numbers of rows.
    if (extents.rank() == 0 || (rows != 0 && rows != extents[0])) return {};
    rows = extents[0];
    strides[network.inputs[i]] = extents.elements() / rows;
  }
  if (rows <= 1) return {};
  for (const network_layer& layer : network.layers) {
    for (const std::size_t output : layer.outputs) {
      const shape& out = network.shape_of(output);
      auto found = rows_are::independent;
      for (std::size_t i = 0; i < layer.inputs.size() && found == rows_are::independent; ++i) {
        const std::size_t value = layer.inputs[i];
        found = carry({network, layer, i, network.shape_of(value), out}, strides[value], rows,
                      strides[output]);
      }
      if (found == rows_are::unknown) {
        return fmt::format("cannot prove that layer '{}' keeps rows independent", layer.name);
      }
      // The first dimension of the network's outputs must count rows.
      const bool given = std::ranges::find(network.outputs, output) != network.outputs.end();
      const std::int64_t expected = out.elements() / rows;
      if (found == rows_are::combined ||
          (given && strides[output].value_or(expected) != expected)) {
        return fmt::format("layer '{}' combines or reorders rows", layer.name);
      }
    }
  }
  return {};
}

bool carry_counted_rows(const network_definition& network, const network_layer& layer,
                        counted_values& counted) {
  for (const std::size_t output : layer.outputs) {
    const shape& out = network.shape_of(output);
    counted_rows made;
    row_stride stride;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      const auto read = counted.find(layer.inputs[i]);
      if (read == counted.end()) continue;
      if (stride && made.count != read->second.count) return false;
      made = read->second;
      const path_rule rule{network, layer, i, network.shape_of(layer.inputs[i]), out};
      if (carry(rule, made.stride, made.capacity, stride) != rows_are::independent) return false;
    }
    if (!stride) continue;
    const std::vector<std::int64_t> strides = packed_strides(out);
    made.stride = *stride;
    bool along = false;
    for (std::size_t axis = 0; axis < out.rank(); ++axis) {
      along = along || (out[axis] == made.capacity && strides[axis] == made.stride);
    }
    if (!along) return false;
    counted[output] = made;
  }
  const std::size_t first = layer.outputs.front();
  const shape& out = network.shape_of(first);
  if (std::holds_alternative<non_max_suppression_layer>(layer.operation)) {
    counted[first] = {layer.outputs[1], out[0], out[1]};
  } else if (std::holds_alternative<nonzero_layer>(layer.operation)) {
    counted[first] = {layer.outputs[1], out[1], 1};
  }
  return true;
}

}  // namespace graphline::nn
