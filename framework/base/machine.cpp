#include "framework/base/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace graphline {
namespace {

namespace fs = std::filesystem;

/// A line of /proc/meminfo in bytes; no limit when it cannot be read.
std::uint64_t meminfo_bytes(std::string_view key) {
  std::ifstream file("/proc/meminfo");
  for (std::string name, rest; file >> name && std::getline(file, rest);) {
    if (name == key) return std::stoull(rest) * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

void keep_to(const ::cpu_set_t& cpus) noexcept {
  static_cast<void>(::sched_setaffinity(0, sizeof cpus, &cpus));
}

/// The folder that a variable names; empty when it names none.
fs::path folder_from(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

int usable_cores() {
  int cores = static_cast<int>(cpus_by_affinity().size());
  // More than a `cpu_set_t` holds: the standard library counts the machine's, whatever the
  // affinity.
  if (cores == 0) cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (const auto limit = read_cgroup_limits().cpus; limit && *limit < cores) {
    cores = std::max(1, static_cast<int>(*limit));
  }
  return cores;
}

std::uint64_t memory_in_all() {
  const std::uint64_t all = meminfo_bytes("MemTotal:");
  return std::min(all, read_cgroup_limits().memory_bytes.value_or(all));
}

std::uint64_t available_memory() {
  const std::uint64_t available = meminfo_bytes("MemAvailable:");
  return std::min(available, read_cgroup_limits().memory_bytes_left.value_or(available));
}

cpu_set cpus_by_affinity() {
  cpu_set result;
  ::cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return result;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) result.push_back(cpu);
  }
  return result;
}

cpu_split split_cpus(const cpu_set& usable, int compute_threads) {
  constexpr std::size_t few = 4;
  const auto computing = static_cast<std::size_t>(compute_threads);
  if (usable.size() > few || usable.size() <= computing) return {};
  const auto first = usable.end() - compute_threads;
  return {{first, usable.end()}, {usable.begin(), first}};
}

cpu_set usable_cpus() {
  auto cpus = cpus_by_affinity();
  if (static_cast<int>(cpus.size()) != usable_cores()) cpus.clear();
  return cpus;
}

kept_to_cpus::kept_to_cpus(const cpu_set& cpus) noexcept {
  if (cpus.empty()) return;
  ::cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) before_ = set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  keep_to(set);
}

kept_to_cpus::~kept_to_cpus() {
  if (before_) keep_to(*before_);
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
