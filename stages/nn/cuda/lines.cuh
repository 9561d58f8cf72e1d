#pragma once

#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/operations/greatest.hpp"

namespace graphline::nn {

/// Returns where line i of [outer, length, inner] along the middle begins, at (i / inner, 0, i %
/// inner).
GRAPHLINE_HOST_DEVICE inline std::int64_t begin_of_line(std::int64_t line, std::int64_t length,
                                                        std::int64_t inner) {
  const std::int64_t lane = take_digit(line, inner);
  return line * length * inner + lane;
}

struct top_k_tensors {
  const void* from;
  void* indices;
  void* values;
  top_k_form form;
  line_order order;

  GRAPHLINE_HOST_DEVICE std::int64_t begin(std::int64_t line) const {
    return begin_of_line(line, form.axis.extent, form.axis.inner);
  }
  GRAPHLINE_HOST_DEVICE greatest at(std::int64_t begin, std::int64_t i) const {
    return order.present(load_as(form.from, from, begin + i * form.axis.inner), i);
  }
  GRAPHLINE_HOST_DEVICE void put(std::int64_t line, std::int64_t rank,
                                 const greatest& found) const {
    const std::int64_t inner = form.axis.inner;
    const std::int64_t to = begin_of_line(line, form.count, inner) + rank * inner;
    if (form.indices == dtype::int64) {
      static_cast<std::int64_t*>(indices)[to] = order.index_of(found);
    } else {
      static_cast<float*>(indices)[to] = static_cast<float>(order.index_of(found));
    }
    store_as(form.to, values, to, order.value_of(found));
  }
};

/// Each item counts the elements of its line that precede an element, which is its rank.
struct top_k_items {
  top_k_tensors tensors;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const axis_extents& axis = tensors.form.axis;
    const std::int64_t count = tensors.form.count;
    std::int64_t line = item;
    const std::int64_t lane = take_digit(line, axis.inner);
    const std::int64_t i = take_digit(line, axis.extent);
    line = line * axis.inner + lane;
    const std::int64_t begin = tensors.begin(line);
    const greatest own = tensors.at(begin, i);
    std::int64_t rank = 0;
    for (std::int64_t k = 0; k < axis.extent && rank < count; ++k) {
      rank += tensors.at(begin, k).precedes(own) ? 1 : 0;
    }
    if (rank < count) tensors.put(line, rank, own);
  }
};

/// Each block finds the first element of a line.
struct top_1_blocks {
  static constexpr int phases = 3;
  static constexpr int shared_floats = 2 * (block_sum::sums + block_sum::most_threads);
  static_assert(sizeof(greatest) == 2 * sizeof(float));

  top_k_tensors tensors;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int threads, float* shared) const {
    auto* some = reinterpret_cast<greatest*>(shared);
    greatest* partial = some + block_sum::sums;
    if constexpr (phase == 0) {
      const std::int64_t begin = tensors.begin(block);
      greatest mine;
      for (std::int64_t i = thread; i < tensors.form.axis.extent; i += threads) {
        mine += tensors.at(begin, i);
      }
      partial[thread] = mine;
    } else if constexpr (phase == 1) {
      block_sum::gather(partial, some, thread, threads);
    } else if (thread == 0) {
      tensors.put(block, 0, block_sum::total(some));
    }
  }
};

template <class Launcher>
void run(const top_k_form& form, std::span<void* const> operands, const Launcher& launch) {
  const top_k_tensors tensors{
      operands[0],
      operands[1],
      operands[2],
      form,
      {form.largest, form.last_of_equal, static_cast<std::int32_t>(form.axis.extent)}};
  const std::int64_t lines = form.axis.outer * form.axis.inner;
  if (form.count == 1) {
    launch.blocks(top_1_blocks{tensors}, lines,
                  form.axis.extent >= 512 ? block_sum::most_threads : 32);
  } else {
    launch.items(top_k_items{tensors}, lines * form.axis.extent);
  }
}

/// Each item sums a line from one end to the other.
struct cumulative_sum_items {
  const void* from;
  void* to;
  cumulative_sum_form form;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const axis_extents& axis = form.axis;
    const std::int64_t begin = begin_of_line(item, axis.extent, axis.inner);
    float sum = 0;
    for (std::int64_t step = 0; step < axis.extent; ++step) {
      const std::int64_t at = begin + (form.reverse ? axis.extent - 1 - step : step) * axis.inner;
      const float added = load_as(form.from, from, at);
      store_as(form.to, to, at, form.exclusive ? sum : sum + added);
      sum += added;
    }
  }
};

template <class Launcher>
void run(const cumulative_sum_form& form, std::span<void* const> operands, const Launcher& launch) {
  launch.items(cumulative_sum_items{operands[0], operands[1], form},
               form.axis.outer * form.axis.inner);
}

}  // namespace graphline::nn
