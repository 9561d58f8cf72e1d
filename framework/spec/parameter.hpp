#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// What a parameter or a key of a file holds, and how `arguments` hands it out.
enum class parameter_type {
  integer,  ///< std::int64_t
  number,   ///< double
  boolean,  ///< bool
  text,     ///< std::string
  choice,   ///< std::string, one of `choices`
  path,     ///< std::string, relative ones joined to their file's folder unless an option gave them
  duration,  ///< nanoseconds, written with a unit: 20ms
  integers,  ///< std::vector<std::int64_t>; a single number counts as a list of one
  numbers,   ///< std::vector<double>; likewise
  shape,     ///< graphline::shape
  element,   ///< dtype
  tree,      ///< node, left to its owner to read
  percent,   ///< double, written with its sign: 0.01 for 1%
};

/// How the type is called in `graphline stages` and in messages: "whole number", "duration", ...
std::string_view to_string(parameter_type type) noexcept;

/// A parameter that a stage kind states about itself, or a key of a mapping in a file.
struct parameter {
  std::string name;
  parameter_type type = parameter_type::integer;
  std::string help;                               ///< one sentence
  std::optional<std::string> default_value = {};  ///< as YAML text; unset, not required: absent
  bool required = false;
  std::string unit = {};               ///< "px"; empty for none
  std::optional<double> minimum = {};  ///< of a number, or of each in a list
  std::optional<double> maximum = {};
  /// Of a `choice`; of `integers` the words that may stand in their place, kept as a text.
  std::vector<std::string> choices = {};
  /// The backend on which alone it changes something; empty for all.
  std::string only_on = {};
  /// Of a `tree`: what it is made of, such as "list of stages", which the schemas of
  /// `graphline schema` define. Empty: anything.
  std::string structure = {};
};

/// The names of a mapping's keys, in order.
std::vector<std::string> names_of(const std::vector<parameter>& keys);

/// The one of that name, or null.
const parameter* find_parameter(const std::vector<parameter>& keys, std::string_view name);

/// The type with its choices or range, as manuals and messages put it: "whole number >= 1",
/// "high | normal | low", "number 0 to 1", "whole numbers >= 0 or same".
std::string describe_type(const parameter& p);

/// Checked, typed values for parameters.
class arguments {
 public:
  using value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                             std::vector<double>, graphline::shape, dtype, node>;

  /// Whether the parameter was given or has a default.
  bool has(std::string_view name) const noexcept;

  /// Whether it is there and a text, as a word in the place of integers is.
  bool holds_text(std::string_view name) const noexcept;

  // Each throws std::logic_error when the kind states no such parameter of that type, or it is
  // absent.
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  double number(std::string_view name) const { return get<double>(name); }
  bool boolean(std::string_view name) const { return get<bool>(name); }
  /// Of text, choice and path.
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  nanoseconds duration(std::string_view name) const { return get<nanoseconds>(name); }
  const std::vector<std::int64_t>& integers(std::string_view name) const {
    return get<std::vector<std::int64_t>>(name);
  }
  const std::vector<double>& numbers(std::string_view name) const {
    return get<std::vector<double>>(name);
  }
  const graphline::shape& extents(std::string_view name) const {
    return get<graphline::shape>(name);
  }
  dtype element(std::string_view name) const { return get<dtype>(name); }
  const node& tree(std::string_view name) const { return get<node>(name); }

  /// Where the value was written; for a default, where the stage or layer was.
  place where(std::string_view name) const;

  /// Where the stage or layer itself was written.
  const place& where() const noexcept { return owner_; }

  /// Whether the same values were written at the same places.
  bool operator==(const arguments&) const = default;

  void set(std::string name, value v, place where);
  void set_owner(place where) { owner_ = std::move(where); }

 private:
  struct entry {
    value v;
    place where;
    bool operator==(const entry&) const = default;
  };
  template <class T>
  const T& get(std::string_view name) const {
    const T* of_type = std::get_if<T>(&held(name));
    if (of_type == nullptr) refuse_type(name);
    return *of_type;
  }
  const value& held(std::string_view name) const;
  [[noreturn]] static void refuse_type(std::string_view name);

  std::map<std::string, entry, std::less<>> entries_;
  place owner_;
};

/// Reads one value: its type and its range. What is wrong goes to `out`, and the answer is nothing.
/// Relative paths are joined to `directory`, unless an option gave them.
std::optional<arguments::value> read_value(const parameter& p, const node& n,
                                           const std::string& directory, diagnostics& out);

/// Checks `given` (a mapping) against `schema`: unknown keys with a suggestion, wrong types,
/// missing required ones, values out of range. `owner` names what they belong to in messages
/// ("stage 'head' (network)"). Relative paths are joined as by `read_value`. Everything wrong goes
/// to `out`; parameters that were wrong are absent from the result, or at their default. A default
/// that does not satisfy its own parameter is a mistake of the kind: std::logic_error.
arguments bind_arguments(const std::vector<parameter>& schema, const node& given,
                         const std::string& owner, const place& owner_place,
                         const std::string& directory, diagnostics& out);

}  // namespace graphline
