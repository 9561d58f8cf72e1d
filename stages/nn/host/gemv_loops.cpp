#include "stages/nn/host/gemv_loops.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "stages/nn/host/vector_math.hpp"

namespace graphline::nn {
namespace {

/// A vector register of 4 or 8 floats.
template <int width>
using vectors = pointwise_vectors<width>;
using four_lanes = vectors<4>::lanes;

/// Number of registers reduced together: one for each of four short rows, or four for one long row.
constexpr int together = 4;

/// Rows of at least this length are summed in several registers.
constexpr std::int64_t long_row = 128;

/// Prefetch distance in long rows.
constexpr std::int64_t elements_ahead = 2048;

/// Data common to all rows of an operation.
template <int width>
struct row_form {
  std::int64_t extent;                 ///< elements per row
  typename vectors<width>::bits kept;  ///< mask of used lanes in a row's last register
  const float* a_end;
  const float* x_end;
};

template <int width>
GRAPHLINE_INLINE void keep_last(row_form<width>& row) {
  for (int i = 0; i < width; ++i) row.kept[i] = i <= (row.extent - 1) % width ? -1 : 0;
}

// Functions take vectors by reference, because the ABI for values depends on the instruction set.
template <class lanes>
GRAPHLINE_INLINE void load(const float* from, lanes& to) {
  std::memcpy(&to, from, sizeof to);
}

/// Copies the last elements of an operand to `to`, padded with zeros. Not inlined, so that other
/// values stay in registers.
[[gnu::noinline]] const float* padded(const float* from, std::int64_t count, float (&to)[8]) {
  for (std::int64_t i = 0; i < 8; ++i) to[i] = i < count ? from[i] : 0.0F;
  return to;
}

/// Loads the last elements of a row and zeroes the other lanes. Reads past the row, but not past
/// `end` of the operand.
template <int width>
GRAPHLINE_INLINE void load_last(const float* from, std::int64_t count,
                                const typename vectors<width>::bits& kept, const float* end,
                                typename vectors<width>::lanes& to) {
  float copy[8];
  if (end - from < width) from = padded(from, count, copy);
  load(from, to);
  to = reinterpret_cast<typename vectors<width>::lanes>(
      reinterpret_cast<typename vectors<width>::bits>(to) & kept);
}

/// Adds the upper half of eight lanes to the lower half.
template <int width>
GRAPHLINE_INLINE void fold(const typename vectors<width>::lanes& from, four_lanes& to) {
  if constexpr (width == 4) {
    to = from;
  } else {
    to = __builtin_shufflevector(from, from, 0, 1, 2, 3) +
         __builtin_shufflevector(from, from, 4, 5, 6, 7);
  }
}

template <int width>
GRAPHLINE_INLINE void sum_lanes(const typename vectors<width>::lanes (&sums)[together],
                                four_lanes& to) {
  four_lanes folded[together];
  for (int i = 0; i < together; ++i) fold<width>(sums[i], folded[i]);
  const four_lanes first = __builtin_shufflevector(folded[0], folded[1], 0, 4, 1, 5) +
                           __builtin_shufflevector(folded[0], folded[1], 2, 6, 3, 7);
  const four_lanes second = __builtin_shufflevector(folded[2], folded[3], 0, 4, 1, 5) +
                            __builtin_shufflevector(folded[2], folded[3], 2, 6, 3, 7);
  to = __builtin_shufflevector(first, second, 0, 1, 4, 5) +
       __builtin_shufflevector(first, second, 2, 3, 6, 7);
}

/// Adds the products of a row's elements from `j` on to `sum`.
template <int width>
GRAPHLINE_INLINE void add_products(const row_form<width>& row, std::int64_t j, const float* a,
                                   const float* x, typename vectors<width>::lanes& sum) {
  typename vectors<width>::lanes values;
  typename vectors<width>::lanes factors;
  for (; j + width <= row.extent; j += width) {
    load(a + j, values);
    load(x + j, factors);
    sum += values * factors;
  }
  if (j == row.extent) return;
  load_last<width>(a + j, row.extent - j, row.kept, row.a_end, values);
  load_last<width>(x + j, row.extent - j, row.kept, row.x_end, factors);
  sum += values * factors;
}

template <int width>
GRAPHLINE_INLINE float sum_long_row(const row_form<width>& row, const float* a, const float* x) {
  constexpr std::int64_t at_once = together * width;
  typename vectors<width>::lanes sums[together] = {};
  const std::int64_t whole = row.extent - row.extent % at_once;
  for (std::int64_t j = 0; j < whole; j += at_once) {
#pragma GCC unroll 4
    for (int i = 0; i < together; ++i) {
      typename vectors<width>::lanes values;
      typename vectors<width>::lanes factors;
      const float* from = a + j + i * width;
      if (i * width % 16 == 0) __builtin_prefetch(from + elements_ahead);
      load(from, values);
      load(x + j + i * width, factors);
      sums[i] += values * factors;
    }
  }
  add_products<width>(row, whole, a, x, sums[0]);
  four_lanes parts;
  sum_lanes<width>(sums, parts);
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

/// Returns the number of elements that an operand spans.
std::int64_t spanned(const gemv_form& form, std::int64_t gemv_axis::*apart) {
  std::int64_t last = 0;
  for (const gemv_axis& axis : form.axes) last += (axis.extent - 1) * axis.*apart;
  return last + form.k;
}

/// Iterates over rows; wraps around after the last row.
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

  GRAPHLINE_INLINE void advance() {
    for (std::size_t i = form_.axes.size(); i-- > 0;) {
      const gemv_axis& axis = form_.axes[i];
      a_ += axis.a;
      x_ += axis.x;
      if (++at_[i] < axis.extent) return;
      at_[i] = 0;
      a_ -= axis.extent * axis.a;
      x_ -= axis.extent * axis.x;
    }
  }

 private:
  const gemv_form& form_;
  std::array<std::int64_t, gemv_form::most_axes> at_{};
  std::int64_t a_ = 0;
  std::int64_t x_ = 0;
};

/// Sums short rows in four interleaved streams, because a core that reads several address streams
/// stalls less at page boundaries. If the number of rows is not a multiple of four, sums some rows
/// twice.
template <int width>
GRAPHLINE_INLINE void sum_short_rows(const gemv_form& form, row_form<width>& row, const float* a,
                                     const float* x, float* to, std::int64_t begin,
                                     std::int64_t end) {
  // Copy a vector shared by all rows to padded memory, so that whole registers can be loaded.
  std::array<float, long_row + 8> copy;
  if (spanned(form, &gemv_axis::x) == form.k) {
    std::copy_n(x, form.k, copy.begin());
    x = copy.data();
    row.x_end = copy.data() + copy.size();
  }
  const std::int64_t quarter = (end - begin + together - 1) / together;
  const auto first = [&](int place) { return std::min(begin + place * quarter, end - quarter); };
  row_walk walks[together] = {
      {form, first(0)}, {form, first(1)}, {form, first(2)}, {form, first(3)}};
  for (std::int64_t i = 0; i < quarter; ++i) {
    typename vectors<width>::lanes sums[together] = {};
#pragma GCC unroll 4
    for (int place = 0; place < together; ++place) {
      add_products<width>(row, 0, a + walks[place].a(), x + walks[place].x(), sums[place]);
      walks[place].advance();
    }
    four_lanes result;
    sum_lanes<width>(sums, result);
    for (int place = 0; place < together; ++place) to[first(place) + i] = result[place];
  }
}

struct gemv_rows {
  template <int width>
  static GRAPHLINE_INLINE void run(const gemv_form& form, const float* a, const float* x, float* to,
                                   std::int64_t begin, std::int64_t end) {
    const gemv_pieces pieces = pieces_of(form);
    const std::int64_t rows = form.rows();
    row_form<width> row{
        form.k, {}, a + spanned(form, &gemv_axis::a), x + spanned(form, &gemv_axis::x)};
    keep_last(row);
    if (form.k < long_row) return sum_short_rows<width>(form, row, a, x, to, begin, end);
    row_walk walk(form, begin % rows);
    for (; begin < end; ++begin, walk.advance()) {
      const std::int64_t first = begin / rows * pieces.piece;
      row.extent = std::min(pieces.piece, form.k - first);
      keep_last(row);
      to[begin] = sum_long_row<width>(row, a + walk.a() + first, x + walk.x() + first);
    }
  }
};

}  // namespace

gemv_pieces pieces_of(const gemv_form& form) {
  // A piece of the vector has 128 KiB, so that it stays in the core's cache for other rows.
  constexpr std::int64_t piece = 32768;
  if (form.k <= 2 * piece) return {form.k, 1};
  return {piece, (form.k + piece - 1) / piece};
}

const std::vector<gemv_code>& gemv_codes() {
  // Memory bandwidth is the limit, so AVX-512 is no faster. It is slower if rows are unaligned.
  constexpr int widest = 8;
  return vector_codes<gemv_rows, widest, const gemv_form&, const float*, const float*, float*,
                      std::int64_t, std::int64_t>::supported();
}

}  // namespace graphline::nn
