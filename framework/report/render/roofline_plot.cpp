#include "framework/report/render/roofline_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/units.hpp"
#include "framework/report/render/decades.hpp"
#include "framework/report/render/plot_canvas.hpp"
#include "framework/report/render/text_table.hpp"

namespace graphline::report {

namespace {

constexpr std::size_t widest = 100;  // beyond that a plot is no easier to read
constexpr std::size_t letters = 26;

using point = roofline_chart::point;

/// What is drawn, what takes longest of it: one for each letter.
struct drawn_points {
  explicit drawn_points(const roofline_chart& of) {
    for (const auto& p : of.points) (p.part.empty() ? stages : parts).push_back(p);
    shorter = keep_longest(stages) + keep_longest(parts);
  }

  /// How many it leaves out.
  static std::size_t keep_longest(std::vector<point>& points) {
    if (points.size() <= letters) return 0;
    const auto cut = points.size() - letters;
    auto by_time = points;
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const point& a, const point& b) { return a.measured > b.measured; });
    const double least = by_time[letters - 1].measured;
    std::erase_if(points, [least](const point& p) { return p.measured < least; });
    points.resize(std::min(points.size(), letters));
    return cut;
  }

  std::vector<point> stages;
  std::vector<point> parts;
  std::size_t shorter = 0;  ///< for which there is no letter
};

class plot {
 public:
  plot(const roofline_chart& of, const terminal_style& as) : of_(of), as_(as) {
    for (const auto& p : of.points) {
      x_.include(p.intensity);
      y_.include(p.rate);
    }
    for (const auto& ceiling : of.ceilings) {
      x_.include(ceiling.ridge_point / 2);
      x_.include(ceiling.ridge_point * 4);
      y_.include(ceiling.rate * 1.5);  // room for what the ceiling is called
      y_.include(ceiling.rate / 50);
    }
  }

  /// Adds to `hidden` the letters for which there is no place beside others.
  std::string text(const drawn_points& drawn, std::vector<std::string>& hidden) const {
    std::size_t label = 0;
    for (int d = y_.first(); d <= y_.last(); ++d) label = std::max(label, tick(d).size());
    const auto columns = std::min(as_.width, widest) - label - 3;
    plot_canvas canvas(columns, std::clamp<std::size_t>(columns / 4, 8, 20), as_);
    draw_ceilings(canvas);
    draw_points(canvas, drawn.stages, 'A', hidden);
    draw_points(canvas, drawn.parts, 'a', hidden);
    name_ceilings(canvas);
    name_ridge_points(canvas);
    return heading(label) + rows(canvas, label) + x_axis(canvas, label);
  }

 private:
  std::string heading(std::size_t label) const {
    return colored(fmt::format("{:>{}}", "FLOP/s", std::max<std::size_t>(label, 6)), color::faint,
                   as_) +
           '\n';
  }

  void draw_ceilings(plot_canvas& canvas) const {
    double highest = 0;
    for (const auto& ceiling : of_.ceilings) {
      const auto y = y_.share(ceiling.rate);
      canvas.dotted(x_.share(ceiling.ridge_point), 0, y);
      highest = std::max(highest, ceiling.rate);
    }
    canvas.line(0, y_.share(x_.value(0) * of_.bandwidth), x_.share(highest / of_.bandwidth),
                y_.share(highest));
    for (const auto& ceiling : of_.ceilings) {
      const auto y = y_.share(ceiling.rate);
      canvas.line(x_.share(ceiling.ridge_point), y, 1, y);
    }
  }

  void draw_points(plot_canvas& canvas, const std::vector<point>& points, char first,
                   std::vector<std::string>& hidden) const {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto letter = static_cast<char>(first + static_cast<char>(i));
      if (!canvas.mark(x_.share(points[i].intensity), y_.share(points[i].rate), letter)) {
        hidden.emplace_back(1, letter);
      }
    }
  }

  /// Above each flat ceiling at its right end, and to the left of the slope; where there is room.
  void name_ceilings(plot_canvas& canvas) const {
    const auto columns = static_cast<std::ptrdiff_t>(canvas.columns());
    for (const auto& ceiling : of_.ceilings) {
      const auto name = fmt::format("{} {}", ceiling.name, format_count(ceiling.rate, "FLOP/s"));
      const auto row = static_cast<std::ptrdiff_t>(canvas.row_of(y_.share(ceiling.rate)));
      canvas.text(columns - static_cast<std::ptrdiff_t>(name.size()), row - 1, name);
    }
    const auto name = format_count(of_.bandwidth, "B/s");
    for (std::size_t row = canvas.rows() / 3; row < canvas.rows(); ++row) {
      const double y =
          1 - static_cast<double>(row + 1) / static_cast<double>(canvas.rows());  // its lower edge
      const auto x = x_.share(y_.value(y) / of_.bandwidth);
      if (x < 0 || x > 1) continue;
      const auto end = static_cast<std::ptrdiff_t>(canvas.column_of(x)) - 2;
      if (canvas.text(end - static_cast<std::ptrdiff_t>(name.size()),
                      static_cast<std::ptrdiff_t>(row), name)) {
        return;
      }
    }
  }

  /// At the foot of the dots.
  void name_ridge_points(plot_canvas& canvas) const {
    for (const auto& ceiling : of_.ceilings) {
      const auto column =
          static_cast<std::ptrdiff_t>(canvas.column_of(x_.share(ceiling.ridge_point)));
      canvas.text(column + 2, static_cast<std::ptrdiff_t>(canvas.rows()) - 1,
                  "ridge " + three_digits(ceiling.ridge_point, 2));
    }
  }

  std::string rows(const plot_canvas& canvas, std::size_t label) const {
    std::vector<std::string> labels(canvas.rows());
    std::size_t last = canvas.rows();
    for (int d = y_.first(); d <= y_.last(); ++d) {
      const auto row = canvas.row_of(y_.share_of_decade(d));
      if (row != last) labels[row] = tick(d);
      last = row;
    }
    std::string text;
    for (std::size_t row = 0; row < canvas.rows(); ++row) {
      const auto* edge = as_.blocks ? (labels[row].empty() ? "│" : "┤") : "|";
      text += colored(fmt::format("{:>{}} {}", labels[row], label, edge), color::faint, as_) +
              canvas.row(row) + '\n';
    }
    return text;
  }

  std::string x_axis(const plot_canvas& canvas, std::size_t label) const {
    std::vector<std::string_view> edge(canvas.columns(), as_.blocks ? "─" : "-");
    std::string names(canvas.columns() + 1, ' ');
    std::size_t free = 0;
    for (int d = x_.first(); d <= x_.last(); ++d) {
      const auto column = canvas.column_of(x_.share_of_decade(d));
      edge[column] = as_.blocks ? "┬" : "+";
      const auto name = tick(d);
      const auto half = std::min(column + 1, name.size() / 2);
      const auto from = std::min(column + 1 - half, names.size() - name.size());
      if (from < free) continue;
      names.replace(from, name.size(), name);
      free = from + name.size() + 1;
    }
    std::string line = std::string(label + 1, ' ') + (as_.blocks ? "└" : "+");
    for (const auto piece : edge) line += piece;
    names.erase(names.find_last_not_of(' ') + 1);
    constexpr std::string_view unit = "FLOP/B";
    const auto indent = std::string(label + 1, ' ');
    const auto under = std::string(label + 2 + canvas.columns() - unit.size(), ' ');
    return colored(line + '\n' + indent + names + '\n' + under + std::string(unit), color::faint,
                   as_) +
           '\n';
  }

  const roofline_chart& of_;
  terminal_style as_;
  decades x_;
  decades y_;
};

/// " (A)" for a part of the stage that has this letter.
std::string letter_of(const std::string& stage, const std::vector<point>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].stage == stage) return fmt::format(" ({})", static_cast<char>('A' + i));
  }
  return "";
}

/// What each letter is, in as many columns as there is room for.
std::string legend(const drawn_points& drawn, const terminal_style& as) {
  std::vector<std::string> entries;
  const auto add = [&](const std::vector<point>& points, char first) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto more = points[i].part.empty() ? ""
                                               : letter_of(points[i].stage, drawn.stages) + ", " +
                                                     format_count(points[i].rate, "FLOP/s");
      const auto letter = std::string(1, static_cast<char>(first + static_cast<char>(i)));
      const auto room = std::min<std::size_t>(as.room(39), as.width) - more.size() - 2;
      entries.push_back(fmt::format(
          "{} {}{}", colored(letter, color::good, as),
          table_name(points[i].part.empty() ? points[i].stage : points[i].part, room), more));
    }
  };
  add(drawn.stages, 'A');
  add(drawn.parts, 'a');
  std::size_t column = 0;
  for (const auto& entry : entries) column = std::max(column, text_width(entry));
  constexpr std::size_t gap = 2;
  const auto across = std::max<std::size_t>(1, (std::min(as.width, widest) + gap) / (column + gap));
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool last = i + 1 == entries.size() || (i + 1) % across == 0;
    text += entries[i];
    text += last ? "\n" : std::string(column + gap - text_width(entries[i]), ' ');
  }
  return text;
}

std::string left_out(const roofline_chart& of, std::size_t shorter, const terminal_style& as) {
  std::string text;
  if (!of.without.empty()) {
    std::string names;
    for (const auto& name : of.without) {
      names += (names.empty() ? "" : ", ") + table_name(name, as.room(28));
    }
    text += paragraph("not in the plot, without FLOPs or without a time: " + names, 2, as,
                      color::faint);
  }
  if (shorter > 0) {
    text +=
        paragraph(fmt::format("not in the plot, shorter than those with letters: {} more", shorter),
                  2, as, color::faint);
  }
  return text;
}

}  // namespace

std::string roofline_plot(const roofline_chart& of, const terminal_style& as) {
  if (of.points.empty()) return {};
  const drawn_points drawn(of);
  std::vector<std::string> hidden;
  auto text = plot(of, as).text(drawn, hidden) + legend(drawn, as);
  if (!hidden.empty()) {
    text += paragraph(fmt::format("behind others in the plot: {}", fmt::join(hidden, ", ")), 2, as,
                      color::faint);
  }
  return text + left_out(of, drawn.shorter, as);
}

}  // namespace graphline::report
