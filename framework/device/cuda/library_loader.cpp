#include "framework/device/cuda/library_loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split_at_colons(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The folders in `folder` whose names begin that way, in alphabetical order.
std::vector<fs::path> folders_in(const fs::path& folder, std::string_view beginning) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().string().starts_with(beginning) && entry->is_directory(ignored)) {
      found.push_back(entry->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The installations whose packages python3 finds. A virtual environment's python3 is a link to
/// that of another installation, which may share its packages.
std::vector<fs::path> python_prefixes() {
  std::vector<fs::path> prefixes;
  const auto add = [&](const fs::path& prefix) {
    if (prefix.empty() || std::find(prefixes.begin(), prefixes.end(), prefix) != prefixes.end()) {
      return;
    }
    prefixes.push_back(prefix);
  };
  add(environment("VIRTUAL_ENV"));
  for (const std::string& folder : split_at_colons(environment("PATH"))) {
    const fs::path program = fs::path(folder) / "python3";
    std::error_code error;
    if (!fs::exists(program, error)) continue;
    add(fs::path(folder).parent_path());
    const fs::path real = fs::canonical(program, error);
    if (!error) add(real.parent_path().parent_path());
    break;
  }
  const std::string home = environment("HOME");
  if (!home.empty()) add(fs::path(home) / ".local");
  // Debian's own Python has what pip installs apart from what apt installs.
  if (std::find(prefixes.begin(), prefixes.end(), fs::path("/usr")) != prefixes.end()) {
    add("/usr/local");
  }
  return prefixes;
}

/// The folders that NVIDIA's Python packages bring: nvidia/cudnn/lib, nvidia/cu13/lib.
std::vector<fs::path> python_package_folders() {
  std::vector<fs::path> found;
  for (const fs::path& prefix : python_prefixes()) {
    for (const fs::path& python : folders_in(prefix / "lib", "python3")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        for (const fs::path& package : folders_in(python / packages / "nvidia", "")) {
          std::error_code ignored;
          if (fs::is_directory(package / "lib", ignored)) found.push_back(package / "lib");
        }
      }
    }
  }
  return found;
}

std::string last_loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

/// The library, or null and what to say of the place.
void* open_in(const library_place& place, const std::string& name, std::string& trouble) {
  std::string path = name;
  if (!place.folder.empty()) {
    path = (fs::path(place.folder) / name).string();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      trouble = fmt::format("{} ({}): not there", place.folder, place.source);
      return nullptr;
    }
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) trouble = fmt::format("{}: {}", place.source, last_loader_error());
  return handle;
}

}  // namespace

shared_library::shared_library(std::string name, void* handle)
    : name_(std::move(name)), handle_(handle) {}

std::string shared_library::path() const {
  const link_map* loaded = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &loaded) != 0 || *loaded->l_name == '\0') return name_;
  return loaded->l_name;
}

void* shared_library::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) {
    throw run_error(fmt::format("{} has no function {}; a version that fits this program has one",
                                path(), name));
  }
  return found;
}

shared_library open_library(const std::string& name, std::span<const library_place> places,
                            const std::string& remedy) {
  std::string looked;
  for (const library_place& place : places) {
    std::string trouble;
    if (void* handle = open_in(place, name, trouble)) return shared_library(name, handle);
    looked += "\n  " + trouble;
  }
  throw run_error(fmt::format("{} cannot be opened. Looked for in{}\n{}", name, looked, remedy));
}

std::optional<shared_library> open_if_found(const std::string& name,
                                            std::span<const library_place> places) {
  for (const library_place& place : places) {
    std::string trouble;
    if (void* handle = open_in(place, name, trouble)) return shared_library(name, handle);
  }
  return std::nullopt;
}

std::vector<library_place> library_places() {
  std::vector<library_place> places;
  for (std::string& folder : split_at_colons(environment("GRAPHLINE_LIBRARY_PATH"))) {
    places.push_back({std::move(folder), "GRAPHLINE_LIBRARY_PATH"});
  }
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path folder = executable.parent_path();
    places.push_back({(folder / "lib").string(), "beside the program"});
    places.push_back({(folder.parent_path() / "lib").string(), "beside the program"});
  }
  places.push_back({"", "the system's loader"});
  places.push_back({"/usr/local/cuda/lib64", "the CUDA toolkit"});
  const std::string toolkit = environment("CUDA_PATH");
  if (!toolkit.empty()) places.push_back({toolkit + "/lib64", "CUDA_PATH"});
  for (const fs::path& folder : python_package_folders()) {
    places.push_back({folder.string(), "a Python package"});
  }
  return places;
}

}  // namespace graphline
