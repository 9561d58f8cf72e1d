#pragma once

#include <algorithm>
#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// Loads adjacent elements with a streaming cache hint, for data that is read once.
template <int width>
GRAPHLINE_HOST_DEVICE inline pack<float, width> load_once(const float* from) {
#ifdef __CUDA_ARCH__
  if constexpr (width == 4) {
    const float4 four = __ldcs(reinterpret_cast<const float4*>(from));
    return {four.x, four.y, four.z, four.w};
  } else {
    return {__ldcs(from)};
  }
#else
  return load<width>(from);
#endif
}

/// An axis of rows in a kernel argument.
struct row_axis {
  std::int64_t extent = 1;  ///< number of rows, or of stacks if the axis is stacked
  std::int64_t a = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// Layout of a gemv's rows. Each item is a stack of rows along one axis. With n stacks, the rows of
/// a stack are n rows apart, so that adjacent items read adjacent rows.
struct row_stacks {
  row_axis axes[gemv_form::most_axes] = {};  ///< innermost first
  int count = 0;
  int stacked = 0;        ///< index of the stacked axis
  std::int64_t rows = 1;  ///< number along the stacked axis
  std::int64_t items = 1;
};

/// Number of rows per stack, and of independent loads that a thread has in flight.
inline constexpr int stack_height = 8;

/// Stacks rows that share a vector, so that the vector is loaded once per stack. If no axis has
/// enough such rows, stacks rows along the longest axis.
inline row_stacks stacks_of(const gemv_form& form) {
  row_stacks stacks;
  std::int64_t y = 1;
  for (std::size_t i = form.axes.size(); i-- > 0;) {
    const gemv_axis& axis = form.axes[i];
    stacks.axes[stacks.count++] = {axis.extent, axis.a, axis.x, y};
    y *= axis.extent;
  }
  if (stacks.count == 0) stacks.count = 1;
  const auto shared = [](const row_axis& axis) {
    return axis.x == 0 && axis.extent >= stack_height;
  };
  for (int i = 1; i < stacks.count; ++i) {
    const row_axis& best = stacks.axes[stacks.stacked];
    const row_axis& axis = stacks.axes[i];
    const bool better = shared(axis) == shared(best) ? axis.extent > best.extent : shared(axis);
    if (better) stacks.stacked = i;
  }
  row_axis& axis = stacks.axes[stacks.stacked];
  stacks.rows = axis.extent;
  axis.extent = (axis.extent + stack_height - 1) / stack_height;
  for (int i = 0; i < stacks.count; ++i) stacks.items *= stacks.axes[i].extent;
  return stacks;
}

/// Computes the dot products of a stack of rows. With `shared`, all rows have the same vector.
template <int width, bool shared>
struct stacked_dot_products {
  static constexpr int sums = stack_height;

  const float* a;
  const float* x;  ///< null if all elements are 1
  float* y;
  std::int64_t k;
  std::int64_t cut;  ///< elements that the last row along the innermost axis lacks
  row_stacks stacks;
  int lanes;  ///< threads per stack, a power of two

  /// Offsets of an item's rows without the offset along the stacked axis.
  struct place {
    std::int64_t a = 0;
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t stack = 0;  ///< first row along the stacked axis
    bool last = false;       ///< true for the last row along an innermost axis that is not stacked
  };

  GRAPHLINE_HOST_DEVICE place place_of(std::int64_t item) const {
    place at;
    for (int i = 0; i < stacks.count; ++i) {
      const row_axis& axis = stacks.axes[i];
      const std::int64_t digit = take_digit(item, axis.extent);
      if (i == stacks.stacked) {
        at.stack = digit;
      } else {
        at.a += digit * axis.a;
        at.x += digit * axis.x;
        at.y += digit * axis.y;
        if (i == 0) at.last = digit == axis.extent - 1;
      }
    }
    return at;
  }

  GRAPHLINE_HOST_DEVICE void gather(const place& at, int lane, float (&sum)[sums]) const {
    const row_axis& axis = stacks.axes[stacks.stacked];
    const float* row[sums];
    unsigned shorter = 0;  // a bit per row, set if the row lacks `cut` elements
    for (int i = 0; i < sums; ++i) {
      sum[i] = 0;
      // Rows beyond the last row read the last row; `keep` drops their sums.
      const std::int64_t wanted = at.stack + i * axis.extent;
      row[i] = a + at.a + (wanted < stacks.rows ? wanted : stacks.rows - 1) * axis.a;
      if (!shared && stacks.stacked == 0 && wanted >= stacks.rows - 1) shorter |= 1U << i;
    }
    // First add the part common to all rows, then the rest of longer rows.
    const std::int64_t common = at.last || shorter != 0 ? k - cut : k;
    std::int64_t j = lane * width;
    for (; j < common; j += lanes * width) {
      pack<float, width> values[sums];
      for (int i = 0; i < sums; ++i) values[i] = load_once<width>(row[i] + j);
      pack<float, width> factors = factors_of(at, 0, j);
      for (int i = 0; i < sums; ++i) {
        if (!shared && i > 0) factors = factors_of(at, i, j);
        add(sum[i], values[i], factors);
      }
    }
    if (shorter == 0) return;
    for (; j < k; j += lanes * width) {
      for (int i = 0; i < sums; ++i) {
        if ((shorter >> i & 1U) != 0) continue;
        add(sum[i], load_once<width>(row[i] + j), factors_of(at, i, j));
      }
    }
  }

  GRAPHLINE_HOST_DEVICE void keep(const place& at, int lane, const float (&sum)[sums]) const {
    const row_axis& axis = stacks.axes[stacks.stacked];
    for (int i = 0; i < sums; ++i) {
      const std::int64_t row = at.stack + i * axis.extent;
      if (lane == (i & (lanes - 1)) && row < stacks.rows) y[at.y + row * axis.y] = sum[i];
    }
  }

 private:
  GRAPHLINE_HOST_DEVICE static void add(float& sum, const pack<float, width>& values,
                                        const pack<float, width>& factors) {
    for (int e = 0; e < width; ++e) sum += values.element[e] * factors.element[e];
  }

  /// Loads the factors of row `i` of a stack from element `j` on.
  GRAPHLINE_HOST_DEVICE pack<float, width> factors_of(const place& at, int i,
                                                      std::int64_t j) const {
    // Only shared vectors can be all ones. Checking unshared vectors would serialize loads.
    if (shared && x == nullptr) {
      pack<float, width> ones;
      for (int e = 0; e < width; ++e) ones.element[e] = 1.0F;
      return ones;
    }
    if (shared) return load<width>(x + at.x + j);
    const row_axis& axis = stacks.axes[stacks.stacked];
    const std::int64_t wanted = at.stack + i * axis.extent;
    const std::int64_t row = wanted < stacks.rows ? wanted : stacks.rows - 1;
    return load<width>(x + at.x + row * axis.x + j);
  }
};

template <class Launcher>
void run(const gemv_form& form, std::span<void* const> operands, const Launcher& launch) {
  const auto* a = static_cast<const float*>(operands[0]);
  const auto* x = form.ones ? nullptr : static_cast<const float*>(operands[1]);
  auto* y = static_cast<float*>(operands[2]);
  const row_stacks stacks = stacks_of(form);
  const bool packs = std::all_of(form.axes.begin(), form.axes.end(), [](const gemv_axis& axis) {
    return axis.a % 4 == 0 && axis.x % 4 == 0;
  });
  const bool wide =
      packs && form.k % 4 == 0 && form.cut % 4 == 0 && begins_pack<4>(a) && begins_pack<4>(x);
  with_width<4>(wide, [&](auto width) {
    const auto with = [&](auto shared) {
      // Threads per stack: the number of packs in a row, rounded up to a power of two, at most a
      // warp.
      int lanes = 1;
      while (lanes < 32 && lanes * width < form.k) lanes *= 2;
      launch.teams(stacked_dot_products<width, shared>{a, x, y, form.k, form.cut, stacks, lanes},
                   stacks.items);
    };
    if (stacks.axes[stacks.stacked].x == 0) {
      with(std::true_type{});
    } else {
      with(std::false_type{});
    }
  });
}

}  // namespace graphline::nn
