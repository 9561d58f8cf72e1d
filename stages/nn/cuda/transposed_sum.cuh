#pragma once

#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// One axis of a transposed convolution in a kernel argument.
struct transposed_axis {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t dilation;

  /// Returns the input element that contributes to output `at` through kernel element `tap`;
  /// negative if there is none.
  GRAPHLINE_HOST_DEVICE std::int64_t source(std::int64_t at, std::int64_t tap) const {
    const std::int64_t reached = at + padding - tap * dilation;
    if (reached < 0) return -1;
    const std::int64_t element = quotient(reached, stride);
    return element * stride == reached && element < in ? element : -1;
  }
};

struct transposed_sums {
  const void* products;
  void* to;
  dtype read;
  dtype written;
  std::int64_t channels;  ///< channels of the result
  std::int64_t of_group;
  transposed_axis rows;
  transposed_axis columns;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    std::int64_t rest = item;
    const std::int64_t channel = take_digit(rest, channels);
    const std::int64_t x = take_digit(rest, columns.out);
    const std::int64_t y = take_digit(rest, rows.out);
    const std::int64_t group = quotient(channel, of_group);
    const std::int64_t taps = rows.kernel * columns.kernel;
    float sum = 0;
    for (std::int64_t down = 0; down < rows.kernel; ++down) {
      const std::int64_t row = rows.source(y, down);
      if (row < 0) continue;
      for (std::int64_t across = 0; across < columns.kernel; ++across) {
        const std::int64_t column = columns.source(x, across);
        if (column < 0) continue;
        const std::int64_t pixel = (rest * rows.in + row) * columns.in + column;
        const std::int64_t tap = group * taps + down * columns.kernel + across;
        sum += load_as(read, products,
                       pixel * channels * taps + tap * of_group + channel - group * of_group);
      }
    }
    store_as(written, to, item, sum);
  }
};

template <class Launcher>
void run(const transposed_sum_form& form, std::span<void* const> operands, const Launcher& launch) {
  const conv_transpose2d_layer& conv = form.conv;
  const auto axis = [&](std::size_t i) {
    return transposed_axis{form.in[i],     form.out[i],     conv.kernel[i],
                           conv.stride[i], conv.padding[i], conv.dilation[i]};
  };
  launch.items(transposed_sums{operands[0], operands[1], form.from, form.to, conv.out_channels,
                               conv.out_channels / conv.groups, axis(0), axis(1)},
               form.batch * form.out[0] * form.out[1] * conv.out_channels);
}

}  // namespace graphline::nn
