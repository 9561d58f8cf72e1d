#include "framework/base/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>

#include "framework/base/cgroup_limits.hpp"

namespace graphline {
namespace {

/// A line of /proc/meminfo in bytes; no limit when it cannot be read.
std::uint64_t meminfo_bytes(std::string_view key) {
  std::ifstream file("/proc/meminfo");
  for (std::string name, rest; file >> name && std::getline(file, rest);) {
    if (name == key) return std::stoull(rest) * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

/// The standard library counts the machine's, whatever the affinity.
int cores_by_affinity() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than a `cpu_set_t` holds
}

}  // namespace

int usable_cores() {
  int cores = std::max(1, cores_by_affinity());
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

}  // namespace graphline
