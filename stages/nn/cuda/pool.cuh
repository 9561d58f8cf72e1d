#pragma once

#include <cmath>
#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/operations/windows.hpp"

namespace graphline::nn {

/// One axis of a pool as a kernel argument, without std::array, which works on the host only.
struct pool_axis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t padding_after = 0;
  std::int64_t dilation = 1;
  bool adaptive = false;
  bool count_include_pad = true;

  /// Returns the window of output `i` for a mean.
  GRAPHLINE_HOST_DEVICE window mean_window(std::int64_t i) const {
    return adaptive
               ? adaptive_window(i, in, out)
               : strided_window(i, in, kernel, stride, padding, padding_after, count_include_pad);
  }
};

inline pool_axis axis_of(const pool_form& form, std::size_t axis) {
  const pool2d_layer& pool = form.pool;
  const extent_pair after = pool.padding_after.value_or(pool.padding);
  return {form.in[axis],       form.out[axis],     pool.kernel[axis],
          pool.stride[axis],   pool.padding[axis], after[axis],
          pool.dilation[axis], form.adaptive,      pool.count_include_pad};
}

/// Computes means or maxima over small windows. Each item is a pack of channels at a position.
template <class From, class To, int width>
struct pooled_positions {
  const From* from;
  To* to;
  std::int64_t channels;
  pool_axis rows;
  pool_axis columns;
  bool maximum;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    std::int64_t rest = item;
    const std::int64_t channel = take_digit(rest, channels / width) * width;
    const std::int64_t x = take_digit(rest, columns.out);
    const std::int64_t y = take_digit(rest, rows.out);
    const From* image = from + rest * rows.in * columns.in * channels + channel;
    float result[width];
    if (maximum) {
      take_maximum(image, y, x, result);
    } else {
      take_mean(image, y, x, result);
    }
    pack<To, width> rounded;
    for (int i = 0; i < width; ++i) from_float(result[i], rounded.element[i]);
    store<width>(to + item * width, rounded);
  }

 private:
  GRAPHLINE_HOST_DEVICE void take_mean(const From* image, std::int64_t y, std::int64_t x,
                                       float* result) const {
    const window down = rows.mean_window(y);
    const window across = columns.mean_window(x);
    for (int i = 0; i < width; ++i) result[i] = 0;
    for (std::int64_t row = down.begin; row < down.end; ++row) {
      for (std::int64_t column = across.begin; column < across.end; ++column) {
        const auto values = load<width>(image + (row * columns.in + column) * channels);
        for (int i = 0; i < width; ++i) result[i] += to_float(values.element[i]);
      }
    }
    const auto divisor = static_cast<float>(down.divisor * across.divisor);
    for (int i = 0; i < width; ++i) result[i] /= divisor;
  }

  GRAPHLINE_HOST_DEVICE void take_maximum(const From* image, std::int64_t y, std::int64_t x,
                                          float* result) const {
    for (int i = 0; i < width; ++i) result[i] = -INFINITY;
    for (std::int64_t down = 0; down < rows.kernel; ++down) {
      const std::int64_t row = y * rows.stride - rows.padding + down * rows.dilation;
      if (row < 0 || row >= rows.in) continue;
      for (std::int64_t across = 0; across < columns.kernel; ++across) {
        const std::int64_t column =
            x * columns.stride - columns.padding + across * columns.dilation;
        if (column < 0 || column >= columns.in) continue;
        const auto values = load<width>(image + (row * columns.in + column) * channels);
        for (int i = 0; i < width; ++i) {
          const float value = to_float(values.element[i]);
          if (value > result[i] || value != value) result[i] = value;  // NaN propagates
        }
      }
    }
  }
};

/// Sums from[i * apart] for every `step`-th i of [begin, end). Keeps several loads in flight to
/// hide memory latency.
template <class From>
GRAPHLINE_HOST_DEVICE inline float sum_apart(const From* from, std::int64_t begin, std::int64_t end,
                                             std::int64_t step, std::int64_t apart) {
  constexpr int at_once = 8;
  float sum = 0;
  std::int64_t i = begin;
  for (; i + (at_once - 1) * step < end; i += at_once * step) {
    From values[at_once];
    for (int k = 0; k < at_once; ++k) values[k] = from[(i + k * step) * apart];
    for (int k = 0; k < at_once; ++k) sum += to_float(values[k]);
  }
  for (; i < end; i += step) sum += to_float(from[i * apart]);
  return sum;
}

/// Computes means over large windows of one-channel images. Each block computes an output position.
template <class From, class To>
struct plane_means {
  static constexpr int phases = 3;
  static constexpr int shared_floats = block_sum::sums + block_sum::most_threads;

  const From* from;
  To* to;
  pool_axis rows;
  pool_axis columns;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int threads, float* shared) const {
    float* partial = shared + block_sum::sums;
    std::int64_t rest = block;
    const window across = columns.mean_window(take_digit(rest, columns.out));
    const window down = rows.mean_window(take_digit(rest, rows.out));
    if constexpr (phase == 0) {
      // Use at most as many threads per row as the row has elements.
      int side = threads;
      while (side / 2 >= across.elements() && side > 1) side /= 2;
      const From* plane = from + rest * rows.in * columns.in;
      float sum = 0;
      for (std::int64_t row = down.begin + thread / side; row < down.end; row += threads / side) {
        sum +=
            sum_apart(plane + row * columns.in, across.begin + thread % side, across.end, side, 1);
      }
      partial[thread] = sum;
    } else if constexpr (phase == 1) {
      block_sum::gather(partial, shared, thread, threads);
    } else if (thread == 0) {
      from_float(block_sum::total(shared) / static_cast<float>(down.divisor * across.divisor),
                 to[block]);
    }
  }
};

/// Computes means over large windows in NHWC. Each block computes 32 channels of an output
/// position, with 32 threads along the channels and several along the window.
template <class From, class To>
struct channel_means {
  static constexpr int phases = 2;
  static constexpr int lanes = 32;
  static constexpr int shared_floats = 256;

  const From* from;
  To* to;
  std::int64_t channels;
  pool_axis rows;
  pool_axis columns;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int threads, float* shared) const {
    const std::int64_t channel =
        take_digit(block, (channels + lanes - 1) / lanes) * lanes + thread % lanes;
    if (channel >= channels) return;
    std::int64_t image = block;
    const window across = columns.mean_window(take_digit(image, columns.out));
    const window down = rows.mean_window(take_digit(image, rows.out));
    if constexpr (phase == 0) {
      const std::int64_t pitch = columns.in * channels;
      const From* row = from + (image * rows.in + down.begin) * pitch + channel;
      const From* const end = row + down.elements() * pitch;
      float sum = 0;
      for (; row != end; row += pitch) {
        sum += sum_apart(row, across.begin + thread / lanes, across.end, threads / lanes, channels);
      }
      shared[thread] = sum;
    } else {
      if (thread >= lanes) return;
      float sum = 0;
      for (int i = thread; i < threads; i += lanes) sum += shared[i];
      from_float(sum / static_cast<float>(down.divisor * across.divisor),
                 to[block * channels + channel]);
    }
  }
};

/// Launches a pool.
template <class Launcher>
void run(const pool_form& form, std::span<void* const> operands, const Launcher& launch) {
  with_elements(form.from, form.to, operands, [&]<class From, class To>(const From* from, To* to) {
    constexpr int widest = pack_width<From, To>;
    pool_axis rows = axis_of(form, 0);
    pool_axis columns = axis_of(form, 1);
    const std::int64_t positions = form.batch * rows.out * columns.out;

    const std::int64_t covered = (rows.in / rows.out) * (columns.in / columns.out);
    if (form.adaptive && covered >= 32) {
      if (rows.out == 1 && columns.out == 1) {
        // A single window covers the image, so treat the image as one row.
        columns.in *= rows.in;
        rows.in = 1;
      }
      if (form.channels == 1) {
        launch.blocks(plane_means<From, To>{from, to, rows, columns}, positions,
                      covered >= 512 ? block_sum::most_threads : 32);
      } else {
        constexpr std::int64_t lanes = channel_means<From, To>::lanes;
        launch.blocks(channel_means<From, To>{from, to, form.channels, rows, columns},
                      positions * ((form.channels + lanes - 1) / lanes), 256);
      }
      return;
    }
    const bool maximum = !form.adaptive && form.pool.method == pooling::max;
    const bool packs =
        form.channels % widest == 0 && begins_pack<widest>(from) && begins_pack<widest>(to);
    with_width<widest>(packs, [&](auto width) {
      launch.items(
          pooled_positions<From, To, width>{from, to, form.channels, rows, columns, maximum},
          positions * (form.channels / width));
    });
  });
}

}  // namespace graphline::nn
