#include "stages/nn/operations/gemv.hpp"

#include <algorithm>

namespace graphline::nn {

std::int64_t gemv_form::rows() const noexcept {
  std::int64_t rows = 1;
  for (const gemv_axis& axis : axes) rows *= axis.extent;
  return rows;
}

gemv_form collapse_rows(const matmul_form& product) {
  const std::size_t rank = product.c.rank();
  gemv_form form{.k = product.a[rank - 1]};
  // Adds the next outer axis; merges it into the previous axis if both are contiguous.
  const auto add = [&](const gemv_axis& axis) {
    if (axis.extent == 1) return;
    if (!form.axes.empty()) {
      gemv_axis& inner = form.axes.back();
      if (axis.a == inner.a * inner.extent && axis.x == inner.x * inner.extent) {
        inner.extent *= axis.extent;
        return;
      }
    }
    form.axes.push_back(axis);
  };
  std::int64_t a = form.k * product.a[rank - 2];
  std::int64_t x = form.k;
  add({product.c[rank - 2], form.k, 0});
  for (std::size_t i = rank - 2; i-- > 0;) {
    add({product.c[i], product.a[i] == 1 ? 0 : a, product.b[i] == 1 ? 0 : x});
    a *= product.a[i];
    x *= product.b[i];
  }
  std::reverse(form.axes.begin(), form.axes.end());
  return form;
}

std::optional<split_gemv> split_long_rows(const gemv_form& form) {
  constexpr std::int64_t enough_rows = 16384;
  constexpr std::int64_t shortest_piece = 512;
  constexpr std::int64_t most_pieces = 4096;  // per row; a few threads add them up
  const std::int64_t rows = form.rows();
  if (rows >= enough_rows) return {};
  const std::int64_t most =
      std::min({form.k / shortest_piece, most_pieces, 4 * enough_rows / rows});
  if (most < 2) return {};
  // Choose the piece count whose last piece is closest to full length. Multiples of four elements
  // keep rows that are readable as float4 so.
  std::int64_t piece = 0;
  std::int64_t count = 0;
  std::int64_t cut = form.k;
  for (std::int64_t tried = most; tried > most / 2 && cut > 0; --tried) {
    const std::int64_t length = ((form.k + tried - 1) / tried + 3) / 4 * 4;
    const std::int64_t needed = (form.k + length - 1) / length;
    if (needed * length - form.k >= cut) continue;
    piece = length;
    count = needed;
    cut = needed * length - form.k;
  }
  split_gemv split{.pieces = {.k = piece, .axes = form.axes, .cut = cut},
                   .sums = {.k = count, .ones = true}};
  split.pieces.axes.push_back({count, piece, piece});
  if (rows > 1) split.sums.axes.push_back({rows, count, 0});
  return split;
}

}  // namespace graphline::nn
