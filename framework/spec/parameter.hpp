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

/// Type of a parameter or key, with its C++ type in `arguments`.
enum class parameter_type {
  integer,   ///< std::int64_t
  number,    ///< double
  boolean,   ///< bool
  text,      ///< std::string
  choice,    ///< std::string, one of `choices`
  path,      ///< std::string; relative to the file's folder or, in an option, the working directory
  duration,  ///< nanoseconds, written with a unit: 20ms
  integers,  ///< std::vector<std::int64_t>; a single number is a list of one
  numbers,   ///< std::vector<double>; a single number is a list of one
  shape,     ///< graphline::shape
  element,   ///< dtype
  tree,      ///< node, parsed by its owner
  percent,   ///< double, written with a percent sign: 0.01 for 1%
};

/// Returns the name of the type, as `graphline stages` and messages show it: "whole number",
/// "duration".
std::string_view to_string(parameter_type type) noexcept;

/// A parameter of a stage kind, or a key of a mapping in a file.
struct parameter {
  std::string name;
  parameter_type type = parameter_type::integer;
  std::string help;                               ///< one sentence
  std::optional<std::string> default_value = {};  ///< YAML text; unset if there is no default
  bool required = false;
  std::string unit = {};               ///< "px"; empty for none
  std::optional<double> minimum = {};  ///< lower bound of a number or of each number in a list
  std::optional<double> maximum = {};
  /// Words of a `choice`. For `integer` and `integers`, words accepted instead and stored as text.
  std::vector<std::string> choices = {};
  /// The one backend on which the parameter has an effect; empty for all backends.
  std::string only_on = {};
  /// Name of a `tree`'s structure in `graphline schema`: "list of stages". Empty if unrestricted.
  std::string structure = {};
};

std::vector<std::string> names_of(const std::vector<parameter>& keys);

/// Returns the parameter with this name, or null.
const parameter* find_parameter(const std::vector<parameter>& keys, std::string_view name);

/// Returns the type with its choices or range: "whole number >= 1", "high | normal | low", "number
/// 0 to 1", "whole numbers >= 0 or same".
std::string describe_type(const parameter& p);

/// Checked, typed parameter values.
class arguments {
 public:
  using value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                             std::vector<double>, graphline::shape, dtype, node>;

  /// Returns true if the parameter was given or has a default.
  bool has(std::string_view name) const noexcept;

  /// Returns true if the value is text, for example a word of an `integers` parameter.
  bool holds_text(std::string_view name) const noexcept;

  // Each throws std::logic_error if the parameter is absent or has another type.
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  double number(std::string_view name) const { return get<double>(name); }
  bool boolean(std::string_view name) const { return get<bool>(name); }
  /// For parameters of type text, choice and path.
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

  /// Returns the place of a value, or of the stage or layer if the value is a default.
  place where(std::string_view name) const;

  /// Returns the place of the stage or layer.
  const place& where() const noexcept { return owner_; }

  /// Compares values and places.
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

/// Reads a value and checks its type and range. Empty after an error. Joins a relative path to
/// `directory` unless it comes from an option.
std::optional<arguments::value> read_value(const parameter& p, const node& n,
                                           const std::string& directory, diagnostics& out);

/// Reads the mapping `given` and reports unknown keys, wrong types, missing required keys and
/// values out of range. `owner` is the stage or layer in messages: "stage 'head' (network)". An
/// invalid parameter keeps its default or is absent. For `directory`, see `read_value`.
arguments bind_arguments(const std::vector<parameter>& schema, const node& given,
                         const std::string& owner, const place& owner_place,
                         const std::string& directory, diagnostics& out);

}  // namespace graphline
