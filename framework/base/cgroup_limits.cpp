#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/machine.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

/// A hierarchy of groups: where it is mounted, and which of its groups is there.
struct mounted_groups {
  bool version_2 = false;
  fs::path group;  ///< at the mount point
  fs::path at;
};

/// The names of the files of one version.
struct file_names {
  const char* limit;
  const char* used;
  const char* cache;  ///< of `memory.stat`: of the used bytes, what is given back when asked for
};
constexpr file_names version_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file"};
constexpr file_names version_2 = {"memory.max", "memory.current", "inactive_file"};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream from(text);
  for (std::string part; std::getline(from, part, at);) parts.push_back(part);
  return parts;
}

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// The hierarchy with a controller of version 1, or that of version 2, from lines such as
/// "32 31 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory".
std::vector<mounted_groups> mounted_with(const fs::path& root, std::string_view controller) {
  std::vector<mounted_groups> found;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const auto words = split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (dash - words.begin() < 5 || words.end() - dash < 4) continue;
    const bool second = dash[1] == "cgroup2";
    if (!second && (dash[1] != "cgroup" || !holds(split(dash[3], ','), controller))) continue;
    found.push_back({second, words[3], root / fs::path(words[4]).relative_path()});
  }
  return found;
}

/// The group of this process, from lines such as "6:memory:/docker/4f1" and, of version 2, "0::/".
std::optional<fs::path> own_group(const fs::path& root, bool second, std::string_view controller) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto next = first == line.npos ? line.npos : line.find(':', first + 1);
    if (next == line.npos) continue;
    const std::string names = line.substr(first + 1, next - first - 1);
    if (second ? names.empty() : holds(split(names, ','), controller)) {
      return line.substr(next + 1);
    }
  }
  return std::nullopt;
}

/// The folders of the process's group and of those above it, up to the mount point. A group that
/// lies elsewhere, seen from within a container, is the one that is mounted.
std::vector<fs::path> folders_of(const fs::path& root, const mounted_groups& mounted,
                                 std::string_view controller) {
  std::vector<fs::path> folders = {mounted.at};
  const auto group = own_group(root, mounted.version_2, controller);
  if (!group) return folders;
  const fs::path below = group->lexically_relative(mounted.group);
  if (below.empty() || *below.begin() == "..") return folders;
  for (const auto& part : below) {
    if (part != ".") folders.push_back(folders.back() / part);
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

/// Version 1 says so much where there is no limit.
constexpr std::int64_t without_limit = std::int64_t{1} << 60;

template <class Value>
void take_least(std::optional<Value>& least, Value value) {
  least = std::min(least.value_or(value), value);
}

void add_memory(cgroup_limits& to, const fs::path& folder, const file_names& names) {
  const auto limit = number_in(folder / names.limit);
  if (!limit || *limit < 0 || *limit >= without_limit) return;
  const std::int64_t used =
      number_in(folder / names.used).value_or(0) - statistic(folder / "memory.stat", names.cache);
  take_least(to.memory_bytes, static_cast<std::uint64_t>(*limit));
  take_least(to.memory_bytes_left,
             static_cast<std::uint64_t>(std::clamp<std::int64_t>(*limit - used, 0, *limit)));
}

/// "150000 100000", or a file for each of these: microseconds in a period of as many.
void add_cpus(cgroup_limits& to, const fs::path& folder, bool second) {
  std::optional<std::int64_t> quota;
  std::optional<std::int64_t> period;
  if (second) {
    std::ifstream file(folder / "cpu.max");
    std::int64_t numbers[2] = {};
    if (file >> numbers[0] >> numbers[1]) quota = numbers[0], period = numbers[1];
  } else {
    quota = number_in(folder / "cpu.cfs_quota_us");
    period = number_in(folder / "cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return;
  take_least(to.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
}

}  // namespace

cgroup_limits read_cgroup_limits(const fs::path& root) {
  cgroup_limits limits;
  for (const auto& mounted : mounted_with(root, "memory")) {
    for (const auto& folder : folders_of(root, mounted, "memory")) {
      add_memory(limits, folder, mounted.version_2 ? version_2 : version_1);
    }
  }
  for (const auto& mounted : mounted_with(root, "cpu")) {
    for (const auto& folder : folders_of(root, mounted, "cpu")) {
      add_cpus(limits, folder, mounted.version_2);
    }
  }
  return limits;
}

}  // namespace graphline
