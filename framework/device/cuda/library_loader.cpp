#include "framework/device/cuda/library_loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>
#include <link.h>

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

/// Returns the library folders of NVIDIA's Python packages (nvidia/cudnn/lib) in VIRTUAL_ENV,
/// ~/.local and the installations on PATH.
std::vector<std::string> python_package_folders() {
  std::vector<fs::path> prefixes = {environment("VIRTUAL_ENV"), environment("HOME") + "/.local"};
  for (const std::string& folder : split_at_colons(environment("PATH"))) {
    prefixes.push_back(fs::path(folder).parent_path());
  }
  std::vector<std::string> found;
  for (const fs::path& prefix : prefixes) {
    if (prefix.empty()) continue;
    const std::string pattern = prefix / "lib/python3*/*-packages/nvidia/*/lib";
    glob_t matches{};
    if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
      found.insert(found.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    }
    ::globfree(&matches);
  }
  return found;
}

std::string last_loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

/// Opens the library. On failure, returns null and sets `trouble`.
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
  if (const auto opened = open_if_found(name, places, &looked)) return *opened;
  throw run_error(fmt::format("{} cannot be opened. Looked for in{}\n{}", name, looked, remedy));
}

std::optional<shared_library> open_if_found(const std::string& name,
                                            std::span<const library_place> places,
                                            std::string* looked) {
  for (const library_place& place : places) {
    std::string trouble;
    if (void* handle = open_in(place, name, trouble)) return shared_library(name, handle);
    if (looked != nullptr) *looked += "\n  " + trouble;
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
  for (std::string& folder : python_package_folders()) {
    places.push_back({std::move(folder), "a Python package"});
  }
  return places;
}

}  // namespace graphline
