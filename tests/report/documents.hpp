#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "framework/report/document.hpp"
#include "framework/report/render/text_table.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::samples {

// Looking things up in documents. What is not there throws, which fails a test.

template <class Part>
const Part& part_of(const report::document& of, std::string_view key) {
  for (const auto& part : of.parts) {
    const auto* some = std::get_if<Part>(&part);
    if (some != nullptr && some->key == key) return *some;
  }
  throw std::runtime_error("the document has no part '" + std::string(key) + "'");
}

/// Of the first row with that name.
inline const report::cell& cell_of(const report::table& of, std::string_view row,
                                   std::string_view column) {
  const auto at = std::find_if(of.columns.begin(), of.columns.end(),
                               [&](const auto& one) { return one.key == column; });
  for (const auto& one : of.rows) {
    if (at == of.columns.end() || std::get<std::string>(one.cells[0].value) != row) continue;
    return one.cells[static_cast<std::size_t>(at - of.columns.begin())];
  }
  throw std::runtime_error("the table has no '" + std::string(column) + "' of '" +
                           std::string(row) + "'");
}

inline const report::fact& fact_of(const report::facts& of, std::string_view key) {
  for (const auto& one : of.list) {
    if (one.key == key) return one;
  }
  throw std::runtime_error("no fact is '" + std::string(key) + "'");
}

inline std::optional<double> number(const report::cell& of) {
  const auto* found = std::get_if<quantity>(&of.value);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

inline std::string text(const report::cell& of) {
  const auto* found = std::get_if<std::string>(&of.value);
  return found == nullptr ? "" : *found;
}

/// What the document finds of that kind, in sentences.
inline std::vector<std::string> sentences_of(const report::document& of, finding_severity how) {
  std::vector<std::string> list;
  for (const auto& found : of.findings) {
    if (found.how == how) list.push_back(report::sentence(found));
  }
  return list;
}

/// Columns that the widest line of a text takes.
inline std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, text_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

}  // namespace graphline::samples
