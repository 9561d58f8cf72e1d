#include "framework/report/render/plot_canvas.hpp"

#include <algorithm>
#include <cmath>

namespace graphline {

namespace {

// Of a braille character.
constexpr std::size_t dots_across = 2;
constexpr std::size_t dots_down = 4;

/// The place of 0 to 1 among `count`; 1 belongs to the last.
std::size_t place(double share, std::size_t count) {
  const auto at = static_cast<std::ptrdiff_t>(std::floor(share * static_cast<double>(count)));
  return static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(at, 0, static_cast<std::ptrdiff_t>(count) - 1));
}

bool is_inside(double share) {
  return share >= 0 && share <= 1;
}

}  // namespace

plot_canvas::plot_canvas(std::size_t columns, std::size_t rows, const terminal_style& as)
    : columns_(columns), rows_(rows), as_(as), cells_(columns * rows) {}

void plot_canvas::dot(std::size_t column, std::size_t row, color in) {
  auto& to = at(column / dots_across, row / dots_down);
  // Bits of U+2800: down the left side, down the right side, then the two at the bottom.
  constexpr std::uint8_t bits[dots_down][dots_across] = {
      {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  to.dots |= bits[row % dots_down][column % dots_across];
  constexpr std::string_view levels = "'--_";
  if (in == color::faint) {
    if (to.level == 0) to.level = ':';
  } else {
    to.level = levels[row % dots_down];
  }
  if (in != color::faint || to.in == color::plain) to.in = in;
}

void plot_canvas::line(double x0, double y0, double x1, double y1) {
  const std::size_t across = columns_ * dots_across;
  for (std::size_t c = 0; c < across; ++c) {
    const double x = (static_cast<double>(c) + 0.5) / static_cast<double>(across);
    if (x < x0 || x > x1) continue;
    const double y = x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y0;
    if (is_inside(y)) dot(c, place(1 - y, rows_ * dots_down), color::heading);
  }
}

void plot_canvas::dotted(double x, double y0, double y1) {
  if (!is_inside(x)) return;
  const auto column = place(x, columns_ * dots_across);
  const auto first = place(1 - std::min(y1, 1.0), rows_ * dots_down);
  const auto last = place(1 - std::max(y0, 0.0), rows_ * dots_down);
  for (auto row = first + 1; row <= last; ++row) {
    if (row % dots_across == 1) dot(column, row, color::faint);
  }
}

bool plot_canvas::mark(double x, double y, char character) {
  if (!is_inside(x) || !is_inside(y)) return false;
  const auto column = static_cast<std::ptrdiff_t>(column_of(x));
  const auto row = row_of(y);
  for (const std::ptrdiff_t aside : {0, 1, -1, 2, -2, 3, -3}) {
    const auto to = column + aside;
    if (to < 0 || to >= static_cast<std::ptrdiff_t>(columns_)) continue;
    auto& free = at(static_cast<std::size_t>(to), row);
    if (free.character != 0) continue;
    free.character = character;
    free.in = color::good;
    return true;
  }
  return false;
}

bool plot_canvas::text(std::ptrdiff_t column, std::ptrdiff_t row, std::string_view text) {
  const auto size = static_cast<std::ptrdiff_t>(text.size());
  if (row < 0 || row >= static_cast<std::ptrdiff_t>(rows_)) return false;
  if (column < 0 || column + size > static_cast<std::ptrdiff_t>(columns_)) return false;
  const auto in_row = static_cast<std::size_t>(row);
  const auto from = std::max<std::ptrdiff_t>(0, column - 1);
  const auto to = std::min(column + size + 1, static_cast<std::ptrdiff_t>(columns_));
  for (auto c = from; c < to; ++c) {
    const auto& under = at(static_cast<std::size_t>(c), in_row);
    if (under.dots != 0 || under.character != 0) return false;
  }
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    auto& to_write = at(static_cast<std::size_t>(column + i), in_row);
    to_write.character = text[static_cast<std::size_t>(i)];
    to_write.in = color::plain;
  }
  return true;
}

std::size_t plot_canvas::column_of(double x) const {
  return place(x, columns_);
}

std::size_t plot_canvas::row_of(double y) const {
  return place(1 - y, rows_);
}

std::string plot_canvas::shown(const cell& of) const {
  if (of.character != 0) return std::string(1, of.character);
  if (of.dots == 0) return " ";
  if (!as_.blocks) return std::string(1, of.level);
  // U+2800 plus the dots, in UTF-8.
  return {static_cast<char>(0xe2), static_cast<char>(0xa0 | (of.dots >> 6)),
          static_cast<char>(0x80 | (of.dots & 0x3f))};
}

std::string plot_canvas::row(std::size_t row) const {
  std::string result;
  std::string run;
  auto in = color::plain;
  for (std::size_t c = 0; c < columns_; ++c) {
    const auto& here = cells_[row * columns_ + c];
    if (here.in != in) {
      result += colored(run, in, as_);
      run.clear();
      in = here.in;
    }
    run += shown(here);
  }
  result += colored(run, in, as_);
  result.erase(result.find_last_not_of(' ') + 1);
  return result;
}

}  // namespace graphline
