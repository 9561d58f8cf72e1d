#include "stages/gemv/host/gemv_loops.hpp"

#include <algorithm>
#include <array>
#include <cstring>

// Inlined into functions that are compiled for more than the CPU that the project is built for.
#define GRAPHLINE_INLINE inline __attribute__((always_inline))

namespace graphline {

namespace {

/// Several sums at once, in as many registers as the instructions need for that.
constexpr std::int64_t width = 16;
using lanes = float __attribute__((vector_size(4 * width)));
using lane_bits = std::int32_t __attribute__((vector_size(4 * width)));
using eight_lanes = float __attribute__((vector_size(32)));
using four_lanes = float __attribute__((vector_size(16)));

/// Rows whose sums are made together. More would not fit into the registers of AVX2.
constexpr int rows_at_once = 4;

/// How far ahead short rows are asked for. The sums between them keep a core from reading as far
/// ahead by itself as it does in a loop that only reads.
constexpr std::int64_t elements_ahead = 1024;

/// From here on a row is long enough to be summed alone, in which memory is read in one sequence.
constexpr std::int64_t long_row = 512;

// Vectors are handed on by reference: how they are passed by value depends on the instructions.
GRAPHLINE_INLINE void load(const float* from, lanes& to) {
  std::memcpy(&to, from, sizeof to);
}

/// The first of the lanes, whose bits `kept` has; zeros in the others. What lies behind the first
/// is read where that is not beyond the `end` of the operand.
GRAPHLINE_INLINE void load_first(const float* from, std::int64_t count, const lane_bits& kept,
                                 const float* end, lanes& to) {
  if (end - from >= width) {
    load(from, to);
  } else {
    to = lanes{};
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
  }
  to = reinterpret_cast<lanes>(reinterpret_cast<lane_bits>(to) & kept);
}

GRAPHLINE_INLINE void keep_first(std::int64_t count, lane_bits& kept) {
  for (std::int64_t i = 0; i < width; ++i) kept[i] = i < count ? -1 : 0;
}

/// A fourth as many lanes, each the sum of four.
GRAPHLINE_INLINE void fold(const lanes& from, four_lanes& to) {
  const eight_lanes eight = __builtin_shufflevector(from, from, 0, 1, 2, 3, 4, 5, 6, 7) +
                            __builtin_shufflevector(from, from, 8, 9, 10, 11, 12, 13, 14, 15);
  to = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
       __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
}

/// The sum of each row's lanes, one beside the other.
GRAPHLINE_INLINE void sum_lanes(const lanes (&sums)[rows_at_once], four_lanes& to) {
  four_lanes folded[rows_at_once];
  for (int row = 0; row < rows_at_once; ++row) fold(sums[row], folded[row]);
  const four_lanes first = __builtin_shufflevector(folded[0], folded[1], 0, 4, 1, 5) +
                           __builtin_shufflevector(folded[0], folded[1], 2, 6, 3, 7);
  const four_lanes second = __builtin_shufflevector(folded[2], folded[3], 0, 4, 1, 5) +
                            __builtin_shufflevector(folded[2], folded[3], 2, 6, 3, 7);
  to = __builtin_shufflevector(first, second, 0, 1, 4, 5) +
       __builtin_shufflevector(first, second, 2, 3, 6, 7);
}

/// Where the rows and the vectors of an operation end.
struct operand_ends {
  const float* a;
  const float* x;
};

/// What neighbouring rows have in common: `extent` elements, `a` and `x` apart from each other.
struct row_run {
  std::int64_t extent;
  std::int64_t a;
  std::int64_t x;
};

/// The products of a row, in `width` sums. With `steps` the row is known to be so many times as
/// long.
template <int steps>
GRAPHLINE_INLINE void add_products(std::int64_t extent, const float* a, const float* x,
                                   const operand_ends& ends, const lane_bits& kept, lanes& sum) {
  lanes values;
  lanes factors;
  const std::int64_t whole = steps > 0 ? steps * width : extent - extent % width;
  for (std::int64_t j = 0; j < whole; j += width) {
    __builtin_prefetch(a + j + elements_ahead);
    load(a + j, values);
    load(x + j, factors);
    sum += values * factors;
  }
  if (steps == 0 && whole < extent) {
    load_first(a + whole, extent - whole, kept, ends.a, values);
    load_first(x + whole, extent - whole, kept, ends.x, factors);
    sum += values * factors;
  }
}

/// The sums of neighbouring rows. Where there are fewer left than are summed together the last is
/// repeated: so a row's sum does not depend on which others are summed with it.
template <int steps>
GRAPHLINE_INLINE void sum_short_rows(const row_run& run, const float* a, const float* x,
                                     const operand_ends& ends, const lane_bits& kept,
                                     std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; i += rows_at_once) {
    const auto left = static_cast<int>(std::min<std::int64_t>(rows_at_once, count - i));
    lanes sums[rows_at_once] = {};
    for (int row = 0; row < rows_at_once; ++row) {
      const std::int64_t which = i + std::min(row, left - 1);
      add_products<steps>(run.extent, a + which * run.a, x + which * run.x, ends, kept, sums[row]);
    }
    four_lanes result;
    sum_lanes(sums, result);
    if (left == rows_at_once) {
      std::memcpy(to + i, &result, sizeof result);
    } else {
      for (int row = 0; row < left; ++row) to[i + row] = result[row];
    }
  }
}

/// The sum of one row.
GRAPHLINE_INLINE void sum_long_row(std::int64_t extent, const float* a, const float* x,
                                   const operand_ends& ends, const lane_bits& kept, float* to) {
  constexpr int at_once = rows_at_once;
  lanes sums[at_once] = {};
  lanes values;
  lanes factors;
  std::int64_t j = 0;
  for (; j + at_once * width <= extent; j += at_once * width) {
    for (int i = 0; i < at_once; ++i) {
      load(a + j + i * width, values);
      load(x + j + i * width, factors);
      sums[i] += values * factors;
    }
  }
  for (; j + width <= extent; j += width) {
    load(a + j, values);
    load(x + j, factors);
    sums[0] += values * factors;
  }
  if (const std::int64_t rest = extent - j; rest > 0) {
    load_first(a + j, rest, kept, ends.a, values);
    load_first(x + j, rest, kept, ends.x, factors);
    sums[0] += values * factors;
  }
  four_lanes parts;
  sum_lanes(sums, parts);
  *to = (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

/// Elements from the first to the end of the last that an operand has.
std::int64_t spanned(const gemv_form& form, std::int64_t gemv_axis::*apart) {
  std::int64_t last = 0;
  for (const gemv_axis& axis : form.axes) last += (axis.extent - 1) * axis.*apart;
  return last + form.k;
}

/// Goes through rows, a run along the innermost axis at a time.
class row_walk {
 public:
  row_walk(const gemv_form& form, std::int64_t row) : form_(form) {
    for (std::size_t i = form.axes.size(); i-- > 0;) {
      const gemv_axis& axis = form.axes[i];
      at_[i] = row % axis.extent;
      row /= axis.extent;
      a_ += at_[i] * axis.a;
      x_ += at_[i] * axis.x;
    }
  }

  std::int64_t a() const { return a_; }
  std::int64_t x() const { return x_; }

  /// Rows left in this run.
  std::int64_t left() const {
    return form_.axes.empty() ? 1 : form_.axes.back().extent - at_[form_.axes.size() - 1];
  }

  /// Goes on by as many rows, at most those left.
  void advance(std::int64_t rows) {
    for (std::size_t i = form_.axes.size(); i-- > 0;) {
      const gemv_axis& axis = form_.axes[i];
      at_[i] += rows;
      a_ += rows * axis.a;
      x_ += rows * axis.x;
      if (at_[i] < axis.extent) return;
      at_[i] = 0;
      a_ -= axis.extent * axis.a;
      x_ -= axis.extent * axis.x;
      rows = 1;
    }
  }

 private:
  const gemv_form& form_;
  std::array<std::int64_t, gemv_form::most_axes> at_{};
  std::int64_t a_ = 0;
  std::int64_t x_ = 0;
};

GRAPHLINE_INLINE void sum_rows(const gemv_form& form, const float* a, const float* x, float* to,
                               std::int64_t begin, std::int64_t end) {
  const operand_ends ends{a + spanned(form, &gemv_axis::a), x + spanned(form, &gemv_axis::x)};
  const gemv_pieces pieces = pieces_of(form);
  const std::int64_t rows = form.rows();
  const gemv_axis inner = form.axes.empty() ? gemv_axis{} : form.axes.back();
  while (begin < end) {
    const std::int64_t piece = begin / rows;
    const std::int64_t first = piece * pieces.piece;
    const row_run run{std::min(pieces.piece, form.k - first), inner.a, inner.x};
    lane_bits kept;
    keep_first(run.extent % width, kept);
    const std::int64_t stop = std::min(end, (piece + 1) * rows);
    row_walk walk(form, begin - piece * rows);
    while (begin < stop) {
      const std::int64_t count = std::min(walk.left(), stop - begin);
      const float* row = a + walk.a() + first;
      const float* vector = x + walk.x() + first;
      if (run.extent >= long_row) {
        for (std::int64_t i = 0; i < count; ++i) {
          sum_long_row(run.extent, row + i * run.a, vector + i * run.x, ends, kept, to + begin + i);
        }
      } else if (run.extent == 4 * width) {
        sum_short_rows<4>(run, row, vector, ends, kept, count, to + begin);
      } else {
        sum_short_rows<0>(run, row, vector, ends, kept, count, to + begin);
      }
      begin += count;
      walk.advance(count);
    }
  }
}

void sum_rows_anywhere(const gemv_form& form, const float* a, const float* x, float* to,
                       std::int64_t begin, std::int64_t end) {
  sum_rows(form, a, x, to, begin, end);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void sum_rows_avx2(const gemv_form& form, const float* a,
                                                       const float* x, float* to,
                                                       std::int64_t begin, std::int64_t end) {
  sum_rows(form, a, x, to, begin, end);
}

__attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma"))) void sum_rows_avx512(
    const gemv_form& form, const float* a, const float* x, float* to, std::int64_t begin,
    std::int64_t end) {
  sum_rows(form, a, x, to, begin, end);
}
#endif

std::vector<gemv_code> supported() {
  std::vector<gemv_code> codes;
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0) {
    codes.push_back({"AVX-512", sum_rows_avx512});
  }
  if (avx2) codes.push_back({"AVX2", sum_rows_avx2});
#endif
  codes.push_back({"plain vectors", sum_rows_anywhere});
  return codes;
}

}  // namespace

gemv_pieces pieces_of(const gemv_form& form) {
  // 32 kB of a row, and as much of its vector, which then stays in a core's cache for other rows.
  constexpr std::int64_t piece = 8192;
  if (form.k <= 2 * piece) return {form.k, 1};
  return {piece, (form.k + piece - 1) / piece};
}

const std::vector<gemv_code>& gemv_codes() {
  static const std::vector<gemv_code> codes = supported();
  return codes;
}

}  // namespace graphline
