#pragma once

#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/operations/indexed_places.hpp"

namespace graphline::nn {

/// Source of a row or a column of a resized image.
struct table_position {
  std::int64_t first;
  std::int64_t second;
  float weight;

  /// Interpolates. Ignores `b` if its weight is 0, because `b` may be NaN.
  GRAPHLINE_HOST_DEVICE float between(float a, float b) const {
    return weight == 0.0F ? a : a + weight * (b - a);
  }

  GRAPHLINE_HOST_DEVICE static table_position at(const float* table, std::int64_t i) {
    const float* row = table + 3 * i;
    return {static_cast<std::int64_t>(row[0]), static_cast<std::int64_t>(row[1]), row[2]};
  }
};

struct resized_elements {
  const void* from;
  const float* rows;
  const float* columns;
  void* to;
  dtype read;
  dtype written;
  std::int64_t channels;
  std::int64_t in_height;
  std::int64_t in_width;
  std::int64_t out_height;
  std::int64_t out_width;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    std::int64_t rest = item;
    const std::int64_t channel = take_digit(rest, channels);
    const table_position x = table_position::at(columns, take_digit(rest, out_width));
    const table_position y = table_position::at(rows, take_digit(rest, out_height));
    const std::int64_t image = rest * in_height;
    const auto value = [&](std::int64_t row, std::int64_t column) {
      return load_as(read, from, ((image + row) * in_width + column) * channels + channel);
    };
    const auto along = [&](std::int64_t row) {
      return x.between(value(row, x.first), value(row, x.second));
    };
    store_as(written, to, item, y.between(along(y.first), along(y.second)));
  }
};

/// Launches a resize.
template <class Launcher>
void run(const resize_form& form, std::span<void* const> operands, const Launcher& launch) {
  const auto table = [&](std::size_t i) { return static_cast<const float*>(operands[i]); };
  launch.items(resized_elements{operands[0], table(1), table(2), operands[3], form.from, form.to,
                                form.channels, form.in[0], form.in[1], form.out[0], form.out[1]},
               form.batch * form.out[0] * form.out[1] * form.channels);
}

struct gathered_elements {
  const void* from;
  const void* table;
  void* to;
  float* outside;
  gather_form form;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const axis_extents& axis = form.axis;
    std::int64_t outer = item;
    const std::int64_t lane = take_digit(outer, axis.inner);
    const float number = load_as(form.numbers, table, take_digit(outer, form.count));
    const std::int64_t at = outer * axis.extent + taken_position(number, axis.extent, outside);
    store_as(form.to, to, item, load_as(form.from, from, at * axis.inner + lane));
  }
};

/// Launches a gather.
template <class Launcher>
void run(const gather_form& form, std::span<void* const> operands, const Launcher& launch) {
  auto* const outside = operands.size() > 3 ? static_cast<float*>(operands[3]) : nullptr;
  launch.items(gathered_elements{operands[0], operands[1], operands[2], outside, form},
               form.axis.outer * form.count * form.axis.inner);
}

struct indexed_moves {
  const void* from;
  const void* table;
  void* to;
  float* outside;
  dtype read;
  dtype written;
  dtype numbers;
  bool scatters;
  bool combines;
  reduce_layer::reduction function;
  indexed_places places;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const auto index_at = [&](std::int64_t i) { return load_as(numbers, table, i); };
    for (std::int64_t turn = 0; turn < places.turns; ++turn) {
      const indexed_places::place at = places.at(item, turn, index_at, outside);
      const std::int64_t given = scatters ? at.in_tensor : at.in_values;
      float value = load_as(read, from, scatters ? at.in_values : at.in_tensor);
      if (combines) value = joined(function, load_as(written, to, given), value);
      store_as(written, to, given, value);
    }
  }
};

/// Launches a gather or a scatter. Updates that are combined run in a fixed order.
template <class Launcher>
void run(const indexed_form& form, std::span<void* const> operands, const Launcher& launch) {
  const bool combines = form.function.has_value();
  const indexed_places places = places_of(form.selected, combines);
  launch.items(
      indexed_moves{operands[0], operands[1], operands[2], static_cast<float*>(operands[3]),
                    form.from, form.to, form.numbers, form.scatters, combines,
                    form.function.value_or(reduce_layer::reduction::sum), places},
      places.items);
}

struct resampled_elements {
  const void* from;
  const float* table;
  void* to;
  resample_form form;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const axis_extents& axis = form.axis;
    std::int64_t outer = item;
    const std::int64_t lane = take_digit(outer, axis.inner);
    const float* row = table + 2 * form.taps * take_digit(outer, form.count);
    float sum = 0;
    for (std::int64_t tap = 0; tap < form.taps; ++tap) {
      const auto index = static_cast<std::int64_t>(row[2 * tap]);
      const float weight = row[2 * tap + 1];
      if (weight == 0.0F) continue;
      sum += weight * load_as(form.from, from, (outer * axis.extent + index) * axis.inner + lane);
    }
    store_as(form.to, to, item, sum);
  }
};

template <class Launcher>
void run(const resample_form& form, std::span<void* const> operands, const Launcher& launch) {
  launch.items(
      resampled_elements{operands[0], static_cast<const float*>(operands[1]), operands[2], form},
      form.axis.outer * form.count * form.axis.inner);
}

}  // namespace graphline::nn
