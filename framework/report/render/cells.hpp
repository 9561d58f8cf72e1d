#pragma once

#include <string>
#include <vector>

#include "framework/report/document.hpp"

namespace graphline::report {

/// Returns true if text and page show a fact: its value is known, and it has a title.
bool is_shown(const fact& of) noexcept;

/// Returns a fact's value as text. All times share a unit, unless one nearly vanishes in it.
std::string shown_fact(const facts& in, const fact& of);

/// Returns true if a number is a count, which JSON and CSV write without fraction or exponent.
bool is_whole(const quantity& of) noexcept;

/// Returns the columns of a table that appear in `where` and contain a known value.
std::vector<std::size_t> shown_columns(const table& of, place where);

/// A table as texts. All times have the unit of the first column of times. The heading of the rows
/// names that unit; if the rows are numbers, the heading of these times does. A column whose times
/// would be far too small or large has its own unit. Other units stand in the cells, unless the
/// heading is the unit itself. Times in such cells share a unit, too. Unknown values are "-".
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
