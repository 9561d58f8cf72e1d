#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "stages/nn/host/element_wise.hpp"
#include "stages/nn/host/own_work.hpp"
#include "stages/nn/host/vector_math.hpp"
#include "stages/nn/operations/windows.hpp"

namespace graphline::nn {
namespace {

/// Computes means over windows of packed [planes, height, width] on the compute threads. For each
/// row of windows, sums the input rows first and then the columns. oneDNN lacks adaptive pools with
/// an output size that does not divide the input size, and average pools with a last window that
/// exceeds the padding in ceil_mode; for packed images it has only generic code.
struct windowed_average {
  static constexpr std::int64_t most_columns = 512;  ///< input columns summed at once

  std::int64_t planes = 0;
  std::int64_t height = 0;  ///< of the input
  std::int64_t width = 0;
  std::vector<window> rows;     ///< one per row of the output
  std::vector<window> columns;  ///< one per column of the output

  void operator()(const float* from, float* to) const {
    const std::int64_t in_plane = height * width;
    const auto out_plane = static_cast<std::int64_t>(rows.size() * columns.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      average_plane(from + plane * in_plane, to + plane * out_plane);
    }
  }

  void average_plane(const float* from, float* to) const {
    for (const window& row : rows) {
      for (auto first = columns.begin(); first != columns.end();) {
        auto end = std::next(first);
        if (first->elements() > most_columns) {
          *to++ = mean_of(from, row, *first);
        } else {
          while (end != columns.end() && end->end - first->begin <= most_columns) ++end;
          average_some(from, row, {first, end}, to);
          to += end - first;
        }
        first = end;
      }
    }
  }

  float mean_of(const float* plane, const window& row, const window& column) const {
    double sum = 0;
    for (std::int64_t y = row.begin; y < row.end; ++y) {
      const float* line = plane + y * width;
      sum = std::accumulate(line + column.begin, line + column.end, sum);
    }
    return static_cast<float>(sum / static_cast<double>(row.divisor * column.divisor));
  }

  /// Averages adjacent windows of a row that together span at most `most_columns`.
  void average_some(const float* plane, const window& row, std::span<const window> of,
                    float* to) const {
    const std::int64_t begin = of.front().begin;
    const std::int64_t count = of.back().end - begin;
    std::array<double, most_columns> sums;
    std::fill_n(sums.begin(), count, 0.0);
    for (std::int64_t y = row.begin; y < row.end; ++y) {
      const float* line = plane + y * width + begin;
      for (std::int64_t x = 0; x < count; ++x) sums[x] += static_cast<double>(line[x]);
    }
    for (const window& column : of) {
      double sum = 0;
      for (std::int64_t x = column.begin; x < column.end; ++x) sum += sums[x - begin];
      *to++ = static_cast<float>(sum / static_cast<double>(row.divisor * column.divisor));
    }
  }
};

/// Computes maxima over windows of [planes, height, width, 8], the layout with blocks of eight
/// channels, on the compute threads. For each row of windows, reduces the input rows first and then
/// the columns, so that most loads are contiguous. oneDNN takes twice as long, because it reduces
/// each window separately.
class windowed_maximum {
 public:
  static constexpr int channels = 8;
  static constexpr std::int64_t widest = 64;  ///< largest width of a window

  windowed_maximum(const shape& in, const shape& out, const pool2d_layer& pool)
      : planes_(in[0] * ((in[1] + channels - 1) / channels)),
        in_{in[2], in[3]},
        out_{out[2], out[3]},
        kernel_(pool.kernel),
        stride_(pool.stride),
        padding_(pool.padding) {}

  void operator()(const float* from, float* to) const {
    const std::int64_t in_plane = in_[0] * in_[1] * channels;
    const std::int64_t out_row = out_[1] * channels;
#pragma omp parallel for schedule(static)
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      for (std::int64_t y = 0; y < out_[0]; ++y) {
        pool_row(from + plane * in_plane, y, to + (plane * out_[0] + y) * out_row);
      }
    }
  }

 private:
  static constexpr std::int64_t most_columns = 2 * widest;  ///< input columns buffered at once

  struct span {
    std::int64_t begin;
    std::int64_t end;
  };
  span window_at(std::size_t axis, std::int64_t position) const {
    const std::int64_t begin = position * stride_[axis] - padding_[axis];
    return {std::max<std::int64_t>(begin, 0), std::min(begin + kernel_[axis], in_[axis])};
  }

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

  void pool_row(const float* plane, std::int64_t y, float* to) const {
    const std::int64_t at_once = (most_columns - kernel_[1]) / stride_[1] + 1;
    for (std::int64_t x = 0; x < out_[1]; x += at_once) {
      pool_some(plane, y, x, std::min(x + at_once, out_[1]), to);
    }
  }

  void pool_some(const float* plane, std::int64_t y, std::int64_t first, std::int64_t end,
                 float* to) const {
    std::array<float, most_columns * channels> rows;
    const span lines = window_at(0, y);
    const std::int64_t begin = window_at(1, first).begin;
    const std::int64_t count = (window_at(1, end - 1).end - begin) * channels;
    const float* line = plane + (lines.begin * in_[1] + begin) * channels;
    for (std::int64_t i = 0; i < count; i += width) {
      lanes largest;
      load(line + i, largest);
      for (std::int64_t row = 1; row < lines.end - lines.begin; ++row) {
        join(largest, line + row * in_[1] * channels + i);
      }
      std::memcpy(rows.data() + i, &largest, sizeof largest);
    }
    for (std::int64_t x = first; x < end; ++x) {
      const span columns = window_at(1, x);
      const float* column = rows.data() + (columns.begin - begin) * channels;
      for (std::int64_t part = 0; part < channels; part += width) {
        lanes largest;
        load(column + part, largest);
        for (std::int64_t i = 1; i < columns.end - columns.begin; ++i) {
          join(largest, column + i * channels + part);
        }
        std::memcpy(to + x * channels + part, &largest, sizeof largest);
      }
    }
  }

  std::int64_t planes_;  ///< batch times blocks of channels
  extent_pair in_;
  extent_pair out_;
  extent_pair kernel_;
  extent_pair stride_;
  extent_pair padding_;
};

/// Returns true if `windowed_maximum` can compute a pool: the input has blocks of eight channels,
/// and each window contains at least one element and is not too wide.
bool is_windowed_maximum(host_lowering& b, std::size_t index, const pool2d_layer& pool) {
  const network_layer& layer = b.layer(index);
  const shape& in = b.input_shape(layer);
  const shape& out = b.output_shape(layer);
  bool fits = pool.method == pooling::max && pool.dilation == extent_pair{1, 1} &&
              pool.kernel[1] <= windowed_maximum::widest &&
              channel_block(b.input_of(layer).layout) == windowed_maximum::channels;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t last = (out[axis + 2] - 1) * pool.stride[axis] - pool.padding[axis];
    fits = fits && pool.padding[axis] < pool.kernel[axis] && last < in[axis + 2];
  }
  return fits;
}

void lower_to_maximum(host_lowering& b, std::size_t index, const pool2d_layer& pool) {
  const network_layer& layer = b.layer(index);
  const shape& out = b.output_shape(layer);
  const host_value result = b.make_tensor(blocked_layout(out, windowed_maximum::channels));
  const windowed_maximum windows(b.input_shape(layer), out, pool);
  add_work(b, layer, windows, {b.input_of(layer)}, result);
  b.set_output(index, result);
}

struct pool_form {
  dnnl::algorithm algorithm;
  extent_pair kernel{};
  extent_pair stride{};
  extent_pair dilation{1, 1};
  extent_pair padding_before{0, 0};
  extent_pair padding_after{0, 0};
};

using pooling_forward = dnnl::pooling_v2_forward;

pooling_forward::primitive_desc choose_pool(host_lowering& b, std::size_t index,
                                            const pool_form& form) {
  const auto dims = [](const extent_pair& pair) { return dnnl::memory::dims{pair[0], pair[1]}; };
  const network_layer& layer = b.layer(index);
  const pooling_forward::desc wanted(dnnl::prop_kind::forward_inference, form.algorithm,
                                     b.input_of(layer).layout, any_layout(b.output_shape(layer)),
                                     dims(form.stride), dims(form.kernel),
                                     {form.dilation[0] - 1, form.dilation[1] - 1},
                                     dims(form.padding_before), dims(form.padding_after));
  return {wanted, onednn_attributes(), onednn_engine()};
}

/// Adds means over windows; `window_at(i, axis)` returns window `i` along an axis of the images.
template <class WindowAt>
void lower_to_windows(host_lowering& b, std::size_t index, const WindowAt& window_at) {
  const network_layer& layer = b.layer(index);
  const shape& in = b.input_shape(layer);
  const shape& out = b.output_shape(layer);
  windowed_average windows{in[0] * in[1], in[2], in[3], {}, {}};
  for (std::int64_t i = 0; i < out[2]; ++i) windows.rows.push_back(window_at(i, 0));
  for (std::int64_t i = 0; i < out[3]; ++i) windows.columns.push_back(window_at(i, 1));
  const host_value source = b.in_layout(b.input_of(layer), plain_layout(in), layer);
  const host_value result = b.make_tensor(plain_layout(out));
  add_work(b, layer, windows, {source}, result);
  b.set_output(index, result);
}

void add_pool(host_lowering& b, std::size_t index, const pooling_forward::primitive_desc& chosen) {
  const host_value source = b.input_of(b.layer(index));
  b.add_layer<pooling_forward>(index, source, chosen);
}

}  // namespace

void lower(host_lowering& b, const layer_group& group, const pool2d_layer& pool) {
  const network_layer& layer = b.layer(group.head);
  const shape& in = b.input_shape(layer);
  const shape& out = b.output_shape(layer);
  const bool average = pool.method == pooling::average;
  if (is_windowed_maximum(b, group.head, pool)) return lower_to_maximum(b, group.head, pool);

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
  // If the last window exceeds the padding, PyTorch's divisor counts the stated padding, and
  // oneDNN's counts the whole window.
  const auto by_windows = [&] {
    lower_to_windows(b, group.head, [&](std::int64_t i, std::size_t axis) {
      return strided_window(i, in[axis + 2], pool.kernel[axis], pool.stride[axis],
                            pool.padding[axis], stated_after[axis], pool.count_include_pad);
    });
  };
  if (average && pool.count_include_pad && beyond) return by_windows();
  const auto averaging = pool.count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                                : dnnl::algorithm::pooling_avg_exclude_padding;
  const auto chosen = choose_pool(b, group.head,
                                  {average ? averaging : dnnl::algorithm::pooling_max, pool.kernel,
                                   pool.stride, pool.dilation, pool.padding, after});
  if (average && pool.dilation == extent_pair{1, 1} && !is_compiled(chosen)) return by_windows();
  add_pool(b, group.head, chosen);
}

void lower(host_lowering& b, const layer_group& group, const adaptive_avg_pool2d_layer& pool) {
  const shape& in = b.input_shape(b.layer(group.head));
  if (in[2] % pool.output[0] == 0 && in[3] % pool.output[1] == 0) {
    const extent_pair tile{in[2] / pool.output[0], in[3] / pool.output[1]};
    const auto chosen =
        choose_pool(b, group.head, {dnnl::algorithm::pooling_avg_exclude_padding, tile, tile});
    if (is_compiled(chosen)) return add_pool(b, group.head, chosen);
    if (pool.output == extent_pair{1, 1}) return lower_plane_means(b, group.head);
  }
  lower_to_windows(b, group.head, [&](std::int64_t i, std::size_t axis) {
    return adaptive_window(i, in[axis + 2], pool.output[axis]);
  });
}

}  // namespace graphline::nn
