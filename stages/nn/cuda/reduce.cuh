#pragma once

#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/operations/indexed_places.hpp"

namespace graphline::nn {

/// The accumulator of a reduction; its default is the neutral element.
template <reduce_layer::reduction function>
struct reduced_number {
  float value = neutral(function);

  GRAPHLINE_HOST_DEVICE void operator+=(const reduced_number& other) {
    value = joined(function, value, other.value);
  }
};

/// Extents and strides in a kernel argument, padded with leading extents of 1.
struct strided_space {
  std::int64_t extents[most_extents];
  std::int64_t strides[most_extents];
  int first;  ///< first extent in use

  GRAPHLINE_HOST_DEVICE std::int64_t offset(std::int64_t index) const {
    std::int64_t sum = 0;
    for (int axis = static_cast<int>(most_extents) - 1; axis >= first; --axis) {
      sum += take_digit(index, extents[axis]) * strides[axis];
    }
    return sum;
  }
};

inline strided_space strided(const pointwise_space& space) {
  strided_space result{};
  const std::size_t first = most_extents - space.extents.size();
  result.first = static_cast<int>(first);
  for (std::size_t axis = first; axis < most_extents; ++axis) {
    result.extents[axis] = space.extents[axis - first];
    result.strides[axis] = space.strides[0][axis - first];
  }
  return result;
}

inline std::int64_t positions_in(const pointwise_space& space) {
  std::int64_t count = 1;
  for (const std::int64_t extent : space.extents) count *= extent;
  return count;
}

template <reduce_layer::reduction function>
struct reduced_items {
  const void* from;
  void* to;
  dtype read;
  dtype written;
  strided_space kept;
  strided_space reduced;
  std::int64_t count;
  float scale;

  GRAPHLINE_HOST_DEVICE reduced_number<function> gather(std::int64_t item, std::int64_t first,
                                                        std::int64_t step) const {
    const std::int64_t begin = kept.offset(item);
    reduced_number<function> all;
    for (std::int64_t i = first; i < count; i += step) {
      all += {load_as(read, from, begin + reduced.offset(i))};
    }
    return all;
  }
  GRAPHLINE_HOST_DEVICE void put(std::int64_t item, const reduced_number<function>& all) const {
    store_as(written, to, item, all.value * scale);
  }

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const { put(item, gather(item, 0, 1)); }
};

/// Each block computes a result of many elements.
template <reduce_layer::reduction function>
struct reduced_blocks {
  static constexpr int phases = 3;
  static constexpr int shared_floats = block_sum::sums + block_sum::most_threads;

  reduced_items<function> items;

  template <int phase>
  GRAPHLINE_HOST_DEVICE void run(std::int64_t block, int thread, int threads, float* shared) const {
    auto* some = reinterpret_cast<reduced_number<function>*>(shared);
    auto* partial = some + block_sum::sums;
    if constexpr (phase == 0) {
      partial[thread] = items.gather(block, thread, threads);
    } else if constexpr (phase == 1) {
      block_sum::gather(partial, some, thread, threads);
    } else if (thread == 0) {
      items.put(block, block_sum::total(some));
    }
  }
};

template <class Launcher>
void run(const reduce_form& form, std::span<void* const> operands, const Launcher& launch) {
  using reduction = reduce_layer::reduction;
  const auto with = [&]<reduction function>(std::integral_constant<reduction, function>) {
    const std::int64_t results = positions_in(form.kept);
    const std::int64_t count = positions_in(form.reduced);
    const reduced_items<function> items{operands[0], operands[1],        form.from,
                                        form.to,     strided(form.kept), strided(form.reduced),
                                        count,       form.scale};
    if (count >= 64) {
      launch.blocks(reduced_blocks<function>{items}, results,
                    count >= 512 ? block_sum::most_threads : 32);
    } else {
      launch.items(items, results);
    }
  };
  switch (form.function) {
    case reduction::sum:
      return with(std::integral_constant<reduction, reduction::sum>{});
    case reduction::max:
      return with(std::integral_constant<reduction, reduction::max>{});
    case reduction::min:
      return with(std::integral_constant<reduction, reduction::min>{});
    case reduction::product:
      return with(std::integral_constant<reduction, reduction::product>{});
    case reduction::mean:
      break;
  }
  throw std::logic_error("a mean is a sum with a scale");
}

}  // namespace graphline::nn
