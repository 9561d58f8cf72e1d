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

/// Says which key an object lacks.
class missing_key : public input_error {
 public:
  using input_error::input_error;
};

/// A value somewhere in a JSON text that was read, with the way to it, so that whatever is missing
/// or of the wrong kind can be named: "members[0].stages[2].device.begin". The text must outlive
/// it. Everything throws an `input_error` that names the place.
class json_part {
 public:
  /// `name`: what the whole is called in messages.
  json_part(const nlohmann::ordered_json& whole, std::string name)
      : value_(&whole), where_(std::move(name)) {}

  const std::string& where() const noexcept { return where_; }
  const nlohmann::ordered_json& json() const noexcept { return *value_; }

  /// The value of an object's key; throws `missing_key` where it lacks that.
  json_part at(std::string_view key) const;

  /// The value of an object's key; nothing where it is missing or null.
  std::optional<json_part> find(std::string_view key) const;

  /// The values of a list, in order.
  std::vector<json_part> items() const;

  const std::string& text() const;
  bool boolean() const;
  double number() const;  ///< "nan", "inf" and "-inf" among them

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
      // The way to an item is made only for a message: columns are long.
      result.push_back(number ? *number : items()[result.size()].template whole<T>());
    }
    return result;
  }

  /// A list of [name, text], or an object of texts, in its order.
  std::vector<std::pair<std::string, std::string>> pairs() const;

  /// A word of the language.
  template <class T>
  T word() const {
    if (const auto value = from_word<T>(text())) return *value;
    fail("a word that this program knows");
  }

  /// Throws: the place, what was expected there and what there is.
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
