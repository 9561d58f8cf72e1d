#include "tools/graphline/parameter_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/parameter_substitution.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

/// A bound as a whole number where it is one, as people write it.
json bound(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? json(whole) : json(value);
}

json number_schema(const parameter& p, const char* type) {
  json schema{{"type", type}};
  if (p.minimum) schema["minimum"] = bound(*p.minimum);
  if (p.maximum) schema["maximum"] = bound(*p.maximum);
  return schema;
}

/// `one`, or a list of such.
json one_or_list(const json& one) {
  return {{"anyOf", {one, {{"type", "array"}, {"items", one}}}}};
}

json or_reference(json schema, references how) {
  if (how == references::refused) return schema;
  return {{"anyOf", {std::move(schema), definition("reference")}}};
}

/// The value alone, without what is said about its key.
json value_schema(const parameter& p, references how) {
  const auto list_of = [&](json one) {
    json schema = one_or_list(or_reference(std::move(one), how));
    for (const auto& word : p.choices) schema["anyOf"].push_back({{"const", word}});
    return schema;
  };
  switch (p.type) {
    case parameter_type::integer:
      return or_reference(number_schema(p, "integer"), how);
    case parameter_type::number:
      return or_reference(number_schema(p, "number"), how);
    case parameter_type::boolean:
      return or_reference({{"enum", {true, false, "on", "off"}}}, how);
    case parameter_type::text:
      return definition("text");
    case parameter_type::path:
      return definition("path");
    case parameter_type::choice:
      return or_reference({{"enum", p.choices}}, how);
    case parameter_type::duration:
      return or_reference(definition("duration"), how);
    case parameter_type::percent:
      return or_reference(definition("percentage"), how);
    case parameter_type::integers:
      return list_of(number_schema(p, "integer"));
    case parameter_type::numbers:
      return list_of(number_schema(p, "number"));
    case parameter_type::shape:
      return list_of({{"type", "integer"}, {"minimum", 1}});
    case parameter_type::element:
      return or_reference({{"enum", dtype_names()}}, how);
    case parameter_type::tree:
      return p.structure.empty() ? json::object() : definition(p.structure);
  }
  return {};
}

json scalar(const parameter& p, const node& n) {
  diagnostics ignored;
  if (const auto whole = read_integer(n, p.name, ignored)) return *whole;
  if (const auto number = read_number(n, p.name, ignored)) return *number;
  if (p.type == parameter_type::boolean) {
    if (const auto truth = read_boolean(n, p.name, ignored)) return *truth;
  }
  return n.text();
}

json default_of(const parameter& p) {
  diagnostics ignored;
  const node n =
      read_yaml(std::make_shared<source_text>("default of " + p.name, *p.default_value), ignored);
  if (!n.is_sequence()) return scalar(p, n);
  json list = json::array();
  for (const node& item : n.items()) list.push_back(scalar(p, item));
  return list;
}

/// {cuda: 32, host: 1}
json per_backend() {
  json schema{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", false}};
  for (const std::string& backend : parameter_backends()) {
    schema["properties"][backend] = definition("value");
  }
  return schema;
}

/// As messages call the type, with the unit of a number and the words of a dtype.
std::string type_in_words(const parameter& p) {
  if (p.type == parameter_type::element) return fmt::format("{}", fmt::join(dtype_names(), " | "));
  const bool has_unit = !p.unit.empty() && p.type != parameter_type::duration;
  return describe_type(p) + (has_unit ? ", " + p.unit : "");
}

}  // namespace

std::string definition_name(std::string_view words) {
  std::string name(words);
  std::ranges::replace(name, ' ', '_');
  return name;
}

json definition(std::string_view words) {
  return {{"$ref", "#/definitions/" + definition_name(words)}};
}

json schema_of(const parameter& p, references how) {
  json schema{{"description", p.help}};
  schema["$comment"] = type_in_words(p);
  if (p.default_value) schema["default"] = default_of(p);
  json value = value_schema(p, how);
  if (value.contains("$ref"))
    value = {{"allOf", json::array({value})}};  // beside it nothing else would count
  schema.update(value);
  return schema;
}

json mapping_schema(const std::vector<parameter>& keys, references how) {
  json schema{{"type", "object"}, {"additionalProperties", false}};
  for (const parameter& p : keys) {
    if (p.required) schema["required"].push_back(p.name);
    schema["properties"][p.name] = schema_of(p, how);
  }
  return schema;
}

json or_nothing(json mapping) {
  mapping["type"] = {"object", "null"};
  return mapping;
}

json common_definitions(references how) {
  // What a name is made of, as framework/spec/node_reading.cpp has it.
  const std::string name =
      R"((?!\.\.?$)[^\u0000-,/:-@\[-^`{-\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]+$)";
  const std::string amount = R"(^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *)";
  // What YAML takes for a number or a truth value may be a text all the same.
  const json scalar{{"type", {"string", "number", "boolean"}}};
  const auto text = [&](json more) {
    more.update(scalar);
    return more;
  };
  auto all = json::object();
  all["text"] = scalar;
  all["path"] = text({{"minLength", 1}});
  all["label"] = text({{"pattern", "[^ ]"}, {"maxLength", 100}});
  all["identifier"] = text({{"pattern", "^" + name}, {"maxLength", 100}});
  all["name"] = or_reference(definition("identifier"), how);
  all["duration"] = {{"type", "string"}, {"pattern", amount + "(ns|us|µs|ms|s|min)$"}};
  all["percentage"] = {{"type", "string"}, {"pattern", amount + "%$"}};
  all["value"] = one_or_list(scalar);
  all["value"]["anyOf"][1]["items"] = definition("value");  // lists of lists too
  all["value_of_a_parameter"] = {{"anyOf", {definition("value"), per_backend()}}};
  all["mapping_of_parameters"] = {{"type", {"object", "null"}},
                                  {"propertyNames", definition("identifier")},
                                  {"additionalProperties", definition("value of a parameter")}};
  if (how == references::allowed) {
    all["reference"] = {{"description", "The value of a parameter of this file"},
                        {"type", "string"},
                        {"pattern", R"(^\$)" + name}};
  }
  return all;
}

}  // namespace graphline
