#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/base/file/text_sink.hpp"

namespace graphline {

/// A value on one line, safe for terminals: control characters and marks that reverse the direction
/// of text become escapes such as "\u202e", which read back as the same. Invalid UTF-8 becomes
/// U+FFFD.
std::string json_in_one_line(const nlohmann::ordered_json& value);

/// Readable JSON: one entry per line, indented by two, but arrays of plain values on one line;
/// texts as in `json_in_one_line`. Numbers are the shortest that read back as the same double; NaN
/// and infinity become null. Ends with a newline.
void write_json(text_sink& to, const nlohmann::ordered_json& value);
std::string json_text(const nlohmann::ordered_json& value);

/// `json_in_one_line` with a newline.
std::string json_line(const nlohmann::ordered_json& value);

/// A measured time in milliseconds.
double milliseconds(nanoseconds ns);

/// A computed time, such as a mean, in milliseconds, rounded to a thousandth of a nanosecond.
double milliseconds(double ns);

/// Null without a value.
template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// A number or boolean if the text is one, else a string.
nlohmann::ordered_json typed(const std::string& text);

}  // namespace graphline
