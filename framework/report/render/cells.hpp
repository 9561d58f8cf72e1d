#pragma once

#include <string>
#include <vector>

#include "framework/report/document.hpp"

namespace graphline::report {

/// Whether a fact is for people, and known.
bool is_shown(const fact& of) noexcept;

/// A fact's value as text, for people: its times have one unit with those of the other facts.
std::string shown_fact(const facts& in, const fact& of);

/// Whether a number counts something, so that data has it without a fraction or an exponent.
bool is_whole(const quantity& of) noexcept;

/// The columns of a table that are shown there and of which anything is known.
std::vector<std::size_t> shown_columns(const table& of, place where);

/// A table as texts, for whoever shows it to people: one unit of time for all of it, that of its
/// first times, beside the heading of the rows or, where these are numbers, of these times; columns
/// that would be far too small or too large in it have their own. Other units stand in the cells,
/// unless a heading is the unit itself; times among them have one unit too. "-" is what is not
/// known.
struct shown_table {
  /// `where`: in_text or in_page.
  shown_table(const table& of, place where);

  bool is_total(std::size_t line) const { return of.total && line + 1 == lines.size(); }

  const table& of;
  std::vector<std::size_t> columns;  ///< those of the table that are shown
  std::vector<const row*> lines;     ///< its rows, and then its total
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

}  // namespace graphline::report
