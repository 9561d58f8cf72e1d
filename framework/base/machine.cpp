#include "framework/base/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace graphline {
namespace {

namespace fs = std::filesystem;

/// Returns an entry of /proc/meminfo in bytes; empty if it is missing.
std::optional<std::uint64_t> meminfo_bytes(const fs::path& root, std::string_view key) {
  std::ifstream file(root / "proc/meminfo");
  for (std::string name; file >> name; file.ignore(std::numeric_limits<int>::max(), '\n')) {
    std::uint64_t kibibytes = 0;
    if (name == key && file >> kibibytes) return kibibytes * 1024;
  }
  return std::nullopt;
}

/// Returns the minimum of the known values; empty if both are unknown.
std::optional<std::uint64_t> least(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  return a && b ? std::min(a, b) : std::max(a, b);
}

bool keep_to(const ::cpu_set_t& cpus) noexcept {
  return ::sched_setaffinity(0, sizeof cpus, &cpus) == 0;
}

fs::path folder_from(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

int usable_cores() {
  int cores = static_cast<int>(affinity_cpus().size());
  // `affinity_cpus()` is empty if the machine has more CPUs than a `cpu_set_t` can represent.
  if (cores == 0) cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  static const std::optional<double> quota = read_cgroup_limits().cpus;
  if (quota && *quota < cores) cores = std::max(1, static_cast<int>(*quota));
  return cores;
}

std::optional<std::uint64_t> total_memory(const fs::path& root) {
  return least(meminfo_bytes(root, "MemTotal:"), read_cgroup_limits(root).memory_bytes);
}

std::optional<std::uint64_t> available_memory(const fs::path& root) {
  return least(meminfo_bytes(root, "MemAvailable:"), read_cgroup_limits(root).memory_bytes_left);
}

cpu_set affinity_cpus() {
  cpu_set result;
  ::cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return result;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) result.push_back(cpu);
  }
  return result;
}

std::string in_ranges(const cpu_set& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
    if (last > i) text += fmt::format("-{}", cpus[last]);
    i = last + 1;
  }
  return text;
}

cpu_split split_cpus(const cpu_set& usable, int compute_threads, const cpu_set& taken) {
  constexpr std::size_t few = 4;
  const auto computing = static_cast<std::size_t>(compute_threads);
  cpu_set free;
  std::ranges::set_difference(usable, taken, std::back_inserter(free));
  if (usable.size() > few || usable.size() <= computing || free.size() < computing) return {};
  cpu_split split;
  split.device = {free.end() - compute_threads, free.end()};
  std::ranges::set_difference(usable, split.device, std::back_inserter(split.others));
  return split;
}

cpu_set usable_cpus() {
  auto cpus = affinity_cpus();
  if (static_cast<int>(cpus.size()) != usable_cores()) cpus.clear();
  return cpus;
}

scoped_cpu_affinity::scoped_cpu_affinity(const cpu_set& cpus) noexcept {
  if (cpus.empty()) return;
  ::cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) before_ = set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  refused_ = !keep_to(set);
}

scoped_cpu_affinity::~scoped_cpu_affinity() {
  if (before_) static_cast<void>(keep_to(*before_));
}

fs::path cache_folder() {
  if (const fs::path own = folder_from("GRAPHLINE_CACHE"); !own.empty()) return own;
  if (const fs::path caches = folder_from("XDG_CACHE_HOME"); !caches.empty()) {
    return caches / "graphline";
  }
  const fs::path home = folder_from("HOME");
  return home.empty() ? home : home / ".cache" / "graphline";
}

namespace {

bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto entry = list.substr(0, list.find(','));
    if (entry == word) return true;
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
  }
  return false;
}

/// Returns the cgroup of this process: "pod/task" for the line "4:memory:/pod/task" of
/// /proc/self/cgroup. `controller` is empty for cgroup version 2.
std::optional<fs::path> group_of_process(const fs::path& root, std::string_view controller) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(":/", first + 1);
    if (first == line.npos || second == line.npos) continue;
    const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : lists(controllers, controller)) {
      return fs::path(line.substr(second + 2)).lexically_normal();
    }
  }
  return std::nullopt;
}

struct mounted_hierarchy {
  fs::path group;  ///< group at the root of the mount, for example "pod" in a container
  fs::path folder;
};

/// Returns where a hierarchy is mounted (/proc/self/mountinfo), by default under /sys/fs/cgroup.
mounted_hierarchy mount_of(const fs::path& root, std::string_view controller) {
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    // "35 31 0:32 /pod /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory"
    const auto dash = line.find(" - ");
    if (dash == line.npos) continue;
    std::istringstream place(line);
    std::istringstream what(line.substr(dash + 3));
    std::string skipped, group, folder, type, options;
    place >> skipped >> skipped >> skipped >> group >> folder;
    what >> type >> skipped >> options;
    const bool found =
        controller.empty() ? type == "cgroup2" : type == "cgroup" && lists(options, controller);
    if (!found || !group.starts_with('/') || !folder.starts_with('/')) continue;
    return {group.substr(1), root / folder.substr(1)};
  }
  return {"", root / "sys/fs/cgroup" / controller};
}

/// Returns the folders of this process's group and of its visible ancestors, outermost first.
std::vector<fs::path> group_folders(const fs::path& root, std::string_view controller) {
  const auto group = group_of_process(root, controller);
  const auto mount = mount_of(root, controller);
  std::vector<fs::path> folders = {mount.folder};
  if (!group) return folders;
  const auto below = mount.group.empty() ? *group : group->lexically_relative(mount.group);
  if (below.empty() || below.string().starts_with("..")) return folders;  // outside the mount
  for (const auto& part : below) {
    if (part != ".") folders.push_back(folders.back() / part);
  }
  return folders;
}

/// Returns the number in a file; empty for "max" or an unreadable file.
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// Returns the value of `name` in a file with lines "name value"; empty if it is missing.
std::optional<std::int64_t> statistic(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  std::string key;
  for (std::int64_t value = 0; file >> key >> value;) {
    if (key == name) return value;
  }
  return std::nullopt;
}

template <class Value>
void take_least(std::optional<Value>& least, Value value) {
  least = std::min(least.value_or(value), value);
}

/// Lowers `limits` to those of a group. `used` includes `cached`, the reclaimable page cache.
void limit_memory(cgroup_limits& limits, std::optional<std::int64_t> limit,
                  std::optional<std::int64_t> used, std::optional<std::int64_t> cached) {
  constexpr std::int64_t none = std::int64_t{1} << 62;  // version 1: no limit
  if (!limit || *limit < 0 || *limit >= none) return;
  const auto left =
      std::clamp<std::int64_t>(*limit - used.value_or(0) + cached.value_or(0), 0, *limit);
  take_least(limits.memory_bytes, static_cast<std::uint64_t>(*limit));
  take_least(limits.memory_bytes_left, static_cast<std::uint64_t>(left));
}

void limit_cpus(cgroup_limits& limits, double quota, double period) {
  if (quota > 0 && period > 0) take_least(limits.cpus, quota / period);
}

}  // namespace

cgroup_limits read_cgroup_limits(const fs::path& root) {
  cgroup_limits limits;
  for (const auto& folder : group_folders(root, "")) {
    limit_memory(limits, number_in(folder / "memory.max"), number_in(folder / "memory.current"),
                 statistic(folder / "memory.stat", "inactive_file"));
    // "150000 100000": quota and period in microseconds.
    std::ifstream cpus(folder / "cpu.max");
    double quota = 0;
    double period = 0;
    if (cpus >> quota >> period) limit_cpus(limits, quota, period);
  }
  for (const auto& folder : group_folders(root, "memory")) {
    const auto used = number_in(folder / "memory.usage_in_bytes");
    const auto cached = statistic(folder / "memory.stat", "total_inactive_file");
    limit_memory(limits, number_in(folder / "memory.limit_in_bytes"), used, cached);
    // This value includes the limits of ancestors that are not visible.
    limit_memory(limits, statistic(folder / "memory.stat", "hierarchical_memory_limit"), used,
                 cached);
  }
  for (const auto& folder : group_folders(root, "cpu")) {
    const auto quota = number_in(folder / "cpu.cfs_quota_us");
    const auto period = number_in(folder / "cpu.cfs_period_us");
    limit_cpus(limits, static_cast<double>(quota.value_or(0)),
               static_cast<double>(period.value_or(0)));
  }
  return limits;
}

std::optional<nanoseconds> read_cgroup_throttling(const fs::path& root) {
  std::optional<nanoseconds> all;
  const auto add = [&all](std::optional<std::int64_t> time, std::int64_t unit) {
    if (time) all = all.value_or(0) + *time * unit;
  };
  for (const auto& folder : group_folders(root, "")) {
    add(statistic(folder / "cpu.stat", "throttled_usec"), 1000);
  }
  for (const auto& folder : group_folders(root, "cpu")) {
    add(statistic(folder / "cpu.stat", "throttled_time"), 1);
  }
  return all;
}

}  // namespace graphline
