#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/words.hpp"

namespace graphline {

class missing_key : public input_error {
 public:
  using input_error::input_error;
};

/// A value in parsed JSON, and its path for messages: "members[0].stages[2].device.begin".
/// @pre the parsed JSON outlives this
/// @throws input_error with the path, from every function
class json_part {
 public:
  json_part(const nlohmann::ordered_json& whole, std::string name)
      : value_(&whole), where_(std::move(name)) {}

  const std::string& where() const noexcept { return where_; }
  const nlohmann::ordered_json& json() const noexcept { return *value_; }

  /// Returns the value of an object's key. @throws missing_key
  json_part at(std::string_view key) const;

  /// Returns the value of an object's key; empty if the key is missing or the value is null.
  std::optional<json_part> find(std::string_view key) const;

  std::vector<json_part> items() const;

  const std::string& text() const;
  bool boolean() const;
  double number() const;  ///< accepts "nan", "inf" and "-inf"

  template <std::integral T>
  T whole() const {
    if (const auto number = whole_of<T>(*value_)) return *number;
    fail(std::is_signed_v<T> ? "a whole number" : "a whole number that is not negative");
  }

  template <std::integral T>
  std::vector<T> wholes() const {
    std::vector<T> result;
    result.reserve(list().size());
    for (const auto& item : list()) {
      const auto number = whole_of<T>(item);
      // Columns are long, so the path of an item is built only for a message.
      result.push_back(number ? *number : items()[result.size()].template whole<T>());
    }
    return result;
  }

  /// Returns pairs, in order, from a list of [name, text] or from an object of texts.
  std::vector<std::pair<std::string, std::string>> pairs() const;

  /// Returns the enumerator that the text names.
  template <class T>
  T word() const {
    if (const auto value = from_word<T>(text())) return *value;
    fail("a word that this program knows");
  }

  /// @throws input_error with the path, what was expected, and the value
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  template <std::integral T>
  static std::optional<T> whole_of(const nlohmann::ordered_json& value) {
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      if (std::in_range<T>(number)) return static_cast<T>(number);
    } else if (value.is_number_integer()) {
      const auto number = value.get<std::int64_t>();
      if (std::in_range<T>(number)) return static_cast<T>(number);
    }
    return std::nullopt;
  }
  const nlohmann::ordered_json::array_t& list() const;

  const nlohmann::ordered_json* value_;
  std::string where_;
};

}  // namespace graphline
