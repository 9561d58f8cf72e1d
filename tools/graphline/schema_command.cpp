#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "stages/builtin.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/file_schema.hpp"

namespace graphline {
namespace {

struct schema_arguments {
  std::string file;
  std::vector<std::string> plugins;
};

exit_status print_schema(const schema_arguments& given) {
  stage_registry registry = builtin_stages();
  for (const std::string& path : given.plugins) load_plugin(path, registry);
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
  command
      ->add_option("--plugin", given->plugins,
                   "A plug-in whose kinds to describe too; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false)  // pipeline or experiment may follow
      ->take_all();
  command->callback([&chosen, given] { chosen = [given] { return print_schema(*given); }; });
}

}  // namespace graphline
