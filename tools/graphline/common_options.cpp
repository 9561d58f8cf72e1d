#include "tools/graphline/common_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "framework/base/utf8.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "stages/builtin.hpp"

namespace graphline {
namespace {

template <class T>
CLI::Validator in_range(std::string_view what, T least, T most) {
  const auto check = [what, least, most](const std::string& text) -> std::string {
    T value{};
    const char* const past = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), past, value);
    const bool read = status == std::errc() && end == past;
    if (read && value >= least && value <= most) return {};
    return fmt::format("must be {} from {} to {}, found {}", what, least, most, quote(text));
  };
  return {check, ""};
}

}  // namespace

CLI::Validator whole_number_from(std::int64_t least, std::int64_t most) {
  return in_range("a whole number", least, most);
}

CLI::Validator number_from(double least, double most) {
  return in_range("a number", least, most);
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
