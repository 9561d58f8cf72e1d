#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <stdexcept>

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

/// Divides numbers below 2^31 by multiplication, which takes a fraction of a division's time.
struct divisor {
  std::uint32_t number = 1;
  std::uint32_t factor = 1;
  int shift = 0;

  divisor() = default;
  explicit divisor(std::uint32_t d) : number(d), shift(std::bit_width(d - 1)) {
    factor = static_cast<std::uint32_t>(((((std::uint64_t{1} << shift) - d) << 32) / d) + 1);
  }

  GRAPHLINE_HOST_DEVICE std::uint32_t quotient(std::uint32_t n) const {
#ifdef __CUDA_ARCH__
    return (__umulhi(n, factor) + n) >> shift;
#else
    return static_cast<std::uint32_t>((std::uint64_t{n} * factor >> 32) + n) >> shift;
#endif
  }
};

/// Numbers of elements between rows.
struct row_offsets {
  std::int64_t a = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// An axis of rows in a kernel argument.
struct row_axis {
  divisor extent;  ///< number of rows, or of stacks if the axis is stacked
  row_offsets to_next;
};

/// Layout of a gemv's rows. Each item is a stack of rows along one axis. With n stacks, the rows of
/// a stack are n rows apart, so that adjacent items read adjacent rows.
struct row_stacks {
  row_axis axes[gemv_form::most_axes] = {};  ///< innermost first
  int count = 0;
  int stacked = 0;  ///< index of the stacked axis
  int full = 1;     ///< rows in each stack; the first `longer` stacks have one more
  std::uint32_t longer = 0;
  std::uint32_t last = 0;  ///< stack with the last row along the stacked axis
  row_offsets apart;       ///< between the rows of a stack
  std::uint32_t items = 1;
};

/// Number of rows per stack, and of independent loads that a thread has in flight.
inline constexpr int stack_height = 8;

/// Stacks rows that share a vector, so that the vector is loaded once per stack. If no axis has
/// enough such rows, stacks rows along the longest axis. @throws std::length_error for 2^31 stacks
/// or more
inline row_stacks stacks_of(const gemv_form& form) {
  row_stacks stacks;
  std::vector<gemv_axis> axes(form.axes.rbegin(), form.axes.rend());
  if (axes.empty()) axes.emplace_back();
  const auto shared = [](const gemv_axis& axis) {
    return axis.x == 0 && axis.extent >= stack_height;
  };
  std::size_t stacked = 0;
  for (std::size_t i = 1; i < axes.size(); ++i) {
    const gemv_axis& best = axes[stacked];
    const bool better =
        shared(axes[i]) == shared(best) ? axes[i].extent > best.extent : shared(axes[i]);
    if (better) stacked = i;
  }
  std::int64_t items = 1;
  std::int64_t y = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const gemv_axis& axis = axes[i];
    const std::int64_t extent =
        i == stacked ? (axis.extent + stack_height - 1) / stack_height : axis.extent;
    items *= extent;
    if (items > std::numeric_limits<std::int32_t>::max()) {
      throw std::length_error("too many rows for one matrix-vector product");
    }
    stacks.axes[i] = {divisor(static_cast<std::uint32_t>(extent)), {axis.a, axis.x, y}};
    if (i == stacked) {
      stacks.full = static_cast<int>(axis.extent / extent);
      stacks.longer = static_cast<std::uint32_t>(axis.extent % extent);
      stacks.last = static_cast<std::uint32_t>((axis.extent - 1) % extent);
      stacks.apart = {.a = extent * axis.a, .x = extent * axis.x, .y = extent * y};
    }
    y *= axis.extent;
  }
  stacks.items = static_cast<std::uint32_t>(items);
  stacks.count = static_cast<int>(axes.size());
  stacks.stacked = static_cast<int>(stacked);
  return stacks;
}

/// Computes the dot products of a stack of rows. With `shared`, all rows have the same vector.
template <int width, bool shared>
struct stacked_dot_products {
  static constexpr int sums = stack_height;
  /// Blocks per multiprocessor; it limits registers. Unshared vectors need more of them.
  static constexpr int blocks = shared ? 4 : 3;

  const float* a;
  const float* x;  ///< null if all elements are 1
  float* y;
  std::int64_t k;
  std::int64_t cut;  ///< elements that the last row along the innermost axis lacks
  row_stacks stacks;
  int lanes;  ///< threads per stack, a power of two

  /// An item's rows.
  struct place {
    row_offsets first = {};
    int rows = 1;
    int shorter = sums;  ///< index of the first row that lacks `cut` elements
  };

  GRAPHLINE_HOST_DEVICE place place_of(std::uint32_t item) const {
    place at;
    std::uint32_t rest = item;
    for (int i = 0; i < stacks.count; ++i) {
      const row_axis& axis = stacks.axes[i];
      const std::uint32_t above = axis.extent.quotient(rest);
      const std::uint32_t digit = rest - above * axis.extent.number;
      rest = above;
      at.first.a += digit * axis.to_next.a;
      at.first.x += digit * axis.to_next.x;
      at.first.y += digit * axis.to_next.y;
      if (i == stacks.stacked) at.rows = stacks.full + (digit < stacks.longer ? 1 : 0);
      if (i > 0) continue;
      if (stacks.stacked > 0) {
        if (digit == axis.extent.number - 1) at.shorter = 0;
      } else if (digit == stacks.last) {
        at.shorter = at.rows - 1;
      }
    }
    return at;
  }

  GRAPHLINE_HOST_DEVICE void gather(const place& at, int lane, float (&sum)[sums]) const {
    for (int i = 0; i < sums; ++i) sum[i] = 0;
    // First add the part common to all rows, then the rest of longer rows.
    const std::int64_t common = at.shorter < sums ? k - cut : k;
    std::int64_t j = lane * width;
    if (at.rows == sums) {
      for (; j < common; j += lanes * width) add_packs<true>(at, j, sums, sum);
    } else {
      for (; j < common; j += lanes * width) add_packs<false>(at, j, at.rows, sum);
    }
    if (at.shorter == 0 || common == k) return;
    for (; j < k; j += lanes * width) add_packs<false>(at, j, at.shorter, sum);
  }

  /// Stores the sum of row `i`.
  GRAPHLINE_HOST_DEVICE void keep(const place& at, int i, float sum) const {
    if (i < at.rows) y[at.first.y + i * stacks.apart.y] = sum;
  }

 private:
  /// Adds the products of a pack of elements, from `j` on, of each of the first `rows` rows. Loads
  /// all packs before it multiplies, so that many loads are in flight.
  template <bool all>
  GRAPHLINE_HOST_DEVICE void add_packs(const place& at, std::int64_t j, int rows,
                                       float (&sum)[sums]) const {
    const float* row = a + at.first.a + j;
    const float* vector = x;
    if (!shared || x != nullptr) vector += at.first.x + j;
    pack<float, width> values[sums];
    pack<float, width> factors[shared ? 1 : sums];
    for (int i = 0; i < sums; ++i) {
      // Beyond the last row, loads the last row again.
      const bool another = i > 0 && (all || i < rows);
      if (another) row += stacks.apart.a;
      values[i] = load_once<width>(row);
      if (!shared && another) vector += stacks.apart.x;
      if (!shared || i == 0) factors[i] = factors_of(vector);
    }
    for (int i = 0; i < sums; ++i) {
      if (!all && i >= rows) break;
      for (int e = 0; e < width; ++e) {
        sum[i] += values[i].element[e] * factors[shared ? 0 : i].element[e];
      }
    }
  }

  GRAPHLINE_HOST_DEVICE pack<float, width> factors_of(const float* vector) const {
    // Only shared vectors can be all ones. Checking unshared vectors would serialize loads.
    if (shared && x == nullptr) {
      pack<float, width> ones;
      for (int e = 0; e < width; ++e) ones.element[e] = 1.0F;
      return ones;
    }
    return load<width>(vector);
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
    if (stacks.apart.x == 0) {
      with(std::true_type{});
    } else {
      with(std::false_type{});
    }
  });
}

}  // namespace graphline::nn
