#include "framework/report/render/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/base/units.hpp"
#include "framework/report/render/shape.hpp"

namespace graphline::report {

namespace {

/// Returns the largest time of a column; empty if there are no times.
std::optional<double> largest_in(const shown_table& shown, std::size_t column) {
  std::optional<double> largest;
  if (shown.of.columns[column].in != unit::duration) return largest;
  for (const auto* row : shown.lines) {
    const auto number = row->cells[column].number();
    if (number) largest = std::max(largest.value_or(0), std::abs(number->value));
  }
  return largest;
}

/// Returns `unit`, or a better unit if the largest time is below 0.1 or has more than five digits.
time_unit unit_beside(time_unit unit, double largest) {
  const double shown = largest / unit.nanoseconds;
  return largest == 0 || (shown >= 0.1 && shown < 100'000) ? unit : unit_for(largest);
}

/// Returns a number without its unit. The heading of the column names the unit.
std::string in_column(const quantity& of, const time_unit& time, bool is_signed = false) {
  switch (of.in) {
    case unit::duration:
      return is_signed ? signed_digits(of.value / time.nanoseconds, 3) : in_unit(of.value, time);
    case unit::flops:
      return format_count(of.value, "");
    case unit::flops_per_byte:
      return three_digits(of.value, 2);
    case unit::share:
      return three_digits(100 * of.value, 1);
    case unit::change:
      return signed_digits(100 * of.value, 2);
    default:
      return to_text(of);
  }
}

/// Returns `common`, or a smaller unit if the time would be below 0.01 in `common`.
time_unit unit_among(const time_unit& common, double largest) {
  constexpr double least = 0.01;
  return largest == 0 || largest / common.nanoseconds >= least ? common : unit_for(largest);
}

std::string with_unit(double ns, const time_unit& unit) {
  return fmt::format("{}{} {}", ns < 0 ? "-" : "", in_unit(std::abs(ns), unit), unit.name);
}

/// Returns the unit of each line, for times in columns that have no unit. The lines share a unit
/// that gives the smallest time three digits, unless the largest would then have more than five.
std::vector<time_unit> units_of_lines(const shown_table& shown) {
  std::vector<double> largest_of(shown.lines.size(), 0);
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < shown.lines.size(); ++i) {
    for (const auto c : shown.columns) {
      const auto number = shown.lines[i]->cells[c].number();
      if (!number || number->in != unit::duration || shown.of.columns[c].in == unit::duration) {
        continue;
      }
      const double time = std::abs(number->value);
      largest_of[i] = std::max(largest_of[i], time);
      if (time > 0) smallest = std::min(smallest, time);
    }
  }
  const double largest = largest_of.empty() ? 0 : std::ranges::max(largest_of);
  time_unit common = unit_for(std::min(10 * smallest, largest));  // 0.123 has three digits too
  if (largest / common.nanoseconds >= 100'000) common = unit_for(largest);
  std::vector<time_unit> units;
  for (const double of_line : largest_of) units.push_back(unit_among(common, of_line));
  return units;
}

/// `time`: unit of times if the column has a unit. `beside`: unit of times otherwise.
std::string text_in(const cell& of, const column& in, const time_unit& time,
                    const time_unit& beside) {
  if (const auto* ends = std::get_if<span_of>(&of.value); ends && in.in == ends->in) {
    const auto text = [&](const std::optional<double>& end) {
      return end ? in_column({*end, ends->in}, time) : "?";
    };
    return fmt::format("{} to {}", text(ends->low), text(ends->high));
  }
  const auto* number = std::get_if<quantity>(&of.value);
  if (number != nullptr && in.in != number->in && number->in == unit::duration) {
    return with_unit(number->value, beside);
  }
  if (number == nullptr || in.in != number->in) return shown_value(of);
  auto text = in_column(*number, time, in.is_signed);
  const auto unit = symbol_of(number->in);
  if (in.title == unit && text.ends_with(unit)) {
    text.resize(text.size() - unit.size());
    if (text.ends_with(' ')) text.pop_back();  // keeps the prefix: "69.1 G"
  }
  return text;
}

/// Returns the histograms of a column; empty if the samples are missing or too small.
std::vector<std::string> histograms_in(const shown_table& shown, std::size_t column) {
  std::vector<const distribution*> all;
  bool any = false;
  for (const auto* row : shown.lines) {
    const auto* some = std::get_if<sampled>(&row->cells[column].value);
    all.push_back(some == nullptr ? nullptr : some->of.get());
    any = any || some != nullptr;
  }
  if (!any) return {};
  auto texts = shapes_of(all, shown.of.columns[column].shared_scale ? scale::shared : scale::own);
  texts.resize(all.size());
  return texts;
}

}  // namespace

bool is_shown(const fact& of) noexcept {
  return of.value.known() && !of.title.empty();
}

std::string shown_fact(const facts& in, const fact& of) {
  const auto time_of = [](const fact& one) -> std::optional<double> {
    const auto* number = std::get_if<quantity>(&one.value.value);
    if (number == nullptr || number->in != unit::duration) return std::nullopt;
    return number->value;
  };
  const auto time = time_of(of);
  if (!time) return shown_value(of.value);
  double largest = 0;
  for (const auto& one : in.list) {
    if (is_shown(one)) largest = std::max(largest, std::abs(time_of(one).value_or(0)));
  }
  return with_unit(*time, unit_among(unit_for(largest), std::abs(*time)));
}

bool is_whole(const quantity& of) noexcept {
  const bool counts =
      of.in == unit::none || of.in == unit::count || of.in == unit::bytes || of.in == unit::flops;
  return counts && of.value == std::round(of.value) && std::abs(of.value) < 0x1p63;
}

std::vector<std::size_t> shown_columns(const table& of, place where) {
  const auto is_shown = [where](const cell& one) {
    const auto* some = std::get_if<sampled>(&one.value);
    const auto* text = std::get_if<std::string>(&one.value);
    if (text != nullptr) return !text->empty();
    return some == nullptr ? one.known()
                           : where != in_data && some->of && some->of->count() >= least_for_shape;
  };
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < of.columns.size(); ++c) {
    const bool any = std::any_of(of.rows.begin(), of.rows.end(), [&](const row& row) {
      return (row.where & where) != 0 && is_shown(row.cells[c]);
    });
    if (any && (of.columns[c].where & where) != 0) columns.push_back(c);
  }
  return columns;
}

shown_table::shown_table(const table& shown, place where)
    : of(shown), columns(shown_columns(shown, where)) {
  for (const auto& row : of.rows) {
    if ((row.where & where) != 0) lines.push_back(&row);
  }
  if (of.total) lines.push_back(&*of.total);
  rows.resize(lines.size());
  std::optional<time_unit> of_table;
  for (std::size_t i = 0; i < columns.size() && !of_table; ++i) {
    if (const auto largest = largest_in(*this, columns[i])) of_table = unit_for(*largest);
  }
  bool unit_said = !of_table;
  const auto beside = units_of_lines(*this);
  for (const auto c : columns) {
    const auto& column = of.columns[c];
    auto& title = titles.emplace_back(column.title);
    const bool names = titles.size() == 1 && !column.in;
    auto time = of_table.value_or(microsecond);
    if (!unit_said && (names || column.in == unit::duration)) {
      title += fmt::format(" ({})", time.name);
      unit_said = true;
    } else if (const auto largest = largest_in(*this, c)) {
      const auto own = unit_beside(time, *largest);
      if (own.name != time.name) title += fmt::format(" {}", own.name);
      time = own;
    }
    const auto histograms = histograms_in(*this, c);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto& cell = lines[i]->cells[c];
      const bool no_words = !cell.known() && (of.blanks || (is_total(i) && !column.in));
      rows[i].push_back(!histograms.empty() ? histograms[i]
                        : no_words          ? ""
                                            : text_in(cell, column, time, beside[i]));
    }
  }
}

}  // namespace graphline::report
