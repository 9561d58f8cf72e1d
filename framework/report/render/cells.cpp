#include "framework/report/render/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/units.hpp"

namespace graphline::report {

namespace {

const quantity* number_in(const cell& of) {
  return std::get_if<quantity>(&of.value);
}

/// The unit in which the largest of the times that are shown has one to three digits.
std::optional<time_unit> time_unit_of(const shown_table& shown) {
  std::optional<double> largest;
  for (const auto c : shown.columns) {
    if (shown.of.columns[c].in != unit::duration) continue;
    for (const auto* row : shown.lines) {
      const auto* number = number_in(row->cells[c]);
      largest = std::max(largest.value_or(0), number == nullptr ? 0 : std::abs(number->value));
    }
  }
  return largest ? std::optional(unit_for(*largest)) : std::nullopt;
}

/// A number whose unit its column names.
std::string in_column(const quantity& of, const std::optional<time_unit>& time) {
  switch (of.in) {
    case unit::duration:
      return in_unit(of.value, *time);
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

std::string text_in(const cell& of, const column& in, const std::optional<time_unit>& time) {
  const auto* number = number_in(of);
  if (number == nullptr || in.in != number->in) return shown_value(of);
  auto text = in_column(*number, time);
  const auto unit = symbol_of(number->in);
  if (in.title == unit && text.ends_with(unit)) text.resize(text.size() - unit.size() - 1);
  return text;
}

}  // namespace

bool is_shown(const fact& of) noexcept {
  return of.value.known() && !of.title.empty();
}

bool is_whole(const quantity& of) noexcept {
  const bool counts =
      of.in == unit::none || of.in == unit::count || of.in == unit::bytes || of.in == unit::flops;
  return counts && of.value == std::round(of.value) && std::abs(of.value) < 0x1p63;
}

std::vector<std::size_t> shown_columns(const table& of, place where) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < of.columns.size(); ++c) {
    const bool any = std::any_of(of.rows.begin(), of.rows.end(),
                                 [c](const row& row) { return row.cells[c].known(); });
    if (any && (of.columns[c].where & where) != 0) columns.push_back(c);
  }
  return columns;
}

shown_table::shown_table(const table& shown, place where)
    : of(shown), columns(shown_columns(shown, where)) {
  for (const auto& row : of.rows) lines.push_back(&row);
  if (of.total) lines.push_back(&*of.total);
  const auto time = time_unit_of(*this);
  bool unit_said = !time;
  for (const auto c : columns) {
    auto& title = titles.emplace_back(of.columns[c].title);
    const bool names = titles.size() == 1 && !of.columns[c].in;
    if (unit_said || !(names || of.columns[c].in == unit::duration)) continue;
    title += fmt::format(" ({})", time->name);
    unit_said = true;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto& texts = rows.emplace_back();
    for (const auto c : columns) {
      const auto& cell = lines[i]->cells[c];
      const bool no_words = i == of.rows.size() && !of.columns[c].in && !cell.known();
      texts.push_back(no_words ? "" : text_in(cell, of.columns[c], time));
    }
  }
}

}  // namespace graphline::report
