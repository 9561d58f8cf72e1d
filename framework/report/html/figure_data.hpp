#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace graphline {

/// A figure of a row of figures: a name, a value that stands out, and a few words about it.
inline nlohmann::ordered_json figure_data(std::string_view name, std::string_view value,
                                          std::string_view unit, std::string_view note,
                                          std::string_view tone = "") {
  return {{"name", name}, {"value", value}, {"unit", unit}, {"note", note}, {"tone", tone}};
}

/// The same of "42.5 MiB", a value and its unit.
inline nlohmann::ordered_json quantity_data(std::string_view name, std::string_view text,
                                            std::string_view note) {
  const auto space = text.find(' ');
  return figure_data(name, text.substr(0, space), text.substr(space + 1), note);
}

}  // namespace graphline
