#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/schema.hpp"
#include "stages/nn/layers/layer_kind.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"

namespace graphline {
namespace {

struct schema_arguments {
  std::string file;
  std::vector<std::string> plugins;
};

std::string pipeline_schema_of(const stage_registry& registry) {
  std::vector<described_keys> kinds;
  for (const stage_kind* kind : registry.all()) {
    kinds.push_back({kind->name, kind->headline, kind->parameters});
  }
  std::vector<described_keys> layers;
  for (const nn::layer_kind& kind : nn::layer_kinds()) {
    layers.push_back({kind.name, kind.headline, parameters_of(kind)});
  }
  return pipeline_schema(kinds, layers);
}

exit_status print_schema(const schema_arguments& given) {
  const stage_registry registry = kinds_with(given.plugins);
  if (given.file == "pipeline") {
    fmt::print("{}", pipeline_schema_of(registry));
  } else if (given.file == "experiment") {
    fmt::print("{}", experiment_schema());
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
