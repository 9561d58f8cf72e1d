#include "tools/graphline/common_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <string>

#include "framework/stage/plugin_loader.hpp"
#include "stages/builtin.hpp"

namespace graphline {

CLI::Validator in_range(std::int64_t least, std::int64_t most) {
  return CLI::Range(least, most).description("");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("");
}

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "auto, host, cuda or cuda:N")
      ->type_name("DEVICE")
      ->capture_default_str();
}

void add_quiet_option(CLI::App& command, bool& quiet) {
  command.add_flag("-q,--quiet", quiet,
                   "No table and no progress: files, warnings and errors only");
}

void add_no_plugins_option(CLI::App& command, plugin_use& use) {
  command.add_flag_callback(
      "--no-plugins", [&use] { use = plugin_use::refuse; },
      "Refuse a pipeline that names plug-ins, which are code: run none of it");
}

void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins,
                       const std::string& what) {
  command
      .add_option("--plugin", plugins,
                  fmt::format("A plug-in whose kinds to {} too; may be given again", what))
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->take_all();
}

stage_registry kinds_with(const std::vector<std::string>& plugins) {
  stage_registry kinds = builtin_stages();
  for (const std::string& path : plugins) load_plugin(path, kinds);
  return kinds;
}

}  // namespace graphline
