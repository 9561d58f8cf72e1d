#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/report/render/terminal_style.hpp"

namespace graphline {

/// A rectangle of character cells to draw a diagram in. Lines are made of braille dots, eight a
/// cell, where block characters can be shown; else of ASCII that stands low, in the middle or high
/// in its cell. Positions run from 0 to 1, to the right and upwards; what lies outside is not
/// drawn.
class plot_canvas {
 public:
  /// Both at least 1.
  plot_canvas(std::size_t columns, std::size_t rows, const terminal_style& as);

  std::size_t columns() const noexcept { return columns_; }
  std::size_t rows() const noexcept { return rows_; }

  /// A straight line, left to right. Steep ones have gaps: it has one dot in each column of dots.
  void line(double x0, double y0, double x1, double y1);

  /// Dots straight up, faint.
  void dotted(double x, double y0, double y1);

  /// One character near a point: in its cell, or in a free one up to three beside it where another
  /// mark stands. Nothing where all of these are taken: false.
  bool mark(double x, double y, char character);

  /// A text of printable ASCII on free ground from a cell on, which may be outside. Nothing where a
  /// mark, a line or another text is, or one would touch: false.
  bool text(std::ptrdiff_t column, std::ptrdiff_t row, std::string_view text);

  std::size_t column_of(double x) const;
  std::size_t row_of(double y) const;  ///< from the top

  /// A row from the top, without spaces at its end.
  std::string row(std::size_t row) const;

 private:
  struct cell {
    std::uint8_t dots = 0;  ///< in the order of braille's bits
    char level = 0;         ///< of a line in ASCII
    char character = 0;
    color in = color::plain;
  };

  cell& at(std::size_t column, std::size_t row) { return cells_[row * columns_ + column]; }
  void dot(std::size_t column, std::size_t row, color in);
  std::string shown(const cell& of) const;

  std::size_t columns_;
  std::size_t rows_;
  terminal_style as_;
  std::vector<cell> cells_;
};

}  // namespace graphline
