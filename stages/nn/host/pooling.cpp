#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "stages/nn/host/element_wise.hpp"
#include "stages/nn/host/vector_math.hpp"
#include "stages/nn/operations/windows.hpp"

namespace graphline::nn {
namespace {

/// The windows of a pool over [planes, height, width, channels].
struct pool_windows {
  std::int64_t planes = 0;
  std::int64_t height = 0;  ///< of the input
  std::int64_t width = 0;
  std::int64_t channels = 1;
  std::vector<window> rows = {};     ///< one per row of the output
  std::vector<window> columns = {};  ///< one per column of the output

  /// Calls `pool(plane, width, row, some, result)` on the compute threads for all windows. `some`
  /// are adjacent columns that together span at most `most_columns`, or a single column.
  template <class Pool>
  void for_each(const float* from, float* to, std::int64_t most_columns, const Pool& pool) const {
    const std::int64_t in_plane = height * width * channels;
    const std::int64_t out_plane = std::ssize(rows) * std::ssize(columns) * channels;
#pragma omp parallel for schedule(static)
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      float* result = to + plane * out_plane;
      for (const window& row : rows) {
        for (auto first = columns.begin(); first != columns.end();) {
          auto end = std::next(first);
          while (end != columns.end() && end->end - first->begin <= most_columns) ++end;
          pool(from + plane * in_plane, width, row, std::span(first, end), result);
          result += (end - first) * channels;
          first = end;
        }
      }
    }
  }
};

constexpr std::int64_t most_summed = 512;  ///< input columns summed at once

/// Averages adjacent windows of a row that together span at most `most_summed` columns, or one, of
/// packed [planes, height, width]. Sums the input rows first and then the columns. oneDNN lacks
/// adaptive pools with an output size that does not divide the input size, and average pools with a
/// last window that exceeds the padding in ceil_mode; for packed images it has only generic code.
void average_some(const float* plane, std::int64_t width, const window& row,
                  std::span<const window> some, float* to) {
  const std::int64_t begin = some.front().begin;
  const std::int64_t count = some.back().end - begin;
  const auto mean = [&](double sum, const window& column) {
    return static_cast<float>(sum / static_cast<double>(row.divisor * column.divisor));
  };
  if (some.size() == 1 && count > most_summed) {
    double sum = 0;
    for (std::int64_t y = row.begin; y < row.end; ++y) {
      const float* line = plane + y * width + begin;
      sum = std::accumulate(line, line + count, sum);
    }
    *to = mean(sum, some.front());
    return;
  }
  std::array<double, most_summed> sums;
  std::fill_n(sums.begin(), count, 0.0);
  for (std::int64_t y = row.begin; y < row.end; ++y) {
    const float* line = plane + y * width + begin;
    for (std::int64_t x = 0; x < count; ++x) sums[x] += static_cast<double>(line[x]);
  }
  for (const window& column : some) {
    double sum = 0;
    for (std::int64_t x = column.begin; x < column.end; ++x) sum += sums[x - begin];
    *to++ = mean(sum, column);
  }
}

/// Computes maxima over windows of [planes, height, width, 8], the layout with blocks of eight
/// channels. For each row of windows, reduces the input rows first and then the columns, so that
/// most loads are contiguous. oneDNN takes twice as long, because it reduces each window
/// separately.
struct maximum_pool {
  static constexpr int channels = 8;
  static constexpr std::int64_t widest = 64;  ///< largest width of a window

  static constexpr std::int64_t most_columns = 2 * widest;  ///< input columns buffered at once

  static constexpr int width = 4;  // floats in a vector that every CPU has
  using lanes = pointwise_vectors<width>::lanes;
  using bits = pointwise_vectors<width>::bits;

  static GRAPHLINE_INLINE void load(const float* from, lanes& to) {
    std::memcpy(&to, from, sizeof to);
  }
  static GRAPHLINE_INLINE void join(lanes& to, const float* from) {
    lanes one;
    load(from, one);
    const bits larger = (one > to) | (one != one);  // NaN propagates
    to = larger ? one : to;
  }

  static void pool_some(const float* plane, std::int64_t in_width, const window& lines,
                        std::span<const window> some, float* to) {
    std::array<float, most_columns * channels> rows;
    const std::int64_t begin = some.front().begin;
    const std::int64_t count = (some.back().end - begin) * channels;
    const float* line = plane + (lines.begin * in_width + begin) * channels;
    for (std::int64_t i = 0; i < count; i += width) {
      lanes largest;
      load(line + i, largest);
      for (std::int64_t row = 1; row < lines.elements(); ++row) {
        join(largest, line + row * in_width * channels + i);
      }
      std::memcpy(rows.data() + i, &largest, sizeof largest);
    }
    for (const window& columns : some) {
      const float* column = rows.data() + (columns.begin - begin) * channels;
      for (std::int64_t part = 0; part < channels; part += width) {
        lanes largest;
        load(column + part, largest);
        for (std::int64_t i = 1; i < columns.elements(); ++i) {
          join(largest, column + i * channels + part);
        }
        std::memcpy(to, &largest, sizeof largest);
        to += width;
      }
    }
  }
};

/// Returns true if `maximum_pool` can compute a pool: the input has blocks of eight channels,
/// and each window contains at least one element and is not too wide.
bool is_windowed_maximum(host_lowering& b, std::size_t index, const pool2d_layer& pool) {
  const network_layer& layer = b.layer(index);
  const shape& in = b.input_shape(layer);
  const shape& out = b.output_shape(layer);
  bool fits = pool.method == pooling::max && pool.dilation == extent_pair{1, 1} &&
              pool.kernel[1] <= maximum_pool::widest &&
              channel_block(b.input_of(layer).layout) == maximum_pool::channels;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t last = (out[axis + 2] - 1) * pool.stride[axis] - pool.padding[axis];
    fits = fits && pool.padding[axis] < pool.kernel[axis] && last < in[axis + 2];
  }
  return fits;
}

using pooling_forward = dnnl::pooling_v2_forward;

pooling_forward::primitive_desc choose_pool(host_lowering& b, std::size_t index,
                                            const pool2d_layer& pool, const extent_pair& after) {
  const auto dims = [](const extent_pair& pair) { return dnnl::memory::dims{pair[0], pair[1]}; };
  const network_layer& layer = b.layer(index);
  const auto algorithm = pool.method == pooling::max ? dnnl::algorithm::pooling_max
                         : pool.count_include_pad    ? dnnl::algorithm::pooling_avg_include_padding
                                                     : dnnl::algorithm::pooling_avg_exclude_padding;
  const pooling_forward::desc wanted(
      dnnl::prop_kind::forward_inference, algorithm, b.input_of(layer).layout,
      any_layout(b.output_shape(layer)), dims(pool.stride), dims(pool.kernel),
      {pool.dilation[0] - 1, pool.dilation[1] - 1}, dims(pool.padding), dims(after));
  return {wanted, onednn_attributes(), onednn_engine()};
}

/// Adds loops over windows: means of a packed tensor, or maxima of one in blocks of eight channels.
/// `window_at(i, axis)` returns window `i` along an axis of the images.
template <class WindowAt>
void lower_to_windows(host_lowering& b, std::size_t index, bool maximum,
                      const WindowAt& window_at) {
  const std::int64_t block = maximum ? maximum_pool::channels : 1;
  const network_layer& layer = b.layer(index);
  const shape& in = b.input_shape(layer);
  const shape& out = b.output_shape(layer);
  const std::vector<std::int64_t> extents = blocked_extents(in, block);
  pool_windows windows{extents[0] * extents[1], in[2], in[3], block};
  for (std::int64_t i = 0; i < out[2]; ++i) windows.rows.push_back(window_at(i, 0));
  for (std::int64_t i = 0; i < out[3]; ++i) windows.columns.push_back(window_at(i, 1));
  const host_value source = b.in_layout(b.input_of(layer), blocked_layout(in, block), layer);
  const host_value result = b.make_tensor(blocked_layout(out, block));
  b.add_loops(layer.kind, "loops", {source}, {result},
              [maximum, windows](const auto& from, const auto& to) {
                if (maximum) {
                  windows.for_each(from[0], to[0], maximum_pool::most_columns,
                                   maximum_pool::pool_some);
                } else {
                  windows.for_each(from[0], to[0], most_summed, average_some);
                }
              });
  b.set_output(index, result);
}

}  // namespace

void lower(host_lowering& b, const layer_group& group, const pool2d_layer& pool) {
  const network_layer& layer = b.layer(group.head);
  const shape& in = b.input_shape(layer);
  const shape& out = b.output_shape(layer);
  const bool average = pool.method == pooling::average;

  // In ceil_mode the last window may exceed the padding. oneDNN then needs more padding after.
  const extent_pair stated_after = pool.padding_after.value_or(pool.padding);
  extent_pair after = stated_after;
  bool beyond = false;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t covered = pool.dilation[axis] * (pool.kernel[axis] - 1) + 1;
    const std::int64_t end = (out[axis + 2] - 1) * pool.stride[axis] + covered;
    const std::int64_t needed = end - in[axis + 2] - pool.padding[axis];
    if (needed > after[axis]) {
      after[axis] = needed;
      beyond = true;
    }
  }
  const auto window_at = [&](std::int64_t i, std::size_t axis) {
    return strided_window(i, in[axis + 2], pool.kernel[axis], pool.stride[axis], pool.padding[axis],
                          stated_after[axis], pool.count_include_pad);
  };
  if (is_windowed_maximum(b, group.head, pool)) {
    return lower_to_windows(b, group.head, /*maximum=*/true, window_at);
  }
  const auto by_averages = [&] { lower_to_windows(b, group.head, /*maximum=*/false, window_at); };
  // If the last window exceeds the padding, PyTorch's divisor counts the stated padding, and
  // oneDNN's counts the whole window.
  if (average && pool.count_include_pad && beyond) return by_averages();
  const auto chosen = choose_pool(b, group.head, pool, after);
  if (average && pool.dilation == extent_pair{1, 1} && !is_compiled(chosen)) return by_averages();
  b.add_layer<pooling_forward>(group.head, b.input_of(layer), chosen);
}

void lower(host_lowering& b, const layer_group& group, const adaptive_avg_pool2d_layer& pool) {
  const shape& in = b.input_shape(b.layer(group.head));
  if (in[2] % pool.output[0] == 0 && in[3] % pool.output[1] == 0) {
    const extent_pair tile{in[2] / pool.output[0], in[3] / pool.output[1]};
    const pool2d_layer tiles{
        .method = pooling::average, .kernel = tile, .stride = tile, .count_include_pad = false};
    const auto chosen = choose_pool(b, group.head, tiles, {0, 0});
    if (is_compiled(chosen)) {
      return b.add_layer<pooling_forward>(group.head, b.input_of(b.layer(group.head)), chosen);
    }
    if (pool.output == extent_pair{1, 1}) return lower_plane_means(b, group.head);
  }
  lower_to_windows(b, group.head, /*maximum=*/false, [&](std::int64_t i, std::size_t axis) {
    return adaptive_window(i, in[axis + 2], pool.output[axis]);
  });
}

}  // namespace graphline::nn
