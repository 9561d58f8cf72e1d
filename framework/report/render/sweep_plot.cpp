#include "framework/report/render/sweep_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/sweep.hpp"
#include "framework/base/units.hpp"
#include "framework/report/render/text_table.hpp"

namespace graphline::report {

namespace {

constexpr std::size_t rows = 7;  // of a plot, without its axis
constexpr std::size_t narrowest = 30;
constexpr std::size_t widest = 60;
constexpr std::size_t gap = 4;  // between two plots

/// The characters that plots are drawn with.
struct drawing_set {
  std::string_view mark, other_mark, line, upright, tick, corner, level, level_tick;
};
const drawing_set& characters(const terminal_style& as) {
  static constexpr drawing_set drawn = {"●", "○", "·", "│", "┤", "└", "─", "┬"};
  static constexpr drawing_set ascii = {"o", "x", ".", "|", "+", "+", "-", "+"};
  return as.blocks ? drawn : ascii;
}

/// The nearest of 1, 2 and 5 times a power of ten that is not below, or not above, a positive one.
double round_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}
double round_down(double value) {
  const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  }
  return power;
}

/// Where values stand along so many cells.
class axis {
 public:
  axis(double low, double high, bool logarithmic)
      : low_(low), high_(high), logarithmic_(logarithmic) {}

  /// From nothing, or over the decades of the values, to round figures.
  static axis upright(const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (spans_decades(values)) return {round_down(*least), round_up(*most), true};
    return {0, *most > 0 ? round_up(*most) : 1, false};
  }
  /// From the first value to the last.
  static axis level(const std::vector<double>& values) {
    return {values.front(), values.back(), spans_decades(values)};
  }

  bool logarithmic() const noexcept { return logarithmic_; }

  std::size_t cell(double value, std::size_t cells) const {
    const double part = (place(value) - place(low_)) / (place(high_) - place(low_));
    return static_cast<std::size_t>(std::lround(part * static_cast<double>(cells - 1)));
  }

  /// Figures to write beside it, ascending.
  std::vector<double> ticks() const {
    if (!logarithmic_) return {low_, (low_ + high_) / 2, high_};
    std::vector<double> result = {low_};
    for (double power = std::pow(10, std::ceil(std::log10(low_) + 1e-9)); power < 0.999 * high_;
         power *= 10) {
      result.push_back(power);
    }
    result.push_back(high_);
    return result;
  }

 private:
  double place(double value) const { return logarithmic_ ? std::log10(value) : value; }

  double low_;
  double high_;
  bool logarithmic_;
};

using point_list = std::vector<std::pair<double, double>>;

point_list points_of(const sweep_chart& of, const sweep_chart::line& line) {
  point_list points;
  for (std::size_t i = 0; i < of.at.size(); ++i) {
    if (line.values[i]) points.emplace_back(of.at[i], *line.values[i]);
  }
  return points;
}

class plot_drawing {
 public:
  plot_drawing(const sweep_chart& of, const sweep_chart::panel& what, std::size_t width,
               const terminal_style& as)
      : of_(of),
        what_(what),
        width_(width),
        as_(as),
        use_(characters(as)),
        x_(axis::level(of.at)),
        y_(axis::upright(heights(what))) {
    for (const double tick : y_.ticks()) {
      label_width_ = std::max(label_width_, text_width(label(tick)));
    }
    // The last value's figure may reach beyond its mark.
    const std::size_t beyond = (text_width(of.texts.back()) + 1) / 2;
    columns_ = width - std::min(width, label_width_ + 2 + std::min(beyond, width / 4));
    cells_.assign(rows, std::vector<std::string_view>(columns_, " "));
  }

  /// As many lines for every plot of a sweep.
  std::vector<std::string> lines() {
    for (std::size_t i = what_.lines.size(); i-- > 0;) {
      draw(points_of(of_, what_.lines[i]), i == 0 ? use_.mark : use_.other_mark);
    }
    const auto title = what_.title + (y_.logarithmic() ? ", log scale" : "");
    std::vector<std::string> result = {colored(table_name(title, width_), color::heading, as_)};
    for (std::size_t row = rows; row-- > 0;) result.push_back(line(row));
    result.push_back(bottom());
    result.push_back(figures());
    const auto name = of_.parameter + (x_.logarithmic() ? ", log scale" : "");
    result.push_back(indented(table_name(name, columns_), columns_ / 2));
    return result;
  }

 private:
  static std::vector<double> heights(const sweep_chart::panel& what) {
    std::vector<double> values;
    for (const auto& line : what.lines) {
      for (const auto& value : line.values) {
        if (value) values.push_back(*value);
      }
    }
    return values;
  }
  static std::string label(double value) {
    const auto text = three_digits(value, 4);
    // 100 and 0.5 rather than 100. and 0.500.
    if (text.find('.') == text.npos) return text;
    const auto last = text.find_last_not_of('0');
    return text.substr(0, text[last] == '.' ? last : last + 1);
  }

  /// Marks with a line from each to the next.
  void draw(const point_list& points, std::string_view mark) {
    std::optional<std::pair<std::size_t, std::size_t>> before;
    for (const auto& [x, y] : points) {
      const std::pair at{x_.cell(x, columns_), y_.cell(y, rows)};
      if (before) draw_line(*before, at);
      before = at;
    }
    for (const auto& [x, y] : points) cells_[y_.cell(y, rows)][x_.cell(x, columns_)] = mark;
  }

  void draw_line(std::pair<std::size_t, std::size_t> from, std::pair<std::size_t, std::size_t> to) {
    const auto width = static_cast<double>(to.first) - static_cast<double>(from.first);
    const auto height = static_cast<double>(to.second) - static_cast<double>(from.second);
    for (std::size_t column = from.first + 1; column < to.first; ++column) {
      const double part = static_cast<double>(column - from.first) / width;
      const auto row =
          static_cast<std::size_t>(std::lround(static_cast<double>(from.second) + part * height));
      if (cells_[row][column] == " ") cells_[row][column] = use_.line;
    }
  }

  std::string line(std::size_t row) const {
    std::string text;
    for (const double tick : y_.ticks()) {
      // Of two figures in a line the lower one.
      if (text.empty() && y_.cell(tick, rows) == row) text = label(tick);
    }
    const auto edge = text.empty() ? use_.upright : use_.tick;
    text = fmt::format("{:>{}} {}", text, label_width_, edge);
    std::size_t end = columns_;
    while (end > 0 && cells_[row][end - 1] == " ") --end;
    std::string dots;
    for (std::size_t column = 0; column < end; ++column) {
      const auto cell = cells_[row][column];
      if (cell == use_.line) {
        dots += cell;
        continue;
      }
      text += colored(std::exchange(dots, ""), color::faint, as_);
      text += cell;
    }
    return text + colored(dots, color::faint, as_);
  }

  std::string bottom() const {
    std::vector<std::string_view> cells(columns_, use_.level);
    for (const double value : of_.at) cells[x_.cell(value, columns_)] = use_.level_tick;
    std::string text(label_width_ + 1, ' ');
    text += use_.corner;
    for (const auto cell : cells) text += cell;
    return text;
  }

  /// The values below their marks, as far as none runs into another; the ends first.
  std::string figures() const {
    std::vector<std::pair<std::size_t, std::string>> placed;
    const auto place = [&](std::size_t i) {
      const auto& words = of_.texts[i];
      const auto size = text_width(words);
      const auto middle = label_width_ + 2 + x_.cell(of_.at[i], columns_);
      const auto begin =
          std::min(middle - std::min(middle, size / 2), width_ - std::min(width_, size));
      const auto apart = [&](const auto& other) {
        return begin + size < other.first || other.first + text_width(other.second) < begin;
      };
      if (std::all_of(placed.begin(), placed.end(), apart)) placed.emplace_back(begin, words);
    };
    place(0);
    place(of_.at.size() - 1);
    for (std::size_t i = 0; i < of_.at.size(); ++i) place(i);
    std::sort(placed.begin(), placed.end());
    std::string text;
    for (const auto& [begin, value] : placed) {
      text += std::string(begin - text_width(text), ' ') + value;
    }
    return text;
  }

  std::string indented(const std::string& text, std::size_t middle) const {
    const auto half = std::min(middle, text_width(text) / 2);
    return std::string(label_width_ + 2 + middle - half, ' ') + text;
  }

  const sweep_chart& of_;
  const sweep_chart::panel& what_;
  std::size_t width_;
  const terminal_style& as_;
  const drawing_set& use_;
  axis x_;
  axis y_;
  std::size_t label_width_ = 0;
  std::size_t columns_ = 0;
  std::vector<std::vector<std::string_view>> cells_;  // [row from below][column]
};

}  // namespace

std::string sweep_plot(const sweep_chart& of, const terminal_style& as) {
  const auto& plots = of.panels;
  const bool beside = plots.size() == 2 && as.width >= 2 * (narrowest + gap) + gap;
  const auto width = std::min(widest, beside ? (as.width - gap) / 2 : as.width);
  if (plots.empty() || width < narrowest) return "";
  std::vector<std::string> lines;
  bool others = false;
  for (const auto& one : plots) {
    others = others || one.lines.size() > 1;
    const auto drawn = plot_drawing(of, one, width, as).lines();
    if (!beside || lines.empty()) {
      if (!lines.empty()) lines.emplace_back();
      lines.insert(lines.end(), drawn.begin(), drawn.end());
      continue;
    }
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      lines[i] += std::string(width + gap - text_width(lines[i]), ' ') + drawn[i];
    }
  }
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  if (others) {
    text += colored(fmt::format("{} p50  {} roofline time", characters(as).mark,
                                characters(as).other_mark),
                    color::faint, as) +
            '\n';
  }
  return text;
}

}  // namespace graphline::report
