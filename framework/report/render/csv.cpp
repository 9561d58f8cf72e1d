#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/render/cells.hpp"
#include "framework/report/render/render.hpp"

namespace graphline::report {

namespace {

std::string field_of(const cell& of) {
  if (!of.known()) return {};
  if (const auto* number = std::get_if<quantity>(&of.value)) {
    if (is_whole(*number)) return fmt::format("{:.0f}", number->value);
    return std::isfinite(number->value) ? fmt::to_string(number->value) : std::string();
  }
  if (const auto* times = std::get_if<whole_numbers>(&of.value)) {
    return fmt::format("{}", fmt::join(*times, " "));
  }
  if (const auto* yes = std::get_if<bool>(&of.value)) return *yes ? "true" : "false";
  return csv_field(shown_value(of));
}

}  // namespace

std::string as_csv(const document& of) {
  const auto found = std::find_if(of.parts.begin(), of.parts.end(), [&](const auto& part) {
    const auto* tabled = std::get_if<table>(&part);
    return tabled != nullptr && tabled->key == of.table_of_csv;
  });
  if (found == of.parts.end()) return {};
  const auto& rows = std::get<table>(*found);
  const bool nested = !rows.part_key.empty();
  std::string text =
      nested ? fmt::format("level,{},{}", rows.row_key, rows.part_key) : rows.row_key;
  for (std::size_t c = 1; c < rows.columns.size(); ++c) {
    const auto& column = rows.columns[c];
    if ((column.where & in_data) == 0) continue;
    text += fmt::format(",{}{}", column.key, column.in == unit::duration ? "_ns" : "");
  }
  const auto add = [&](const std::string& names, const row& from) {
    text += '\n' + names;
    for (std::size_t c = 1; c < rows.columns.size(); ++c) {
      if ((rows.columns[c].where & in_data) != 0) text += ',' + field_of(from.cells[c]);
    }
  };
  std::string whole;  // name of the last level-0 row
  for (const auto& row : rows.rows) {
    if ((row.where & in_data) == 0) continue;
    const auto name = field_of(row.cells.front());
    if (row.level == 0) whole = name;
    if (!nested) {
      add(name, row);
    } else if (row.level == 0) {
      add(fmt::format("{},{},", rows.row_key, name), row);
    } else {
      add(fmt::format("{},{},{}", rows.part_key, whole, name), row);
    }
  }
  if (rows.total) add(nested ? "total,," : "total", *rows.total);
  return text + '\n';
}

}  // namespace graphline::report
