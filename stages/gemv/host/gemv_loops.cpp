#include "stages/gemv/host/gemv_loops.hpp"

#include <algorithm>
#include <array>

#include "stages/gemv/host/gemv_sums.hpp"

namespace graphline {
namespace {

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

/// The sums of rows that are short, from four places on at once: as many as four equal parts of the
/// range have. How many were summed, from `begin` on.
template <int width>
GRAPHLINE_INLINE std::int64_t sum_quarters(const gemv_form& form, const float* a, const float* x,
                                           const operand_ends& ends, float* to, std::int64_t begin,
                                           std::int64_t end) {
  const gemv_axis inner = form.axes.empty() ? gemv_axis{} : form.axes.back();
  // One vector for all rows of a run stays in registers, which is faster than anything else.
  if (form.k >= long_row || (inner.x == 0 && form.k <= most_kept * width)) return 0;
  const std::int64_t quarter = (end - begin) / rows_at_once;
  const row_run run{form.k, inner.a, inner.x};
  typename vectors<width>::bits kept;
  keep_last<width>(run.extent, kept);
  row_walk walks[rows_at_once] = {{form, begin},
                                  {form, begin + quarter},
                                  {form, begin + 2 * quarter},
                                  {form, begin + 3 * quarter}};
  for (std::int64_t done = 0; done < quarter;) {
    std::int64_t count = quarter - done;
    const float* rows[rows_at_once];
    const float* vectors_of[rows_at_once];
    float* sums[rows_at_once];
    for (int i = 0; i < rows_at_once; ++i) {
      count = std::min(count, walks[i].left());
      rows[i] = a + walks[i].a();
      vectors_of[i] = x + walks[i].x();
      sums[i] = to + begin + i * quarter + done;
    }
    if (run.extent == 64) {
      sum_rows_apart<width, 64>(run, rows, vectors_of, ends, kept, count, sums);
    } else {
      sum_rows_apart<width, 0>(run, rows, vectors_of, ends, kept, count, sums);
    }
    done += count;
    for (row_walk& walk : walks) walk.advance(count);
  }
  return rows_at_once * quarter;
}

template <int width>
GRAPHLINE_INLINE void sum_rows(const gemv_form& form, const float* a, const float* x, float* to,
                               std::int64_t begin, std::int64_t end) {
  const operand_ends ends{a + spanned(form, &gemv_axis::a), x + spanned(form, &gemv_axis::x)};
  const gemv_pieces pieces = pieces_of(form);
  const std::int64_t rows = form.rows();
  const gemv_axis inner = form.axes.empty() ? gemv_axis{} : form.axes.back();
  if (pieces.count == 1) begin += sum_quarters<width>(form, a, x, ends, to, begin, end);
  while (begin < end) {
    const std::int64_t piece = begin / rows;
    const std::int64_t first = piece * pieces.piece;
    const row_run run{std::min(pieces.piece, form.k - first), inner.a, inner.x};
    const std::int64_t stop = std::min(end, (piece + 1) * rows);
    row_walk walk(form, begin - piece * rows);
    while (begin < stop) {
      const std::int64_t count = std::min(walk.left(), stop - begin);
      sum_run<width>(run, a + walk.a() + first, x + walk.x() + first, ends, count, to + begin);
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
