#pragma once

#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/operations/linear_tap.hpp"
#include "stages/nn/operations/luma.hpp"

namespace graphline::nn {

/// Pictures uint8 [batch, height, width, channels]; the extents of each are in `sizes`, if given.
struct picture_batch {
  const std::uint8_t* pixels;
  const std::int64_t* sizes;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;

  GRAPHLINE_HOST_DEVICE std::int64_t extent(std::int64_t picture, int axis) const {
    const std::int64_t most = axis == 0 ? height : width;
    if (sizes == nullptr) return most;
    const std::int64_t size = sizes[2 * picture + axis];
    return size < 0 ? 0 : size > most ? most : size;
  }
  GRAPHLINE_HOST_DEVICE const std::uint8_t* pixel(std::int64_t picture, std::int64_t y,
                                                  std::int64_t x) const {
    return pixels + ((picture * height + y) * width + x) * channels;
  }
};

inline picture_batch pictures_of(const extent_pair& in, std::int64_t channels,
                                 std::span<void* const> operands) {
  return {static_cast<const std::uint8_t*>(operands[0]),
          static_cast<const std::int64_t*>(operands[1]), in[0], in[1], channels};
}

/// Each item is a pixel of the result.
struct resized_pixels {
  picture_batch from;
  std::uint8_t* to;
  std::int64_t height;
  std::int64_t width;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    std::int64_t picture = item;
    const std::int64_t x = take_digit(picture, width);
    const std::int64_t y = take_digit(picture, height);
    const std::int64_t rows = from.extent(picture, 0);
    const std::int64_t columns = from.extent(picture, 1);
    std::uint8_t* pixel = to + item * from.channels;
    if (rows == 0 || columns == 0) {
      for (std::int64_t c = 0; c < from.channels; ++c) pixel[c] = 0;
      return;
    }
    const linear_tap row = linear_tap_at(y, rows, linear_scale(rows, height));
    const linear_tap column = linear_tap_at(x, columns, linear_scale(columns, width));
    const auto mixed = [&](std::int32_t source, std::int64_t c) {
      return mix_columns(column, from.pixel(picture, source, column.first)[c],
                         from.pixel(picture, source, column.second)[c]);
    };
    for (std::int64_t c = 0; c < from.channels; ++c) {
      pixel[c] = mix_rows(row, mixed(row.first, c), mixed(row.second, c));
    }
  }
};

/// Each item is a pixel, three elements of the result or one.
struct normalized_pixels {
  picture_batch from;
  void* to;
  normalize_pictures_form form;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    std::int64_t picture = item;
    const std::int64_t x = take_digit(picture, from.width);
    const std::int64_t y = take_digit(picture, from.height);
    const bool filled = y < from.extent(picture, 0) && x < from.extent(picture, 1);
    const std::uint8_t* pixel = from.pixel(picture, y, x);
    const std::int64_t plane = from.height * from.width;
    const int channels = form.gray ? 1 : 3;
    const std::int64_t begin =
        form.channels_last ? channels * item : item + (channels - 1) * picture * plane;
    const std::int64_t step = form.channels_last ? 1 : plane;
    for (int i = 0; i < channels; ++i) {
      const int c = form.blue_first ? 2 - i : i;
      float value = 0;
      if (filled) {
        const std::uint8_t level = form.gray ? luma(pixel) : pixel[c];
        value = static_cast<float>(level) * form.factor[c] + form.offset[c];
      }
      store_as(form.to, to, begin + i * step, value);
    }
  }
};

template <class Launcher>
void run(const resize_pictures_form& form, std::span<void* const> operands,
         const Launcher& launch) {
  launch.items(resized_pixels{pictures_of(form.in, form.channels, operands),
                              static_cast<std::uint8_t*>(operands[2]), form.out[0], form.out[1]},
               form.batch * form.out[0] * form.out[1]);
}

template <class Launcher>
void run(const normalize_pictures_form& form, std::span<void* const> operands,
         const Launcher& launch) {
  launch.items(normalized_pixels{pictures_of(form.in, 3, operands), operands[2], form},
               form.batch * form.in[0] * form.in[1]);
}

}  // namespace graphline::nn
