#pragma once

#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// Converts elements in order. Each item is a pack; the last pack may be shorter.
template <class From, class To, int width>
struct flat_conversion {
  const From* from;
  To* to;
  std::int64_t count;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const std::int64_t begin = item * width;
    if (begin + width <= count) {
      const pack<From, width> values = load<width>(from + begin);
      pack<To, width> converted;
      for (int i = 0; i < width; ++i) from_float(to_float(values.element[i]), converted.element[i]);
      store<width>(to + begin, converted);
      return;
    }
    for (std::int64_t i = begin; i < count; ++i) from_float(to_float(from[i]), to[i]);
  }
};

/// Transposes matrices with so few rows or columns that the loads of a warp are close together
/// without tiles. Each item is a pack of the result.
template <class From, class To, int width>
struct gathered_transposition {
  const From* from;
  To* to;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t padded_rows;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const std::int64_t begin = item * width;
    std::int64_t rest = begin;
    const std::int64_t row = take_digit(rest, padded_rows);
    const std::int64_t column = take_digit(rest, columns);
    const From* matrix = from + rest * rows * columns;
    pack<To, width> values;
    for (int i = 0; i < width; ++i) {
      const std::int64_t at = row + i;
      const float value = at < rows ? to_float(matrix[at * columns + column]) : 0.0F;
      from_float(value, values.element[i]);
    }
    store<width>(to + begin, values);
  }
};

/// Transposes square tiles through shared memory, so that loads and stores are both coalesced. Each
/// block computes a tile.
template <class From, class To>
struct tiled_transposition {
  static constexpr int phases = 2;
  static constexpr int threads_of_block = 256;
  static constexpr int side = 32;
  static constexpr int pitch = side + 1;  // avoids bank conflicts
  static constexpr int shared_floats = side * pitch;

  const From* from;
  To* to;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t padded_rows;
  std::int64_t tiles_down;
  std::int64_t tiles_across;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int /*threads*/,
                                 float* tile) const {
    const std::int64_t first_row = take_digit(block, tiles_down) * side;
    const std::int64_t first_column = take_digit(block, tiles_across) * side;
    // A constant trip count lets the compiler unroll and overlap the loads.
    for (int turn = 0; turn < side * side / threads_of_block; ++turn) {
      const int i = thread + turn * threads_of_block;
      const int slow = i / side;
      const int fast = i % side;
      if constexpr (phase == 0) {
        const std::int64_t row = first_row + slow;
        const std::int64_t column = first_column + fast;
        if (column >= columns) continue;
        tile[slow * pitch + fast] =
            row < rows ? to_float(from[(block * rows + row) * columns + column]) : 0.0F;
      } else {
        const std::int64_t row = first_row + fast;
        const std::int64_t column = first_column + slow;
        if (column >= columns || row >= padded_rows) continue;
        from_float(tile[fast * pitch + slow], to[(block * columns + column) * padded_rows + row]);
      }
    }
  }
};

/// `launch` provides items(work, count) and blocks(work, count, threads).
template <class Launcher>
void run(const convert_form& form, std::span<void* const> operands, const Launcher& launch) {
  with_elements(form.from, form.to, operands, [&]<class From, class To>(const From* from, To* to) {
    constexpr int widest = pack_width<From, To>;
    const bool in_order = form.padded_rows == form.rows && (form.rows == 1 || form.columns == 1);
    if (in_order) {
      const std::int64_t count = form.batch * form.rows * form.columns;
      with_width<widest>(begins_pack<widest>(from) && begins_pack<widest>(to), [&](auto width) {
        launch.items(flat_conversion<From, To, width>{from, to, count},
                     (count + width - 1) / width);
      });
      return;
    }
    constexpr std::int64_t few = 16;
    if (form.rows > few && form.columns > few) {
      using tiles = tiled_transposition<From, To>;
      const std::int64_t down = (form.padded_rows + tiles::side - 1) / tiles::side;
      const std::int64_t across = (form.columns + tiles::side - 1) / tiles::side;
      launch.blocks(tiles{from, to, form.rows, form.columns, form.padded_rows, down, across},
                    form.batch * down * across, tiles::threads_of_block);
      return;
    }
    const std::int64_t count = form.batch * form.columns * form.padded_rows;
    with_width<widest>(form.padded_rows % widest == 0 && begins_pack<widest>(to), [&](auto width) {
      launch.items(gathered_transposition<From, To, width>{from, to, form.rows, form.columns,
                                                           form.padded_rows},
                   count / width);
    });
  });
}

}  // namespace graphline::nn
