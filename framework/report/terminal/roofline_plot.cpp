#include "framework/report/terminal/roofline_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/decades.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/plot_canvas.hpp"
#include "framework/report/terminal/quantity.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

constexpr std::size_t widest = 100;  // beyond that a plot is no easier to read
constexpr std::size_t letters = 26;

struct point {
  std::string name;
  std::string stage;  ///< that a part is of
  double intensity = 0;
  double rate = 0;  ///< FLOPs a second, achieved
  double measured = 0;
  precision arithmetic = precision::float32;
};

std::optional<point> point_of(const std::string& name, const std::string& stage,
                              const roofline_figures& of) {
  if (!of.measured || *of.measured <= 0 || of.intensity.value_or(0) <= 0) return std::nullopt;
  const double rate = static_cast<double>(*of.cost.flops) * 1e9 / *of.measured;
  return point{name, stage, *of.intensity, rate, *of.measured, of.cost.arithmetic};
}

/// What takes longest first, one for each letter.
std::size_t keep_longest(std::vector<point>& points) {
  const auto longer = [](const point& a, const point& b) { return a.measured > b.measured; };
  const auto cut = points.size() - std::min(points.size(), letters);
  if (cut == 0) return 0;
  auto by_time = points;
  std::stable_sort(by_time.begin(), by_time.end(), longer);
  const double least = by_time[letters - 1].measured;
  std::erase_if(points, [least](const point& p) { return p.measured < least; });
  points.resize(std::min(points.size(), letters));
  return cut;
}

/// What is drawn, in planned order, and what cannot be.
struct drawn_points {
  drawn_points(const run_record& record, const roofline_summary& summary) {
    for (const auto& of : summary.stages) {
      const auto& stage = record.stages[of.stage];
      auto whole = point_of(stage.name, "", of.figures);
      if (!whole) without.push_back(stage.name);
      if (whole) stages.push_back(std::move(*whole));
      if (of.parts.size() < 2) continue;
      for (std::size_t p = 0; p < of.parts.size(); ++p) {
        if (auto part = point_of(stage.parts[p].name, stage.name, of.parts[p])) {
          parts.push_back(std::move(*part));
        }
      }
    }
    shorter = keep_longest(stages) + keep_longest(parts);
  }

  std::vector<point> stages;
  std::vector<point> parts;
  std::vector<std::string> without;  ///< names of stages
  std::size_t shorter = 0;           ///< for which there is no letter
};

/// The roofs that what is drawn is under; all of them where that says nothing.
std::vector<compute_roof> roofs_used(const roofline_summary& summary, const drawn_points& drawn) {
  std::vector<compute_roof> used;
  for (const auto& roof : summary.roofs) {
    const auto is_under = [&](const point& p) { return p.arithmetic == roof.arithmetic; };
    if (std::any_of(drawn.stages.begin(), drawn.stages.end(), is_under) ||
        std::any_of(drawn.parts.begin(), drawn.parts.end(), is_under)) {
      used.push_back(roof);
    }
  }
  return used.empty() ? summary.roofs : used;
}

class plot {
 public:
  plot(const roofline_summary& summary, const drawn_points& drawn, const look& as)
      : bandwidth_(summary.bandwidth.value), roofs_(roofs_used(summary, drawn)), as_(as) {
    for (const auto* list : {&drawn.stages, &drawn.parts}) {
      for (const auto& p : *list) {
        x_.include(p.intensity);
        y_.include(p.rate);
      }
    }
    for (const auto& roof : roofs_) {
      x_.include(roof.knee / 2);
      x_.include(roof.knee * 4);
      y_.include(roof.rate.value * 1.5);  // room for what the roof is called
      y_.include(roof.rate.value / 50);
    }
  }

  /// Adds to `hidden` the letters for which there is no place beside others.
  std::string text(const drawn_points& drawn, std::vector<std::string>& hidden) const {
    std::size_t label = 0;
    for (int d = y_.first(); d <= y_.last(); ++d) label = std::max(label, tick(d).size());
    const auto columns = std::min(as_.width, widest) - label - 3;
    plot_canvas canvas(columns, std::clamp<std::size_t>(columns / 4, 8, 20), as_);
    draw_roofs(canvas);
    draw_points(canvas, drawn.stages, 'A', hidden);
    draw_points(canvas, drawn.parts, 'a', hidden);
    name_roofs(canvas);
    name_knees(canvas);
    return heading(label) + rows(canvas, label) + x_axis(canvas, label);
  }

 private:
  std::string heading(std::size_t label) const {
    return toned(fmt::format("{:>{}}", "FLOP/s", std::max<std::size_t>(label, 6)), tone::faint,
                 as_) +
           '\n';
  }

  void draw_roofs(plot_canvas& canvas) const {
    double highest = 0;
    for (const auto& roof : roofs_) {
      const auto y = y_.share(roof.rate.value);
      canvas.dotted(x_.share(roof.knee), 0, y);
      highest = std::max(highest, roof.rate.value);
    }
    canvas.line(0, y_.share(x_.value(0) * bandwidth_), x_.share(highest / bandwidth_),
                y_.share(highest));
    for (const auto& roof : roofs_) {
      const auto y = y_.share(roof.rate.value);
      canvas.line(x_.share(roof.knee), y, 1, y);
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

  /// Above each flat roof at its right end, and to the left of the slope; where there is room.
  void name_roofs(plot_canvas& canvas) const {
    const auto columns = static_cast<std::ptrdiff_t>(canvas.columns());
    for (const auto& roof : roofs_) {
      const auto name =
          fmt::format("{} {}", to_word(roof.arithmetic), format_count(roof.rate.value, "FLOP/s"));
      const auto row = static_cast<std::ptrdiff_t>(canvas.row_of(y_.share(roof.rate.value)));
      canvas.text(columns - static_cast<std::ptrdiff_t>(name.size()), row - 1, name);
    }
    const auto name = format_count(bandwidth_, "B/s");
    for (std::size_t row = canvas.rows() / 3; row < canvas.rows(); ++row) {
      const double y =
          1 - static_cast<double>(row + 1) / static_cast<double>(canvas.rows());  // its lower edge
      const auto x = x_.share(y_.value(y) / bandwidth_);
      if (x < 0 || x > 1) continue;
      const auto end = static_cast<std::ptrdiff_t>(canvas.column_of(x)) - 2;
      if (canvas.text(end - static_cast<std::ptrdiff_t>(name.size()),
                      static_cast<std::ptrdiff_t>(row), name)) {
        return;
      }
    }
  }

  /// At the foot of the dots.
  void name_knees(plot_canvas& canvas) const {
    for (const auto& roof : roofs_) {
      const auto column = static_cast<std::ptrdiff_t>(canvas.column_of(x_.share(roof.knee)));
      canvas.text(column + 2, static_cast<std::ptrdiff_t>(canvas.rows()) - 1,
                  "knee " + three_digits(roof.knee, 2));
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
      text += toned(fmt::format("{:>{}} {}", labels[row], label, edge), tone::faint, as_) +
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
    return toned(line + '\n' + indent + names + '\n' + under + std::string(unit), tone::faint,
                 as_) +
           '\n';
  }

  double bandwidth_;
  std::vector<compute_roof> roofs_;
  look as_;
  decades x_;
  decades y_;
};

/// " (A)" for a part of the stage that has this letter.
std::string letter_of(const std::string& stage, const std::vector<point>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name == stage) return fmt::format(" ({})", static_cast<char>('A' + i));
  }
  return "";
}

/// What each letter is, in as many columns as there is room for.
std::string legend(const drawn_points& drawn, const look& as) {
  std::vector<std::string> entries;
  const auto add = [&](const std::vector<point>& points, char first) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto more =
          letter_of(points[i].stage, drawn.stages) + ", " + format_count(points[i].rate, "FLOP/s");
      const auto letter = std::string(1, static_cast<char>(first + static_cast<char>(i)));
      const auto room = std::min<std::size_t>(as.room(39), as.width) - more.size() - 2;
      entries.push_back(fmt::format("{} {}{}", toned(letter, tone::good, as),
                                    table_name(points[i].name, room), more));
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

std::string left_out(const drawn_points& drawn, const look& as) {
  std::string text;
  if (!drawn.without.empty()) {
    std::string names;
    for (const auto& name : drawn.without) {
      names += (names.empty() ? "" : ", ") + table_name(name, as.room(28));
    }
    text +=
        paragraph("not in the plot, without FLOPs or without a time: " + names, 2, as, tone::faint);
  }
  if (drawn.shorter > 0) {
    text += paragraph(
        fmt::format("not in the plot, shorter than those with letters: {} more", drawn.shorter), 2,
        as, tone::faint);
  }
  return text;
}

}  // namespace

std::string roofline_plot(const run_record& record, const roofline_summary& summary,
                          const look& as) {
  const drawn_points drawn(record, summary);
  if (drawn.stages.empty() && drawn.parts.empty()) return {};
  std::vector<std::string> hidden;
  auto text = plot(summary, drawn, as).text(drawn, hidden) + legend(drawn, as);
  if (!hidden.empty()) {
    text += paragraph(fmt::format("behind others in the plot: {}", fmt::join(hidden, ", ")), 2, as,
                      tone::faint);
  }
  return text + left_out(drawn, as);
}

}  // namespace graphline
