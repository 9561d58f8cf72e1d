#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/base/file/text_sink.hpp"

namespace graphline {

/// A value on one line, as text that a terminal only shows: control characters and marks that
/// reverse the direction of text stand as "\u202e", which reads back as the same. Bytes that are
/// not UTF-8 become U+FFFD.
std::string json_in_one_line(const nlohmann::ordered_json& value);

/// JSON for programs that a person can also read: objects and arrays of objects one entry a line,
/// indented by two; arrays of plain values on one line, however long; texts as in
/// `json_in_one_line`. Numbers are the shortest that read back as the same double; what is not
/// finite becomes null. Ends with a newline.
void write_json(text_sink& to, const nlohmann::ordered_json& value);
std::string json_text(const nlohmann::ordered_json& value);

/// The same on one line, with a newline at its end.
std::string json_line(const nlohmann::ordered_json& value);

/// A time that was taken, as milliseconds.
double milliseconds(nanoseconds ns);

/// A time that was worked out, such as a mean, as milliseconds to a thousandth of a nanosecond.
double milliseconds(double ns);

/// Null where there is no value.
template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// Text that is a number or a boolean as such, other text as a string.
nlohmann::ordered_json typed(const std::string& text);

}  // namespace graphline
