#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/stage/kind_manual.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "stages/builtin.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {
namespace {

struct stages_arguments {
  std::string kind;
  std::vector<std::string> plugins;
};

exit_status show_stages(const stages_arguments& given) {
  stage_registry registry = builtin_stages();
  for (const std::string& path : given.plugins) load_plugin(path, registry);
  if (given.kind.empty()) {
    print(stdout, list_kinds(registry, look_of(stdout).width));
    return exit_status::done;
  }
  const auto* kind = registry.find(given.kind);
  if (kind == nullptr) {
    throw input_error(
        fmt::format("unknown kind '{}'{}", given.kind, suggestion(given.kind, registry.names())));
  }
  print(stdout, describe_kind(*kind, look_of(stdout).width));
  return exit_status::done;
}

}  // namespace

void add_stages_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "stages", "List the stage kinds, or explain one");
  auto given = std::make_shared<stages_arguments>();
  command->add_option("KIND", given->kind, "A kind, such as network");
  command
      ->add_option("--plugin", given->plugins,
                   "A plug-in whose kinds to show too; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false)  // a KIND may follow
      ->take_all();
  command->callback([&chosen, given] { chosen = [given] { return show_stages(*given); }; });
}

}  // namespace graphline
