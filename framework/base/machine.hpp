#pragma once

#include <sched.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

// Machine resources available to this process. Tests pass the `root` of a file system of their own.

/// Number of CPUs that this process can keep busy, at least 1: the CPUs of its affinity mask, or
/// the whole CPUs of its cgroup quota if that is lower.
int usable_cores();

/// Total memory in bytes: the machine's, or the cgroup limit if lower. Empty if unknown.
std::optional<std::uint64_t> total_memory(const std::filesystem::path& root = "/");

/// Bytes that can be allocated without swapping, within the same limits. Empty if unknown.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

/// Limits of the control groups of this process, such as a container's. Empty if unlimited.
struct cgroup_limits {
  std::optional<std::uint64_t> memory_bytes;       ///< the lowest limit
  std::optional<std::uint64_t> memory_bytes_left;  ///< the lowest of limit minus usage
  std::optional<double> cpus;                      ///< CPU seconds per second
};

/// Reads cgroups of version 2 (`memory.max`, `cpu.max`) and 1 (`memory.limit_in_bytes`,
/// `cpu.cfs_quota_us`): the group of the process and all visible groups above it. Reclaimable page
/// cache does not count as used. Unreadable files impose no limit.
cgroup_limits read_cgroup_limits(const std::filesystem::path& root = "/");

/// Total time for which these groups' CPU quotas have throttled threads (`cpu.stat`). Empty if
/// unknown.
std::optional<nanoseconds> read_cgroup_throttling(const std::filesystem::path& root = "/");

/// CPUs by number, ascending.
using cpu_set = std::vector<int>;

/// CPUs reserved for the `host` device, and CPUs of all other threads.
struct cpu_split {
  cpu_set device;
  cpu_set others;  ///< both empty: the scheduler places threads freely
};

/// Splits `usable` CPUs for a `host` device of `compute_threads` threads if there are at most 4.
/// With so few, the scheduler may queue a device thread behind a CPU stage for milliseconds while
/// another core is idle. With more, pinned threads would collide with other programs.
cpu_split split_cpus(const cpu_set& usable, int compute_threads);

/// CPUs of the calling thread's affinity mask. Empty if unknown.
cpu_set affinity_cpus();

/// `affinity_cpus()`; empty if a cgroup quota grants less CPU time than these have.
cpu_set usable_cpus();

/// Restricts the calling thread, and threads that it creates, to `cpus` during this object's
/// lifetime. No effect if `cpus` is empty or the system refuses.
class scoped_cpu_affinity {
 public:
  explicit scoped_cpu_affinity(const cpu_set& cpus) noexcept;
  ~scoped_cpu_affinity();
  scoped_cpu_affinity(const scoped_cpu_affinity&) = delete;
  scoped_cpu_affinity& operator=(const scoped_cpu_affinity&) = delete;

 private:
  std::optional<::cpu_set_t> before_;
};

/// Folder for measurements of this machine: GRAPHLINE_CACHE, else XDG_CACHE_HOME/graphline, else
/// ~/.cache/graphline; empty without a home folder.
std::filesystem::path cache_folder();

}  // namespace graphline
