#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/machine.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

/// The folders of the process's group, from the line "0::/pod/task" of /proc/self/cgroup, and of
/// those above it. Seen from within a container, its group is the root.
std::vector<fs::path> group_folders(const fs::path& root) {
  std::vector<fs::path> folders = {root / "sys/fs/cgroup"};
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    const auto group = fs::path(line.substr(4)).lexically_normal();
    if (group.string().starts_with("..")) break;  // outside of what the container sees
    for (const auto& part : group) folders.push_back(folders.back() / part);
  }
  return folders;
}

/// Where there is a number; "max" is none.
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

std::int64_t statistic(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  std::string key;
  for (std::int64_t value = 0; file >> key >> value;) {
    if (key == name) return value;
  }
  return 0;
}

template <class Value>
void take_least(std::optional<Value>& least, Value value) {
  least = std::min(least.value_or(value), value);
}

}  // namespace

cgroup_limits read_cgroup_limits(const fs::path& root) {
  cgroup_limits limits;
  for (const auto& folder : group_folders(root)) {
    if (const auto limit = number_in(folder / "memory.max")) {
      const auto used = number_in(folder / "memory.current").value_or(0) -
                        statistic(folder / "memory.stat", "inactive_file");
      const auto left = std::clamp<std::int64_t>(*limit - used, 0, *limit);
      take_least(limits.memory_bytes, static_cast<std::uint64_t>(*limit));
      take_least(limits.memory_bytes_left, static_cast<std::uint64_t>(left));
    }
    // "150000 100000": microseconds in a period of as many.
    std::ifstream cpus(folder / "cpu.max");
    double quota = 0;
    double period = 0;
    if (cpus >> quota >> period && period > 0) take_least(limits.cpus, quota / period);
  }
  return limits;
}

}  // namespace graphline
