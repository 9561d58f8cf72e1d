#include "framework/spec/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "framework/base/units.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

using value = arguments::value;

template <class T>
std::optional<value> as_value(std::optional<T> read) {
  if (!read) return std::nullopt;
  return value(std::in_place_type<T>, std::move(*read));
}

std::optional<value> read_path(const node& n, const parameter& p, const std::string& directory,
                               diagnostics& out) {
  const auto text = read_text(n, p.name, out);
  if (!text) return std::nullopt;
  if (text->empty()) {
    out.error(n.where(), fmt::format("'{}' must be a path, found an empty text", p.name));
    return std::nullopt;
  }
  const std::filesystem::path written(*text);
  const auto path =
      n.where().on_command_line() ? written : std::filesystem::path(directory) / written;
  return value(path.lexically_normal().string());
}

/// Reads a number or one of the parameter's `choices`.
std::optional<value> read_integer_or_word(const node& n, const parameter& p, diagnostics& out) {
  if (p.choices.empty()) return as_value(read_integer(n, p.name, out));
  diagnostics ignored;
  if (const auto word = read_choice(n, p.name, p.choices, ignored)) return value(*word);
  if (const auto number = read_integer(n, p.name, ignored)) return value(*number);
  if (is_unresolved(n)) return std::nullopt;
  out.error(n.where(), fmt::format("'{}' must be a {}, found {}{}", p.name, describe_type(p),
                                   n.describe(), suggestion(n.text(), p.choices, 0)));
  return std::nullopt;
}

/// Reads a number, a list of numbers, or one of the parameter's `choices`.
std::optional<value> read_integers_or_word(const node& n, const parameter& p, diagnostics& out) {
  const bool is_word = !p.choices.empty() && n.is_scalar() && !is_unresolved(n) &&
                       n.text().find_first_of("0123456789") == std::string::npos;
  if (is_word) return as_value(read_choice(n, p.name, p.choices, out));
  return as_value(read_integers(n, p.name, out));
}

std::optional<value> read_typed(const node& n, const parameter& p, const std::string& directory,
                                diagnostics& out) {
  switch (p.type) {
    case parameter_type::integer:
      return read_integer_or_word(n, p, out);
    case parameter_type::number:
      return as_value(read_number(n, p.name, out));
    case parameter_type::boolean:
      return as_value(read_boolean(n, p.name, out));
    case parameter_type::text:
      return as_value(read_text(n, p.name, out));
    case parameter_type::choice:
      return as_value(read_choice(n, p.name, p.choices, out));
    case parameter_type::path:
      return read_path(n, p, directory, out);
    case parameter_type::duration:
      return as_value(read_duration(n, p.name, out));
    case parameter_type::integers:
      return read_integers_or_word(n, p, out);
    case parameter_type::numbers:
      return as_value(read_numbers(n, p.name, out));
    case parameter_type::shape:
      return as_value(read_shape(n, p.name, out));
    case parameter_type::element:
      return as_value(read_dtype(n, p.name, out));
    case parameter_type::tree:
      return is_unresolved(n) ? std::nullopt : std::optional(value(n));
    case parameter_type::percent:
      return as_value(read_percent(n, p.name, out));
  }
  throw std::logic_error(fmt::format("parameter '{}' has no type", p.name));
}

/// Returns a bound or value of the parameter as text.
std::string show(const parameter& p, double number) {
  return p.type == parameter_type::duration ? format_duration(number)
                                            : fmt::format("{:.15g}", number);
}

/// Returns "1 to 64" or ">= 0"; empty without bounds.
std::string range_of(const parameter& p) {
  if (p.minimum && p.maximum) {
    return fmt::format("{} to {}", show(p, *p.minimum), show(p, *p.maximum));
  }
  if (p.minimum) return ">= " + show(p, *p.minimum);
  return p.maximum ? "<= " + show(p, *p.maximum) : "";
}

bool in_range(const parameter& p, double number, const place& where, diagnostics& out) {
  const bool high_enough = !p.minimum || number >= *p.minimum;
  const bool low_enough = !p.maximum || number <= *p.maximum;
  if (high_enough && low_enough) return true;  // NaN is outside any bounds
  const bool or_word = p.type == parameter_type::integer && !p.choices.empty();
  out.error(where, fmt::format("'{}' must be {}, found {}", p.name,
                               or_word ? "a " + describe_type(p) : range_of(p), show(p, number)));
  return false;
}

/// Checks a number, or each number of a list, against the parameter's range.
bool check_range(const parameter& p, const value& v, const node& n, diagnostics& out) {
  return std::visit(
      [&](const auto& held) {
        using held_type = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<held_type, std::int64_t> ||
                      std::is_same_v<held_type, double>) {
          return in_range(p, static_cast<double>(held), n.where(), out);
        } else if constexpr (std::is_same_v<held_type, std::vector<std::int64_t>> ||
                             std::is_same_v<held_type, std::vector<double>>) {
          bool all = true;
          for (std::size_t i = 0; i < held.size(); ++i) {
            const place& where = n.is_sequence() ? n.items()[i].where() : n.where();
            all = in_range(p, static_cast<double>(held[i]), where, out) && all;
          }
          return all;
        } else {
          return true;
        }
      },
      v);
}

value read_default(const parameter& p, const std::string& directory) {
  diagnostics found;
  const auto text = std::make_shared<source_text>("default of '" + p.name + "'", *p.default_value);
  const node written = read_yaml(text, found);
  auto v = read_value(p, written, directory, found);
  if (!v || found.has_errors()) {
    throw std::logic_error("a stage kind states a default that its own parameter refuses: " +
                           found.render());
  }
  return std::move(*v);
}

}  // namespace

std::vector<std::string> names_of(const std::vector<parameter>& keys) {
  std::vector<std::string> names;
  for (const parameter& p : keys) names.push_back(p.name);
  return names;
}

const parameter* find_parameter(const std::vector<parameter>& keys, std::string_view name) {
  const auto found = std::ranges::find(keys, name, &parameter::name);
  return found == keys.end() ? nullptr : &*found;
}

std::optional<value> read_value(const parameter& p, const node& n, const std::string& directory,
                                diagnostics& out) {
  auto v = read_typed(n, p, directory, out);
  if (v && !check_range(p, *v, n, out)) return std::nullopt;
  return v;
}

std::string_view to_string(parameter_type type) noexcept {
  constexpr std::string_view names[] = {
      "whole number",  "number",  "true or false", "text",  "choice",    "path",      "duration",
      "whole numbers", "numbers", "shape",         "dtype", "structure", "percentage"};
  static_assert(std::size(names) == static_cast<std::size_t>(parameter_type::percent) + 1);
  return names[static_cast<std::size_t>(type)];
}

std::string describe_type(const parameter& p) {
  if (p.type == parameter_type::choice) return fmt::format("{}", fmt::join(p.choices, " | "));
  std::string text(p.structure.empty() ? to_string(p.type) : p.structure);
  if (const std::string range = range_of(p); !range.empty()) text += " " + range;
  for (const auto& word : p.choices) text += " or " + word;
  return text;
}

arguments bind_arguments(const std::vector<parameter>& schema, const node& given,
                         const std::string& owner, const place& owner_place,
                         const std::string& directory, diagnostics& out) {
  arguments bound;
  bound.set_owner(owner_place);

  // Null stands for an empty mapping, for example in `- gelu` without parameters.
  if (given.is_mapping()) {
    check_keys(given, owner, names_of(schema), out);
  } else if (!given.is_null()) {
    out.error(
        given.where() ? given.where() : owner_place,
        fmt::format("the parameters of {} must be a mapping, found {}", owner, given.describe()));
    return bound;
  }

  for (const parameter& p : schema) {
    if (p.default_value) bound.set(p.name, read_default(p, directory), owner_place);
    if (const node* written = given.find(p.name)) {
      if (auto v = read_value(p, *written, directory, out)) {
        bound.set(p.name, std::move(*v), written->where());
      }
    } else if (p.required) {
      out.error(owner_place, fmt::format("{} needs '{}' ({})", owner, p.name, describe_type(p)));
    }
  }
  return bound;
}

bool arguments::has(std::string_view name) const noexcept {
  return entries_.find(name) != entries_.end();
}

bool arguments::holds_text(std::string_view name) const noexcept {
  const auto found = entries_.find(name);
  return found != entries_.end() && std::holds_alternative<std::string>(found->second.v);
}

const arguments::value& arguments::held(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second.v;
  throw std::logic_error(fmt::format("argument '{}' is absent: ask has() first", name));
}

void arguments::refuse_type(std::string_view name) {
  throw std::logic_error(fmt::format("argument '{}' is of another type", name));
}

place arguments::where(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? owner_ : found->second.where;
}

void arguments::set(std::string name, value v, place where) {
  entries_.insert_or_assign(std::move(name), entry{std::move(v), std::move(where)});
}

}  // namespace graphline
