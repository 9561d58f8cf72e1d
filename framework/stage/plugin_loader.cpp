#include "framework/stage/plugin_loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/stage/plugin_description.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

using register_function = void (*)(stage_registry&);

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw input_error(fmt::format("plug-in '{}' {}", path, why));
}

std::string checked_file(const std::string& path) {
  std::error_code problem;
  const fs::path file = fs::canonical(path, problem);
  if (problem == std::errc::no_such_file_or_directory) {
    refuse(path,
           fmt::format("is not there{}; build it first, or correct the path", suggest_file(path)));
  }
  if (problem) refuse(path, "cannot be reached: " + problem.message());
  if (!fs::is_regular_file(file, problem)) {
    refuse(path, "is not a regular file; a shared library is expected");
  }
  return file.string();
}

/// Returns the reason that the last dlopen failed, without a leading "FILE: ".
std::string loader_message(const std::string& file) {
  const char* said = ::dlerror();
  std::string message = said != nullptr ? said : "no reason given";
  if (message.starts_with(file + ": ")) message.erase(0, file.size() + 2);
  return message;
}

template <std::size_t N>
std::string_view text_in(const char (&field)[N]) {
  return {field, ::strnlen(field, N)};
}

/// Refuses a plug-in that was built for another plug-in ABI or with another compiler.
void check_description(const std::string& path, const plugin_description& found) {
  const auto compiler = text_in(found.compiler);
  if (found.abi == plugin_abi && compiler == plugin_compiler) return;
  refuse(path, fmt::format("was built for plug-in ABI {} ({}) of Graphline {}, this program has "
                           "plug-in ABI {} ({}) of Graphline {}: build it again with this "
                           "program's compiler and headers",
                           found.abi, compiler, text_in(found.graphline), plugin_abi,
                           plugin_compiler, version()));
}

constexpr std::string_view no_plugin =
    "is no Graphline plug-in: it has no GRAPHLINE_PLUGIN(registry) {...} of "
    "framework/stage/plugin.hpp";

/// Opens the library, checks that it fits this program and returns the function that adds its
/// kinds. Never closes the library, because that would unload the code of the kinds.
register_function open_library(const std::string& path, const std::string& file) {
  // RTLD_NOW reports missing symbols here. RTLD_LOCAL hides symbols from other plug-ins.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    refuse(path, fmt::format("cannot be loaded: {}; build it again against this version, and see "
                             "what 'ldd -r {}' says",
                             loader_message(file), path));
  }
  const void* const described = ::dlsym(library, "graphline_plugin");
  if (described == nullptr) refuse(path, no_plugin);
  const auto& description = *static_cast<const plugin_description*>(described);
  if (std::string_view(description.magic, sizeof description.magic) != plugin_magic) {
    refuse(path, no_plugin);
  }
  check_description(path, description);
  void* const registers = ::dlsym(library, "graphline_register_kinds");
  if (registers == nullptr) refuse(path, no_plugin);
  return reinterpret_cast<register_function>(registers);
}

/// Returns a plug-in's kinds in a separate registry, so that a failed registration adds none.
stage_registry kinds_of(const std::string& path, const std::string& file) {
  const register_function register_kinds = open_library(path, file);
  stage_registry kinds;
  try {
    register_kinds(kinds);
  } catch (...) {
    refuse(path, fmt::format("failed to register its kinds: {}", reason_of_caught()));
  }
  if (kinds.all().empty() && kinds.policies().empty()) {
    refuse(path, "brings neither stage kinds nor policies: its GRAPHLINE_PLUGIN adds none");
  }
  return kinds;
}

}  // namespace

void load_plugin(const std::string& path, stage_registry& registry) {
  const std::string file = checked_file(path);
  const auto loaded = registry.all();
  const auto& policies = registry.policies();
  if (std::ranges::find(loaded, file, &stage_kind::origin) != loaded.end()) return;
  if (std::ranges::any_of(policies, [&](const auto& p) { return p.second.origin == file; })) return;

  const stage_registry kinds = kinds_of(path, file);
  for (const stage_kind* kind : kinds.all()) {
    if (registry.find(kind->name) == nullptr) continue;
    refuse(path,
           fmt::format("brings the kind '{}', a name that another kind has; give it another name",
                       kind->name));
  }
  for (const auto& [name, kind] : kinds.policies()) {
    if (!registry.policies().contains(name)) continue;
    refuse(path,
           fmt::format("brings the policy '{}', a name that another policy has; give it another "
                       "name",
                       name));
  }
  for (auto [name, kind] : kinds.policies()) {
    kind.origin = file;
    registry.add(std::move(kind));
  }
  for (const stage_kind* kind : kinds.all()) {
    stage_kind added = *kind;
    added.origin = file;
    registry.add(std::move(added));
  }
}

bool load_plugins(const pipeline_spec& spec, stage_registry& registry, diagnostics& out,
                  plugin_use use) {
  bool all = true;
  for (const named& plugin : spec.plugins) {
    if (use == plugin_use::refuse) {
      out.error(plugin.place,
                fmt::format("plug-in {} is code, which --no-plugins keeps from running; leave the "
                            "option out once you trust it",
                            quote(plugin.text, 200)));
      all = false;
      continue;
    }
    try {
      const fs::path written = plugin.text;  // an absolute path stays unchanged
      const auto path =
          plugin.place.on_command_line() ? written : fs::path(spec.directory) / written;
      load_plugin(path.lexically_normal().string(), registry);
    } catch (const input_error& e) {
      out.error(plugin.place, e.what());
      all = false;
    }
  }
  return all;
}

}  // namespace graphline
