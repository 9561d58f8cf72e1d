#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/parameter.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// Returns a key that takes the words of an enumeration.
template <class T>
parameter word_key(std::string name, std::string help, std::optional<T> initial = {}) {
  parameter key{.name = std::move(name), .type = parameter_type::choice, .help = std::move(help)};
  key.choices = word_list<T>();
  if (initial) key.default_value = std::string(to_word(*initial));
  return key;
}

/// Returns a key of type `tree`. `structure` is explained in `parameter`.
inline parameter structure_key(std::string name, std::string structure, std::string help) {
  return {.name = std::move(name),
          .type = parameter_type::tree,
          .help = std::move(help),
          .structure = std::move(structure)};
}

inline parameter required(parameter key) {
  key.required = true;
  return key;
}

/// A key that sets a member of a struct.
template <class Struct>
struct setting {
  parameter key;
  std::function<void(Struct&, const arguments::value&)> store;
};

/// Returns the setting that stores to `member`. An enumeration, boolean or integer gives the key's
/// type and choices; its initial value gives the default. A text is YAML, which its owner parses.
template <class Struct, class Member>
setting<Struct> setting_of(Member Struct::*member, parameter key) {
  const Member initial = Struct{}.*member;
  if constexpr (std::is_enum_v<Member>) {
    return {word_key(key.name, key.help, std::optional(initial)),
            [member](Struct& to, const arguments::value& v) {
              to.*member = from_word<Member>(std::get<std::string>(v)).value();
            }};
  } else if constexpr (std::is_same_v<Member, bool>) {
    key.type = parameter_type::boolean;
    key.default_value = initial ? "on" : "off";
    return {std::move(key),
            [member](Struct& to, const arguments::value& v) { to.*member = std::get<bool>(v); }};
  } else if constexpr (std::is_integral_v<Member>) {
    key.type = parameter_type::integer;
    key.default_value = std::to_string(initial);
    return {std::move(key), [member](Struct& to, const arguments::value& v) {
              to.*member = static_cast<Member>(std::get<std::int64_t>(v));
            }};
  } else if constexpr (std::is_same_v<Member, std::string>) {
    key.type = parameter_type::tree;
    key.default_value = initial;
    return {std::move(key), [member](Struct& to, const arguments::value& v) {
              const node& given = std::get<node>(v);
              to.*member = given.is_scalar() ? given.text() : given.in_one_line();
            }};
  } else if constexpr (std::is_same_v<Member, stream_choice>) {
    key.type = parameter_type::integer;
    key.choices = word_list<stream_rule>();
    key.default_value = std::string(to_word(initial.rule));
    return {std::move(key), [member](Struct& to, const arguments::value& v) {
              const auto* word = std::get_if<std::string>(&v);
              to.*member = word != nullptr ? Member{from_word<stream_rule>(*word).value()}
                                           : Member{.at_most = std::get<std::int64_t>(v)};
            }};
  } else {  // an optional member: `key` gives the type, and there is no default
    return {std::move(key), [member](Struct& to, const arguments::value& v) {
              to.*member = std::get<typename Member::value_type>(v);
            }};
  }
}

template <class Struct>
std::vector<parameter> keys_of(const std::vector<setting<Struct>>& table) {
  std::vector<parameter> keys;
  for (const setting<Struct>& s : table) keys.push_back(s.key);
  return keys;
}

}  // namespace graphline
