#include "framework/device/cuda/library_loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

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

}  // namespace graphline
