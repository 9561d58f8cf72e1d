// The commands that describe this program: stages, policies, devices and schema.

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
#include "framework/plan/policies/policies.hpp"
#include "framework/report/render/kind_manual.hpp"
#include "framework/report/render/text_table.hpp"
#include "framework/spec/schema.hpp"
#include "stages/nn/layers/layer_kind.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct list_arguments {
  std::string subject;  ///< a stage kind, a policy or a kind of file
  std::vector<std::string> plugins;
};

exit_status show_stages(const list_arguments& given) {
  const stage_registry registry = kinds_with(given.plugins);
  if (given.subject.empty()) {
    print(stdout, list_kinds(registry, style_of(stdout).width));
    return exit_status::done;
  }
  const auto* kind = registry.find(given.subject);
  if (kind == nullptr) {
    throw input_error(fmt::format("unknown kind {}{}", quote(given.subject),
                                  suggestion(given.subject, registry.names())));
  }
  print(stdout, describe_kind(*kind, style_of(stdout).width));
  return exit_status::done;
}

exit_status show_policies(const list_arguments& given) {
  const stage_registry registry = kinds_with(given.plugins);
  const auto known = all_policies(registry);
  const std::size_t width = style_of(stdout).width;
  if (given.subject.empty()) {
    print(stdout, list_policies(known, width));
    return exit_status::done;
  }
  const policy_kind* kind = find_policy(known, given.subject);
  if (kind == nullptr) {
    throw input_error(fmt::format("unknown policy {}{}", quote(given.subject),
                                  policy_suggestion(known, given.subject)));
  }
  print(stdout, describe_policy(*kind, width));
  return exit_status::done;
}

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

exit_status print_schema(const list_arguments& given) {
  const stage_registry registry = kinds_with(given.plugins);
  if (given.subject == "pipeline") {
    print(stdout, pipeline_schema_of(registry));
  } else if (given.subject == "experiment") {
    print(stdout, experiment_schema());
  } else {
    throw input_error(fmt::format("there is no schema of '{}'{}", given.subject,
                                  suggestion(given.subject, {"pipeline", "experiment"})));
  }
  return exit_status::done;
}

}  // namespace

void add_stages_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "stages", "List the stage kinds, or explain one");
  auto given = std::make_shared<list_arguments>();
  command->add_option("KIND", given->subject, "A kind, such as network; default: list all kinds");
  add_plugin_option(*command, given->plugins, "show");
  command->callback([&chosen, given] { chosen = [given] { return show_stages(*given); }; });
}

void add_policies_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "policies", "List the scheduling policies, or explain one");
  auto given = std::make_shared<list_arguments>();
  command->add_option("NAME", given->subject,
                      "A policy, such as deadline; default: list all policies");
  add_plugin_option(*command, given->plugins, "show");
  command->callback([&chosen, given] { chosen = [given] { return show_policies(*given); }; });
}

void add_devices_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "devices", "List the devices that stages can run on");
  command->callback([&chosen] { chosen = list_devices; });
}

void add_schema_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "schema", "Print the JSON Schema of a kind of file, for editors");
  auto given = std::make_shared<list_arguments>();
  command->add_option("FILE", given->subject, "pipeline or experiment")
      ->required()
      ->type_name("pipeline|experiment");
  add_plugin_option(*command, given->plugins, "describe");
  command->callback([&chosen, given] { chosen = [given] { return print_schema(*given); }; });
}

}  // namespace graphline
