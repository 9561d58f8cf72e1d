#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/base/file/text_sink.hpp"

namespace graphline {

/// Returns a value on one line, safe for terminals. Control characters and marks that change the
/// text direction become escapes such as "\u202e". Invalid UTF-8 becomes U+FFFD.
std::string json_in_one_line(const nlohmann::ordered_json& value);

/// Writes JSON with one entry per line, indented by two spaces. Arrays of plain values are on one
/// line. Writes strings as `json_in_one_line` does. Numbers are the shortest that read back as the
/// same double; NaN and infinity become null. Ends with a newline.
void write_json(text_sink& to, const nlohmann::ordered_json& value);
std::string json_text(const nlohmann::ordered_json& value);

std::string json_line(const nlohmann::ordered_json& value);

double milliseconds(nanoseconds ns);

/// Converts a computed time to milliseconds, rounded to a thousandth of a nanosecond.
double milliseconds(double ns);

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// Returns a number or boolean if the text is one, otherwise a string.
nlohmann::ordered_json typed(const std::string& text);

}  // namespace graphline
