#pragma once

#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// Each block sums a piece of `rows` times `sum_row` elements, loaded in coalesced packs. Each
/// thread loads all its packs of a row at once.
template <int width>
struct sum_pieces {
  static constexpr int phases = 3;
  static constexpr int shared_floats = block_sum::sums + block_sum::most_threads;
  static constexpr int packs = static_cast<int>(sum_row) / (block_sum::most_threads * width);

  const float* from;
  float* to;
  std::int64_t count;
  std::int64_t rows;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int threads, float* shared) const {
    if constexpr (phase == 0) {
      float sum = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t begin = (block * rows + row) * sum_row;
        sum +=
            begin + sum_row <= count ? whole(begin, thread, threads) : rest(begin, thread, threads);
      }
      shared[block_sum::sums + thread] = sum;
    } else if constexpr (phase == 1) {
      block_sum::gather(shared + block_sum::sums, shared, thread, threads);
    } else if (thread == 0) {
      to[block] = block_sum::total(shared);
    }
  }

 private:
  GRAPHLINE_HOST_DEVICE float whole(std::int64_t begin, int thread, int threads) const {
    pack<float, width> read[packs];
    for (int i = 0; i < packs; ++i) {
      read[i] =
          load<width>(from + begin + (static_cast<std::int64_t>(i) * threads + thread) * width);
    }
    float sums[width] = {};
    for (int i = 0; i < packs; ++i) {
      for (int lane = 0; lane < width; ++lane) sums[lane] += read[i].element[lane];
    }
    float sum = 0;
    for (const float lane : sums) sum += lane;
    return sum;
  }

  GRAPHLINE_HOST_DEVICE float rest(std::int64_t begin, int thread, int threads) const {
    float sum = 0;
    for (std::int64_t i = begin + thread; i < count; i += threads) sum += from[i];
    return sum;
  }
};

/// A single block adds up the pieces. The block is alone on the GPU, so each thread keeps several
/// loads in flight to hide memory latency.
struct sum_of_pieces {
  static constexpr int phases = 3;
  static constexpr int shared_floats = block_sum::sums + block_sum::most_threads;

  const float* from;
  float* to;
  std::int64_t count;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t /*block*/, int thread, int threads,
                                 float* shared) const {
    if constexpr (phase == 0) {
      constexpr int at_once = 16;
      float sum = 0;
      for (std::int64_t first = thread; first < count; first += at_once * threads) {
        float read[at_once];
        for (int i = 0; i < at_once; ++i) {
          const std::int64_t at = first + i * threads;
          read[i] = at < count ? from[at] : 0.0F;
        }
        for (const float value : read) sum += value;
      }
      shared[block_sum::sums + thread] = sum;
    } else if constexpr (phase == 1) {
      block_sum::gather(shared + block_sum::sums, shared, thread, threads);
    } else if (thread == 0) {
      *to = block_sum::total(shared);
    }
  }
};

/// Launches a sum.
template <class Launcher>
void run(const sum_form& form, std::span<void* const> operands, const Launcher& launch) {
  const auto* from = static_cast<const float*>(operands[0]);
  auto* pieces = static_cast<float*>(operands[1]);
  const std::int64_t count = pieces_of(form);
  const std::int64_t rows = rows_of_piece(form);
  constexpr int threads = block_sum::most_threads;
  with_width<4>(begins_pack<4>(from), [&](auto width) {
    launch.blocks(sum_pieces<width>{from, pieces, form.count, rows}, count, threads);
  });
  launch.blocks(sum_of_pieces{pieces, static_cast<float*>(operands[2]), count}, 1, threads);
}

}  // namespace graphline::nn
