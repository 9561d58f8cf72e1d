#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/report/document.hpp"

namespace graphline::report {

/// The columns of a table that are shown there and of which anything is known.
std::vector<std::size_t> shown_columns(const table& of, place where);

/// A table as texts, for whoever shows it to people: one unit of time for all of it, beside the
/// heading of the rows; other units in the cells. "-" is what is not known.
struct shown_table {
  /// `where`: in_text or in_page.
  shown_table(const table& of, place where);

  const table& of;
  std::vector<std::size_t> columns;  ///< those of the table that are shown
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

}  // namespace graphline::report
