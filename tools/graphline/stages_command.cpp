#include <fmt/format.h>

#include <memory>
#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/stage/kind_manual.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/pipeline_options.hpp"

namespace graphline {
namespace {

exit_status show_stages(const std::string& name) {
  const auto& registry = known_stages();
  if (name.empty()) {
    fmt::print("{}", list_kinds(registry));
    return exit_status::done;
  }
  const auto* kind = registry.find(name);
  if (kind == nullptr) {
    throw input_error(fmt::format("unknown kind '{}'{}", name, suggestion(name, registry.names())));
  }
  fmt::print("{}", describe_kind(*kind));
  return exit_status::done;
}

}  // namespace

void add_stages_command(CLI::App& program, action& chosen) {
  auto* command = program.add_subcommand("stages", "List the stage kinds, or explain one");
  auto name = std::make_shared<std::string>();
  command->add_option("KIND", *name, "A kind, such as network");
  command->callback([&chosen, name] { chosen = [name] { return show_stages(*name); }; });
}

}  // namespace graphline
