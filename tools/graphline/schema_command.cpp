#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/configuration_reader.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "stages/network/layer_kind.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/parameter_schema.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

/// What stands at the top of both kinds of file.
json file_schema(const char* title, const std::vector<parameter>& keys, references how) {
  json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  schema.update(mapping_schema(keys, how));
  schema["patternProperties"]["^x-"] = {
      {"description", "The writer's own, for YAML anchors; not looked at."}};
  schema["definitions"] = common_definitions(how);
  return schema;
}

/// A stage of one kind: the keys of every stage, which the definition of stages describes, and its
/// parameters.
json kind_schema(const stage_kind& kind) {
  json schema{{"title", kind.name}, {"description", kind.headline}};
  schema.update(mapping_schema(kind.parameters, references::allowed));
  for (const parameter& p : stage_keys()) schema["properties"][p.name] = true;
  return schema;
}

json stage_schema(const stage_registry& registry) {
  json schema = mapping_schema(stage_keys(), references::allowed);
  schema.erase("additionalProperties");  // what else there may be, the kind says
  json& kind = schema["properties"]["kind"];
  kind.erase("allOf");
  kind["anyOf"] = {{{"enum", registry.names()}}, definition("text")};
  for (const std::string& name : registry.names()) {
    schema["allOf"].push_back(
        {{"if", {{"required", {"kind"}}, {"properties", {{"kind", {{"const", name}}}}}}},
         {"then", definition("kind " + name)}});
  }
  return schema;
}

/// The layers by name: a mapping of one of them to its parameters, or the name alone of one that
/// needs none.
void add_layers(json& definitions) {
  json mapping{{"type", "object"},
               {"minProperties", 1},
               {"maxProperties", 1},
               {"additionalProperties", false}};
  json words = json::array();
  for (const layer_kind& kind : layer_kinds()) {
    json schema{{"title", kind.name}, {"description", kind.headline}};
    schema.update(mapping_schema(parameters_of(kind), references::allowed));
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

/// The settings of a run and what a parameter takes, each under its name, as a configuration has
/// them. `wrapped` is given what one value may be.
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

/// Settings in an experiment, which are as in the pipeline's file where they are left out.
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

/// The JSON Schema (draft 7) of pipeline files, with the parameters of the kinds in `registry`. A
/// file that names plug-ins may use any other kind too.
json pipeline_schema(const stage_registry& registry) {
  json schema = file_schema("A pipeline of Graphline", pipeline_keys(), references::allowed);
  json& all = schema["definitions"];
  all.update(json::parse(R"({
    "name_or_list_of_names": {"anyOf": [
      {"$ref": "#/definitions/name"},
      {"type": "array", "items": {"$ref": "#/definitions/name"}}]},
    "path_or_list_of_paths": {"anyOf": [
      {"$ref": "#/definitions/path"}, {"type": "null"},
      {"type": "array", "items": {"$ref": "#/definitions/path"}}]},
    "mapping_of_inputs": {
      "type": ["object", "null"],
      "propertyNames": {"$ref": "#/definitions/identifier"},
      "additionalProperties": {"$ref": "#/definitions/input"}},
    "list_of_stages": {
      "type": "array", "minItems": 1, "items": {"$ref": "#/definitions/stage"}}})"));
  all["mapping_of_settings"] = or_nothing(mapping_schema(run_keys(), references::allowed));
  all["input"] = mapping_schema(input_keys(), references::allowed);
  all["stage"] = stage_schema(registry);
  for (const stage_kind* kind : registry.all()) {
    all[definition_name("kind " + kind->name)] = kind_schema(*kind);
  }
  add_layers(all);
  // Without plug-ins there are no other kinds.
  json known = json::parse(R"({"properties": {"stages": {"items": {"properties": {}}}}})");
  known["properties"]["stages"]["items"]["properties"]["kind"] = {
      {"anyOf", {{{"enum", registry.names()}}, definition("reference")}}};
  schema["if"] = {{"required", {"plugins"}}};
  schema["else"] = known;
  return schema;
}

/// That of experiment files.
json experiment_schema() {
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
      "type": "array", "minItems": 2, "items": {"$ref": "#/definitions/member"}}})"));
  schema["allOf"] = json::parse(R"([
    {"if": {"required": ["together"]},
     "then": {"properties": {}},
     "else": {"required": ["pipeline"],
              "oneOf": [{"required": ["vary"]}, {"required": ["configurations"]}]}},
    {"if": {"required": ["configurations"]},
     "then": {"properties": {"exclude": false, "baseline": {"$ref": "#/definitions/text"}}},
     "else": {"properties": {"baseline": {"$ref": "#/definitions/mapping_of_values"}}}}])");
  for (const std::string& key : keys_not_beside_together()) {
    schema["allOf"][0]["then"]["properties"][key] = false;
  }
  return schema;
}

struct schema_arguments {
  std::string file;
  std::vector<std::string> plugins;
};

exit_status print_schema(const schema_arguments& given) {
  const stage_registry registry = kinds_with(given.plugins);
  if (given.file == "pipeline") {
    fmt::print("{}\n", pipeline_schema(registry).dump(1));
  } else if (given.file == "experiment") {
    fmt::print("{}\n", experiment_schema().dump(1));
  } else {
    throw input_error(fmt::format("there is no schema of '{}'{}", given.file,
                                  suggestion(given.file, {"pipeline", "experiment"})));
  }
  return exit_status::done;
}

}  // namespace

void add_schema_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "schema", "Print the JSON Schema of a kind of file, for editors");
  auto given = std::make_shared<schema_arguments>();
  command->add_option("FILE", given->file, "pipeline or experiment")
      ->required()
      ->type_name("pipeline|experiment");
  add_plugin_option(*command, given->plugins, "describe");
  command->callback([&chosen, given] { chosen = [given] { return print_schema(*given); }; });
}

}  // namespace graphline
