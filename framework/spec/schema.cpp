#include "framework/spec/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/configuration_reader.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/parameter_substitution.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

/// Allows or refuses "$NAME" in place of a value. Pipelines allow it, experiments refuse it.
enum class references { allowed, refused };

/// Returns the name of a definition in the schema, such as "list_of_stages" for "list of stages".
std::string definition_name(std::string_view words) {
  std::string name(words);
  std::ranges::replace(name, ' ', '_');
  return name;
}

json definition(std::string_view words) {
  return {{"$ref", "#/definitions/" + definition_name(words)}};
}

/// Returns a bound, without a decimal point if it is a whole number.
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

/// Returns the schema of a value with the schema `one`, or of a list of such values.
json one_or_list(const json& one) {
  return {{"anyOf", {one, {{"type", "array"}, {"items", one}}}}};
}

json or_reference(json schema, references how) {
  if (how == references::refused) return schema;
  return {{"anyOf", {std::move(schema), definition("reference")}}};
}

/// Returns the schema of a key's value, without the key's help and default.
json value_schema(const parameter& p, references how) {
  const auto list_of = [&](json one) {
    json schema = one_or_list(or_reference(std::move(one), how));
    for (const auto& word : p.choices) schema["anyOf"].push_back({{"const", word}});
    return schema;
  };
  switch (p.type) {
    case parameter_type::integer:
      if (p.choices.empty()) return or_reference(number_schema(p, "integer"), how);
      return or_reference({{"anyOf", {number_schema(p, "integer"), {{"enum", p.choices}}}}}, how);
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

/// Returns the schema of a value such as {cuda: 32, host: 1}.
json per_backend() {
  json schema{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", false}};
  for (const std::string& backend : parameter_backends()) {
    schema["properties"][backend] = definition("value");
  }
  return schema;
}

/// Returns the type as in messages, with the unit of a number and the words of a dtype.
std::string type_in_words(const parameter& p) {
  if (p.type == parameter_type::element) return fmt::format("{}", fmt::join(dtype_names(), " | "));
  const bool has_unit = !p.unit.empty() && p.type != parameter_type::duration;
  return describe_type(p) + (has_unit ? ", " + p.unit : "");
}

/// Returns the JSON Schema (draft 7) of a key's value, with the key's help, type and default.
json schema_of(const parameter& p, references how) {
  json schema{{"description", p.help}};
  schema["$comment"] = type_in_words(p);
  if (p.default_value) schema["default"] = default_of(p);
  json value = value_schema(p, how);
  if (value.contains("$ref"))
    value = {{"allOf", json::array({value})}};  // keys beside "$ref" are ignored
  schema.update(value);
  return schema;
}

/// Returns the schema of a mapping with these keys and no others.
json mapping_schema(const std::vector<parameter>& keys, references how) {
  json schema{{"type", "object"}, {"additionalProperties", false}};
  for (const parameter& p : keys) {
    if (p.required) schema["required"].push_back(p.name);
    schema["properties"][p.name] = schema_of(p, how);
  }
  return schema;
}

/// Extends the schema of a mapping to allow null, such as "run:" without a value.
json or_nothing(json mapping) {
  mapping["type"] = {"object", "null"};
  return mapping;
}

/// Returns the definitions that both kinds of file share: texts, names, durations, values.
json common_definitions(references how) {
  // The characters of a name, as in `is_name`.
  const std::string name =
      R"((?!\.\.?$)[^\u0000-,/:-@\[-^`{-\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]+$)";
  const std::string amount = R"(^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *)";
  // YAML may read a text as a number or boolean, so all three types are allowed.
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
  all["duration"] = {{"type", "string"}, {"pattern", amount + "(ns|us|\u00b5s|\u03bcs|ms|s|min)$"}};
  all["percentage"] = {{"type", "string"}, {"pattern", amount + "%$"}};
  all["value"] = one_or_list(scalar);
  all["value"]["anyOf"][1]["items"] = definition("value");  // allows nested lists
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

json file_schema(const char* title, const std::vector<parameter>& keys, references how) {
  json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  schema.update(mapping_schema(keys, how));
  schema["patternProperties"]["^x-"] = {
      {"description", "The writer's own, for YAML anchors; not looked at."}};
  schema["definitions"] = common_definitions(how);
  return schema;
}

json titled_schema(const described_keys& of) {
  json schema{{"title", of.name}, {"description", of.headline}};
  schema.update(mapping_schema(of.keys, references::allowed));
  return schema;
}

/// Adds the schema of a stage: the keys of all stages and the keys of its kind.
void add_stages(json& definitions, const std::vector<described_keys>& kinds) {
  json stage = mapping_schema(stage_keys(), references::allowed);
  stage.erase("additionalProperties");  // the schema of each kind refuses other keys
  json names = json::array();
  for (const described_keys& kind : kinds) {
    json schema = titled_schema(kind);
    for (const parameter& p : stage_keys()) schema["properties"][p.name] = true;
    definitions[definition_name("kind " + kind.name)] = std::move(schema);
    names.push_back(kind.name);
    stage["allOf"].push_back(
        {{"if", {{"required", {"kind"}}, {"properties", {{"kind", {{"const", kind.name}}}}}}},
         {"then", definition("kind " + kind.name)}});
  }
  json& kind = stage["properties"]["kind"];
  kind.erase("allOf");
  kind["anyOf"] = {{{"enum", std::move(names)}}, definition("text")};
  definitions["stage"] = std::move(stage);
}

/// Adds the schema of a layer: a mapping from its name to its parameters, or just the name.
void add_layers(json& definitions, const std::vector<described_keys>& layers) {
  json mapping{{"type", "object"},
               {"minProperties", 1},
               {"maxProperties", 1},
               {"additionalProperties", false}};
  json words = json::array();
  for (const described_keys& kind : layers) {
    json schema = titled_schema(kind);
    if (!schema.contains("required")) {
      words.push_back(kind.name);
      schema["type"] = {"object", "null"};
    }
    definitions[definition_name("layer " + kind.name)] = schema;
    mapping["properties"][kind.name] = definition("layer " + kind.name);
  }
  definitions["layer"] = {{"if", {{"type", "object"}}},
                          {"then", mapping},
                          {"else", {{"anyOf", {{{"enum", words}}, definition("reference")}}}}};
  definitions["list_of_layers"] = json::parse(R"({"anyOf": [
      {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/layer"}},
      {"$ref": "#/definitions/reference"}]})");
}

/// Returns the schema of a configuration's values: run settings and parameters by name. `wrapped`
/// turns the schema of one value into the schema of its key.
template <class Wrap>
json values_by_name(Wrap wrapped) {
  json schema{{"type", "object"}, {"propertyNames", definition("identifier")}};
  for (const parameter& p : run_keys()) {
    schema["properties"][p.name] =
        wrapped({{"$ref", "#/definitions/mapping_of_settings/properties/" + p.name}});
  }
  schema["additionalProperties"] = wrapped(definition("value of a parameter"));
  return schema;
}

/// Returns the schema of an experiment's run settings, which have no defaults.
json settings_schema(std::vector<parameter> keys) {
  for (parameter& p : keys) p.default_value.reset();
  return or_nothing(mapping_schema(keys, references::refused));
}

json configuration_schema() {
  json schema = mapping_schema(configuration_keys(), references::refused);
  const json values = values_by_name([](json value) { return value; });
  schema["properties"].update(values["properties"]);
  schema["additionalProperties"] = values["additionalProperties"];
  return schema;
}

}  // namespace

std::string pipeline_schema(const std::vector<described_keys>& kinds,
                            const std::vector<described_keys>& layers) {
  json schema = file_schema("A pipeline of Graphline", pipeline_keys(), references::allowed);
  json& all = schema["definitions"];
  all.update(json::parse(R"({
    "name_or_list_of_names": {"anyOf": [
      {"$ref": "#/definitions/name"},
      {"type": "array", "items": {"$ref": "#/definitions/name"}}]},
    "name_or_mapping_of_names": {"anyOf": [
      {"$ref": "#/definitions/name"},
      {"type": "object", "additionalProperties": {"$ref": "#/definitions/name"}}]},
    "name_or_list_or_mapping_of_names": {"anyOf": [
      {"$ref": "#/definitions/name_or_list_of_names"},
      {"type": "object", "additionalProperties": {"$ref": "#/definitions/name"}}]},
    "path_or_list_of_paths": {"anyOf": [
      {"$ref": "#/definitions/path"}, {"type": "null"},
      {"type": "array", "items": {"$ref": "#/definitions/path"}}]},
    "mapping_of_devices": {
      "type": "object",
      "minProperties": 1,
      "propertyNames": {"$ref": "#/definitions/identifier"},
      "additionalProperties": {"anyOf": [
        {"$ref": "#/definitions/text"}, {"$ref": "#/definitions/device"}]}},
    "mapping_of_inputs": {
      "type": ["object", "null"],
      "propertyNames": {"$ref": "#/definitions/identifier"},
      "additionalProperties": {"$ref": "#/definitions/input"}},
    "list_of_stages": {
      "type": "array", "minItems": 1, "items": {"$ref": "#/definitions/stage"}}})"));
  all["mapping_of_settings"] = or_nothing(mapping_schema(run_keys(), references::allowed));
  all["device"] = mapping_schema(device_keys(), references::allowed);
  all["input"] = mapping_schema(input_keys(), references::allowed);
  add_stages(all, kinds);
  add_layers(all, layers);
  return schema.dump(1) + '\n';
}

std::string experiment_schema() {
  json schema = file_schema("An experiment of Graphline", experiment_keys(), references::refused);
  json& all = schema["definitions"];
  all["mapping_of_settings"] = settings_schema(run_keys());
  all["mapping_of_values"] = values_by_name([](json value) { return value; });
  all["mapping_of_values"]["minProperties"] = 1;
  all["mapping_to_lists_of_values"] = values_by_name([](json value) {
    return json{
        {"type", "array"}, {"minItems", 1}, {"uniqueItems", true}, {"items", std::move(value)}};
  });
  all["mapping_to_lists_of_values"]["minProperties"] = 1;
  all["configuration"] = configuration_schema();
  all["member"] = mapping_schema(member_keys(), references::refused);
  all.update(json::parse(R"({
    "name_or_mapping_of_values": {"anyOf": [
      {"$ref": "#/definitions/text"}, {"$ref": "#/definitions/mapping_of_values"}]},
    "list_of_mappings_of_values": {
      "type": "array", "items": {"$ref": "#/definitions/mapping_of_values"}},
    "list_of_configurations": {
      "type": "array", "minItems": 1, "items": {"$ref": "#/definitions/configuration"}},
    "list_of_members": {
      "type": "array", "minItems": 2, "items": {"$ref": "#/definitions/member"}},
    "stages_of_a_chain": {
      "type": "array", "minItems": 2, "items": {"$ref": "#/definitions/text"}},
    "mapping_of_chains": {
      "type": ["object", "null"], "propertyNames": {"$ref": "#/definitions/label"},
      "additionalProperties": {"anyOf": [
        {"$ref": "#/definitions/stages_of_a_chain"},
        {"type": "object", "additionalProperties": false, "required": ["stages"], "properties": {
          "stages": {"$ref": "#/definitions/stages_of_a_chain"},
          "age": {"$ref": "#/definitions/duration"},
          "reaction": {"$ref": "#/definitions/duration"}}}]}}})"));
  return schema.dump(1) + '\n';
}

}  // namespace graphline
