#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "stages/nn/host/lowering.hpp"
#include "stages/nn/operations/indexed_places.hpp"

namespace graphline::nn {
namespace {

using reduction = reduce_layer::reduction;

/// A reduction of the middle of [outer, extent, inner].
struct reduced_middle {
  reduction function = reduction::mean;
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;
};

/// Returns the form of a reduction; empty if the reduced dimensions are not adjacent.
std::optional<reduced_middle> middle_of(const reduce_layer& reduce, const shape& in) {
  reduced_middle found{.function = reduce.function};
  for (std::size_t axis = 0; axis < in.rank(); ++axis) {
    if (in[axis] == 1) continue;
    const bool reduced = std::ranges::find(reduce.axes, axis) != reduce.axes.end();
    if (reduced && found.inner > 1) return {};
    std::int64_t& part = reduced ? found.extent : found.extent > 1 ? found.inner : found.outer;
    part *= in[axis];
  }
  return found;
}

/// `count` columns of `extent` elements that are `apart` elements apart. Their first elements are
/// `stride` elements apart.
struct column_form {
  std::int64_t count = 1;
  std::int64_t stride = 1;
  std::int64_t extent = 1;
  std::int64_t apart = 1;
};

template <reduction function>
void reduce_columns(const column_form& of, const float* from, float* to) {
  std::fill_n(to, of.count, neutral(function));
  for (std::int64_t k = 0; k < of.extent; ++k) {
    const float* each = from + k * of.apart;
    for (std::int64_t i = 0; i < of.count; ++i)
      to[i] = joined(function, to[i], each[i * of.stride]);
  }
}

/// Reduces a long row as columns whose results it reduces in turn.
template <reduction function>
float reduced_row(const float* row, std::int64_t extent) {
  constexpr std::int64_t lanes = 32;
  std::array<float, lanes> each;
  const column_form all{.count = lanes, .extent = extent / lanes, .apart = lanes};
  reduce_columns<function>(all, row, each.data());
  const std::int64_t done = all.extent * lanes;
  const auto join = [](float a, float b) { return joined(function, a, b); };
  return std::accumulate(row + done, row + extent,
                         std::accumulate(each.begin(), each.end(), neutral(function), join), join);
}

/// Rows of fewer elements are reduced side by side, as columns.
constexpr std::int64_t long_row = 128;

template <reduction function>
void reduce_all(const reduced_middle& of, const float* from, float* to) {
  const bool rows = of.inner == 1;
  const std::int64_t parts = rows ? 1 : of.outer;
  const std::int64_t columns = rows ? of.outer : of.inner;  // of each part
  // The results of a chunk and the rows that it reads stay in the L1 cache.
  const std::int64_t chunk = !rows ? 512 : of.extent < long_row ? 64 : 1;
  const std::int64_t chunks = (columns + chunk - 1) / chunk;
  const float divisor = of.function == reduction::mean ? static_cast<float>(of.extent) : 1.0F;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < parts * chunks; ++i) {
    const std::int64_t first = i % chunks * chunk;
    const column_form form{.count = std::min(chunk, columns - first),
                           .stride = rows ? of.extent : 1,
                           .extent = of.extent,
                           .apart = of.inner};
    const float* begin = from + i / chunks * of.extent * of.inner + first * form.stride;
    float* result = to + i / chunks * columns + first;
    if (chunk == 1) {
      *result = reduced_row<function>(begin, of.extent);
    } else {
      reduce_columns<function>(form, begin, result);
    }
    for (std::int64_t k = 0; k < form.count; ++k) result[k] /= divisor;
  }
}

void add_reduction(host_lowering& b, std::size_t index, const reduced_middle& of) {
  b.add_layer_loops(index, [of](const auto& from, const auto& to) {
    switch (of.function) {
      case reduction::max:
        return reduce_all<reduction::max>(of, from[0], to[0]);
      case reduction::min:
        return reduce_all<reduction::min>(of, from[0], to[0]);
      case reduction::product:
        return reduce_all<reduction::product>(of, from[0], to[0]);
      default:
        return reduce_all<reduction::sum>(of, from[0], to[0]);
    }
  });
}

dnnl::algorithm algorithm_of(reduction function) {
  switch (function) {
    case reduction::sum:
      return dnnl::algorithm::reduction_sum;
    case reduction::mean:
      return dnnl::algorithm::reduction_mean;
    case reduction::max:
      return dnnl::algorithm::reduction_max;
    case reduction::min:
      return dnnl::algorithm::reduction_min;
    default:
      return dnnl::algorithm::reduction_mul;
  }
}

}  // namespace

void lower_plane_means(host_lowering& b, std::size_t index) {
  const shape& in = b.input_shape(b.layer(index));
  add_reduction(b, index, {.outer = in[0] * in[1], .extent = in[2] * in[3]});
}

void lower(host_lowering& b, const layer_group& group, const reduce_layer& reduce) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  std::vector<std::int64_t> kept = in.extents();
  for (const std::size_t axis : reduce.axes) kept[axis] = 1;
  const shape out(std::move(kept));
  // oneDNN refuses a reduction that changes no extent.
  if (out == in) {
    b.set_output(group.head, b.in_shape(b.plain_input_of(head), b.output_shape(head), head));
    return;
  }
  const dnnl::reduction::desc wanted(algorithm_of(reduce.function), plain_layout(in),
                                     plain_layout(out), 0.0F, 0.0F);
  const dnnl::reduction::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  // oneDNN's JIT code reduces the last dimension, and restarts for each row. Generic code reduces
  // other dimensions.
  const auto middle = middle_of(reduce, in);
  if (middle && (!is_compiled(chosen) || middle->extent < long_row)) {
    return add_reduction(b, group.head, *middle);
  }
  b.add_layer<dnnl::reduction>(group.head, b.plain_input_of(head), chosen);
}

}  // namespace graphline::nn
