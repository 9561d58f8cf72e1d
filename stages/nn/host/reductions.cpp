#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "stages/nn/host/own_work.hpp"

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

template <reduction function>
constexpr float neutral() {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if constexpr (function == reduction::max) return -infinity;
  if constexpr (function == reduction::min) return infinity;
  return function == reduction::product ? 1.0F : 0.0F;
}

/// Combines two operands; NaN propagates.
template <reduction function>
float joined(float a, float b) {
  if constexpr (function == reduction::max) return b > a || b != b ? b : a;
  if constexpr (function == reduction::min) return b < a || b != b ? b : a;
  if constexpr (function == reduction::product) return a * b;
  return a + b;
}

template <reduction function>
float reduced_row(const float* row, std::int64_t extent) {
  constexpr std::size_t lanes = 16;
  std::array<float, lanes> each;
  each.fill(neutral<function>());
  std::int64_t i = 0;
  for (; i + static_cast<std::int64_t>(lanes) <= extent; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      each[lane] = joined<function>(each[lane], row[i + static_cast<std::int64_t>(lane)]);
    }
  }
  float all = neutral<function>();
  for (const float one : each) all = joined<function>(all, one);
  for (; i < extent; ++i) all = joined<function>(all, row[i]);
  return all;
}

/// Reduces `count` adjacent columns over `extent` rows that are `apart` elements apart.
template <reduction function>
void reduce_columns(const float* from, std::int64_t extent, std::int64_t apart, std::int64_t count,
                    float* to) {
  std::fill_n(to, count, neutral<function>());
  for (std::int64_t row = 0; row < extent; ++row) {
    const float* line = from + row * apart;
    for (std::int64_t i = 0; i < count; ++i) to[i] = joined<function>(to[i], line[i]);
  }
}

template <reduction function>
void reduce_all(const reduced_middle& of, const float* from, float* to) {
  constexpr std::int64_t chunk = 512;  // results that stay in the L1 cache
  const std::int64_t chunks = (of.inner + chunk - 1) / chunk;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < of.outer * chunks; ++i) {
    const std::int64_t first = i % chunks * chunk;
    const std::int64_t count = std::min(chunk, of.inner - first);
    const float* begin = from + i / chunks * of.extent * of.inner + first;
    float* result = to + i / chunks * of.inner + first;
    if (of.inner == 1) {
      *result = reduced_row<function>(begin, of.extent);
    } else {
      reduce_columns<function>(begin, of.extent, of.inner, count, result);
    }
    if (of.function != reduction::mean) continue;
    for (std::int64_t k = 0; k < count; ++k) result[k] /= static_cast<float>(of.extent);
  }
}

void add_reduction(host_lowering& b, std::size_t index, const reduced_middle& of) {
  const network_layer& layer = b.layer(index);
  const host_value result = b.make_tensor(plain_layout(b.output_shape(layer)));
  const auto reduce = [of](const float* from, float* to) {
    switch (of.function) {
      case reduction::max:
        return reduce_all<reduction::max>(of, from, to);
      case reduction::min:
        return reduce_all<reduction::min>(of, from, to);
      case reduction::product:
        return reduce_all<reduction::product>(of, from, to);
      default:
        return reduce_all<reduction::sum>(of, from, to);
    }
  };
  add_work(b, layer, reduce, {b.plain_input_of(layer)}, result);
  b.set_output(index, result);
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
  constexpr std::int64_t long_row = 128;
  const auto middle = middle_of(reduce, in);
  const bool compiled = std::string_view(chosen.impl_info_str()).starts_with("jit");
  if (middle && (!compiled || middle->extent < long_row)) {
    return add_reduction(b, group.head, *middle);
  }
  b.add_layer<dnnl::reduction>(group.head, b.plain_input_of(head), chosen);
}

}  // namespace graphline::nn
