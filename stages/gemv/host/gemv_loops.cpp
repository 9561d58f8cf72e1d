#include "stages/gemv/host/gemv_loops.hpp"

#include <algorithm>
#include <array>
#include <cstring>

// Inlined into functions that are compiled for more than the CPU that the project is built for.
#define GRAPHLINE_INLINE inline __attribute__((always_inline))

namespace graphline {

namespace {

/// As many sums at once as a register of the instructions has room for: 4 or 8.
template <int width>
struct vectors {
  typedef float lanes __attribute__((vector_size(4 * width)));
  typedef std::int32_t bits __attribute__((vector_size(4 * width)));
};
using four_lanes = vectors<4>::lanes;

/// Rows whose sums are made together.
constexpr int rows_at_once = 4;

/// How far ahead rows are asked for. What is done between two loads keeps a core from reading as
/// far ahead by itself as it does in a loop that only reads.
constexpr std::int64_t elements_ahead = 2048;

/// From here on a row is long enough for several sums of its own.
constexpr std::int64_t long_row = 128;

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

// Vectors are handed on by reference: how they are passed by value depends on the instructions.
template <class lanes>
GRAPHLINE_INLINE void load(const float* from, lanes& to) {
  std::memcpy(&to, from, sizeof to);
}

/// Copies the last few elements of an operand to where zeros follow.
[[gnu::noinline]] const float* padded(const float* from, std::int64_t count, float (&to)[8]) {
  for (std::int64_t i = 0; i < 8; ++i) to[i] = i < count ? from[i] : 0.0F;
  return to;
}

/// The first of the lanes, whose bits `kept` has; zeros in the others. What lies behind the first
/// is read where that is not beyond the `end` of the operand.
template <int width>
GRAPHLINE_INLINE void load_first(const float* from, std::int64_t count,
                                 const typename vectors<width>::bits& kept, const float* end,
                                 typename vectors<width>::lanes& to) {
  float copy[8];
  if (end - from < width) from = padded(from, count, copy);
  load(from, to);
  to = reinterpret_cast<typename vectors<width>::lanes>(
      reinterpret_cast<typename vectors<width>::bits>(to) & kept);
}

/// Adds lanes up until four are left.
template <int width>
GRAPHLINE_INLINE void fold(const typename vectors<width>::lanes& from, four_lanes& to) {
  if constexpr (width == 4) {
    to = from;
  } else {
    to = __builtin_shufflevector(from, from, 0, 1, 2, 3) +
         __builtin_shufflevector(from, from, 4, 5, 6, 7);
  }
}

/// The sum of each row's lanes, one beside the other.
template <int width>
GRAPHLINE_INLINE void sum_lanes(const typename vectors<width>::lanes (&sums)[rows_at_once],
                                four_lanes& to) {
  four_lanes folded[rows_at_once];
  for (int row = 0; row < rows_at_once; ++row) fold<width>(sums[row], folded[row]);
  const four_lanes first = __builtin_shufflevector(folded[0], folded[1], 0, 4, 1, 5) +
                           __builtin_shufflevector(folded[0], folded[1], 2, 6, 3, 7);
  const four_lanes second = __builtin_shufflevector(folded[2], folded[3], 0, 4, 1, 5) +
                            __builtin_shufflevector(folded[2], folded[3], 2, 6, 3, 7);
  to = __builtin_shufflevector(first, second, 0, 1, 4, 5) +
       __builtin_shufflevector(first, second, 2, 3, 6, 7);
}

/// The products of a row, in `width` sums. With `length` the row is known to have as many elements.
template <int width, int length>
GRAPHLINE_INLINE void add_products(std::int64_t extent, const float* a, const float* x,
                                   const operand_ends& ends,
                                   const typename vectors<width>::bits& kept,
                                   typename vectors<width>::lanes& sum) {
  typename vectors<width>::lanes values;
  typename vectors<width>::lanes factors;
  const std::int64_t whole = length > 0 ? length : extent - extent % width;
  for (std::int64_t j = 0; j < whole; j += width) {
    __builtin_prefetch(a + j + elements_ahead);
    load(a + j, values);
    load(x + j, factors);
    sum += values * factors;
  }
  if (length == 0 && whole < extent) {
    __builtin_prefetch(a + whole + elements_ahead);
    load_first<width>(a + whole, extent - whole, kept, ends.a, values);
    load_first<width>(x + whole, extent - whole, kept, ends.x, factors);
    sum += values * factors;
  }
}

/// The sums of neighbouring rows. Where there are fewer left than are summed together the last is
/// repeated: so a row's sum does not depend on which others are summed with it.
template <int width, int length>
GRAPHLINE_INLINE void sum_short_rows(const row_run& run, const float* a, const float* x,
                                     const operand_ends& ends,
                                     const typename vectors<width>::bits& kept, std::int64_t count,
                                     float* to) {
  for (std::int64_t i = 0; i < count; i += rows_at_once) {
    const std::int64_t left = std::min<std::int64_t>(rows_at_once, count - i);
    typename vectors<width>::lanes sums[rows_at_once] = {};
#pragma GCC unroll 4
    for (int row = 0; row < rows_at_once; ++row) {
      const std::int64_t which = i + std::min<std::int64_t>(row, left - 1);
      add_products<width, length>(run.extent, a + which * run.a, x + which * run.x, ends, kept,
                                  sums[row]);
    }
    four_lanes result;
    sum_lanes<width>(sums, result);
    if (left == rows_at_once) {
      std::memcpy(to + i, &result, sizeof result);
    } else {
      for (std::int64_t row = 0; row < left; ++row) to[i + row] = result[row];
    }
  }
}

/// The sum of one row.
template <int width>
GRAPHLINE_INLINE void sum_long_row(std::int64_t extent, const float* a, const float* x,
                                   const operand_ends& ends,
                                   const typename vectors<width>::bits& kept, float* to) {
  constexpr std::int64_t at_once = rows_at_once * width;
  typename vectors<width>::lanes sums[rows_at_once] = {};
  const std::int64_t whole = extent - extent % at_once;
  for (std::int64_t j = 0; j < whole; j += at_once) {
#pragma GCC unroll 4
    for (int i = 0; i < rows_at_once; ++i) {
      add_products<width, width>(width, a + j + i * width, x + j + i * width, ends, kept, sums[i]);
    }
  }
  add_products<width, 0>(extent - whole, a + whole, x + whole, ends, kept, sums[0]);
  four_lanes parts;
  sum_lanes<width>(sums, parts);
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

template <int width>
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
    typename vectors<width>::bits kept;
    for (int i = 0; i < width; ++i) kept[i] = i < run.extent % width ? -1 : 0;
    const std::int64_t stop = std::min(end, (piece + 1) * rows);
    row_walk walk(form, begin - piece * rows);
    while (begin < stop) {
      const std::int64_t count = std::min(walk.left(), stop - begin);
      const float* row = a + walk.a() + first;
      const float* vector = x + walk.x() + first;
      if (run.extent >= long_row) {
        for (std::int64_t i = 0; i < count; ++i) {
          sum_long_row<width>(run.extent, row + i * run.a, vector + i * run.x, ends, kept,
                              to + begin + i);
        }
      } else if (run.extent == 64) {
        sum_short_rows<width, 64>(run, row, vector, ends, kept, count, to + begin);
      } else {
        sum_short_rows<width, 0>(run, row, vector, ends, kept, count, to + begin);
      }
      begin += count;
      walk.advance(count);
    }
  }
}

void sum_rows_anywhere(const gemv_form& form, const float* a, const float* x, float* to,
                       std::int64_t begin, std::int64_t end) {
  sum_rows<4>(form, a, x, to, begin, end);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void sum_rows_avx2(const gemv_form& form, const float* a,
                                                       const float* x, float* to,
                                                       std::int64_t begin, std::int64_t end) {
  sum_rows<8>(form, a, x, to, begin, end);
}
#endif

std::vector<gemv_code> supported() {
  std::vector<gemv_code> codes;
#if defined(__x86_64__)
  // Registers of AVX-512 gain nothing where memory is waited for, and lose where rows do not begin
  // at multiples of 64 bytes.
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    codes.push_back({"AVX2", sum_rows_avx2});
  }
#endif
  codes.push_back({"plain vectors", sum_rows_anywhere});
  return codes;
}

}  // namespace

gemv_pieces pieces_of(const gemv_form& form) {
  // 128 kB of a row, and as much of its vector, which then stays in a core's cache for other rows.
  constexpr std::int64_t piece = 32768;
  if (form.k <= 2 * piece) return {form.k, 1};
  return {piece, (form.k + piece - 1) / piece};
}

const std::vector<gemv_code>& gemv_codes() {
  static const std::vector<gemv_code> codes = supported();
  return codes;
}

}  // namespace graphline
