#pragma once

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/file/text_sink.hpp"

namespace graphline {

/// JSON on one line, written value by value: for what is written while an experiment runs, where a
/// tree made first would cost more than the text.
class compact_json {
 public:
  /// For `take`.
  compact_json() = default;

  /// Hands what is written on to `to`, the last of it in `finish`.
  explicit compact_json(text_sink& to) : to_(&to) {}

  /// What `open` begins, `close` ends: '{' and '}' or '[' and ']'.
  compact_json& open(char bracket);
  compact_json& close(char bracket);

  /// Of an object's next value. `name` holds nothing that must be escaped.
  compact_json& key(std::string_view name);

  /// Bytes that are not UTF-8 become U+FFFD.
  compact_json& value(std::string_view text);
  compact_json& value(const char* text) { return value(std::string_view(text)); }
  compact_json& value(const std::string& text) { return value(std::string_view(text)); }

  template <std::integral T>
  compact_json& value(T number) {
    if constexpr (std::same_as<T, bool>) {
      return plain(number ? "true" : "false");
    } else {
      const fmt::format_int digits(number);
      return plain({digits.data(), digits.size()});
    }
  }

  /// The shortest text that reads back as the same double; "nan", "inf" or "-inf", in quotes, for
  /// what JSON has no number for.
  compact_json& value(double number);

  template <class T>
  compact_json& value(const std::optional<T>& item) {
    return item ? value(*item) : plain("null");
  }

  /// A list of [name, text], in which names may come twice.
  compact_json& value(const std::vector<std::pair<std::string, std::string>>& texts);

  template <class T>
  compact_json& value(const std::vector<T>& list) {
    open('[');
    for (const auto& item : list) value(item);
    return close(']');
  }

  template <class T>
  compact_json& member(std::string_view name, const T& item) {
    return key(name).value(item);
  }

  std::string take() { return std::move(text_); }
  void finish() { to_->append(std::exchange(text_, {})); }

 private:
  compact_json& plain(std::string_view text);
  void separate();

  std::string text_;  ///< where it is handed on, what is not yet: what was written last at least
  text_sink* to_ = nullptr;
};

}  // namespace graphline
