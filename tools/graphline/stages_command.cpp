#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/report/render/kind_manual.hpp"
#include "framework/report/render/text_table.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct stages_arguments {
  std::string kind;
  std::vector<std::string> plugins;
};

exit_status show_stages(const stages_arguments& given) {
  const stage_registry registry = kinds_with(given.plugins);
  if (given.kind.empty()) {
    print(stdout, list_kinds(registry, style_of(stdout).width));
    return exit_status::done;
  }
  const auto* kind = registry.find(given.kind);
  if (kind == nullptr) {
    throw input_error(fmt::format("unknown kind {}{}", quote(given.kind),
                                  suggestion(given.kind, registry.names())));
  }
  print(stdout, describe_kind(*kind, style_of(stdout).width));
  return exit_status::done;
}

}  // namespace

void add_stages_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "stages", "List the stage kinds, or explain one");
  auto given = std::make_shared<stages_arguments>();
  command->add_option("KIND", given->kind, "A kind, such as network; default: list all kinds");
  add_plugin_option(*command, given->plugins, "show");
  command->callback([&chosen, given] { chosen = [given] { return show_stages(*given); }; });
}

namespace {

exit_status list_devices() {
  const terminal_style as = style_of(stdout);
  for (const auto& backend : builtin_devices().backends()) {
    std::string reason;
    const auto found = backend.list(reason);
    if (found.empty()) {
      const auto text = fmt::format("{:<8} none: {}", backend.name, reason);
      print(stdout, paragraph(text, 9, as));
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& device = found[i];
      const auto name = found.size() > 1 ? fmt::format("{}:{}", backend.name, i) : backend.name;
      auto line = fmt::format("{:<8} {}", name, device.name);
      if (device.memory_bytes) line += ", " + format_bytes(*device.memory_bytes);
      print(stdout, paragraph(line, 9, as));
      for (const auto& [key, value] : device.details) {
        print(stdout, paragraph(fmt::format("{:<8}   {}: {}", "", key, value), 13, as));
      }
    }
  }
  return exit_status::done;
}

}  // namespace

void add_devices_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "devices", "List the devices that stages can run on");
  command->callback([&chosen] { chosen = list_devices; });
}

}  // namespace graphline
