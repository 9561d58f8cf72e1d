#pragma once

#include <string>
#include <vector>

#include "framework/report/document.hpp"

namespace graphline::report {

/// Whether text and page show a fact: it is known and has a title.
bool is_shown(const fact& of) noexcept;

/// A fact's value as text; times share one unit with those of the other facts.
std::string shown_fact(const facts& in, const fact& of);

/// Whether a number is a count, written in data without fraction or exponent.
bool is_whole(const quantity& of) noexcept;

/// Columns of a table that appear there and have a known value.
std::vector<std::size_t> shown_columns(const table& of, place where);

/// A table as texts. All times have the unit of the first column of times, which stands beside the
/// heading of the rows or, if the rows are numbers, of these times. A column whose times would be
/// far too small or large has its own unit. Other units stand in the cells unless the heading is
/// the unit itself; times among them share one unit, too. Unknown values are "-".
struct shown_table {
  /// `where`: in_text or in_page.
  shown_table(const table& of, place where);

  bool is_total(std::size_t line) const { return of.total && line + 1 == lines.size(); }

  const table& of;
  std::vector<std::size_t> columns;  ///< indices of the shown columns
  std::vector<const row*> lines;     ///< shown rows, then the total
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

}  // namespace graphline::report
