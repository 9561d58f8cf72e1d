#include "framework/base/near_file.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include "framework/base/diagnostic.hpp"

namespace graphline {

namespace fs = std::filesystem;

std::string near_file(const std::string& path) {
  constexpr std::size_t most_neighbours = 1000;  // files looked at for a name to suggest
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(folder, ignored);
       entry != fs::directory_iterator() && names.size() < most_neighbours;
       entry.increment(ignored)) {
    if (entry->is_regular_file(ignored)) names.push_back(entry->path().filename().string());
  }
  // The names of a folder are no vocabulary: they are not listed when none is near.
  return suggestion(wanted.filename().string(), names, 0);
}

}  // namespace graphline
