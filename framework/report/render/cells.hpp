#pragma once

#include <string>
#include <vector>

#include "framework/report/document.hpp"

namespace graphline::report {

/// Returns true if a fact has a known value and a title, so that text and page show it.
bool is_shown(const fact& of) noexcept;

/// Returns a fact's value as text. Times share a unit, except a time that would be below 0.01.
std::string shown_fact(const facts& in, const fact& of);

/// Returns true if JSON and CSV write the number as an integer.
bool is_whole(const quantity& of) noexcept;

/// Returns the columns of a table that appear in `where` and contain known values.
std::vector<std::size_t> shown_columns(const table& of, place where);

/// A table as texts. Times share the unit of the first column of times. The heading of the table's
/// first column names the unit; if that column contains numbers, the heading of the times does. A
/// column of much shorter or longer times has its own unit in its heading. Other columns have units
/// in their cells, unless their heading is the unit. Unknown values are "-",
/// or blank with `table::blanks`.
struct shown_table {
  shown_table(const table& of, place where);

  bool is_total(std::size_t line) const { return of.total && line + 1 == lines.size(); }

  const table& of;
  std::vector<std::size_t> columns;  ///< indices of the shown columns
  std::vector<const row*> lines;     ///< shown rows, then the total
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

}  // namespace graphline::report
