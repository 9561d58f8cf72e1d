#include "stages/nn/operations/gemv.hpp"

#include <algorithm>

#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn {

std::int64_t gemv_form::rows() const noexcept {
  std::int64_t rows = 1;
  for (const gemv_axis& axis : axes) rows *= axis.extent;
  return rows;
}

gemv_form collapse_rows(const strided_product& product) {
  const shape& y = product.c.extents;
  const std::size_t rank = y.rank();
  const auto strides = [&](const strided_matrices& of) {
    return broadcast_strides(of.extents, of.strides, y);
  };
  pointwise_space rows{y.extents(), {strides(product.a), strides(product.b)}};
  rows.extents.pop_back();        // the column
  rows.strides[1][rank - 2] = 0;  // the rows of a have the same vector
  rows = collapsed(rows);
  gemv_form form{.k = product.a.extents[rank - 1]};
  for (std::size_t i = 0; i < rows.extents.size(); ++i) {
    form.axes.push_back({rows.extents[i], rows.strides[0][i], rows.strides[1][i]});
  }
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
