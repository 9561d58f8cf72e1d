#include "framework/base/cache_folder.hpp"

#include <cstdlib>

namespace graphline {

namespace {

namespace fs = std::filesystem;

/// The folder that a variable names; empty when it names none.
fs::path folder_from(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path cache_folder() {
  if (const fs::path own = folder_from("GRAPHLINE_CACHE"); !own.empty()) return own;
  if (const fs::path caches = folder_from("XDG_CACHE_HOME"); !caches.empty()) {
    return caches / "graphline";
  }
  const fs::path home = folder_from("HOME");
  return home.empty() ? home : home / ".cache" / "graphline";
}

}  // namespace graphline
