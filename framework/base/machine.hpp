#pragma once

#include <sched.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

// Machine resources available to this process. Tests pass the `root` of a file tree of their own.

/// Returns the number of CPUs that this process can keep busy, at least 1. It is the number of CPUs
/// in the affinity mask, or the cgroup quota rounded down to whole CPUs if that is lower.
int usable_cores();

/// Returns the machine's memory in bytes, or the cgroup limit if lower. Empty if unknown.
std::optional<std::uint64_t> total_memory(const std::filesystem::path& root = "/");

/// Returns the bytes that can be allocated without swapping, within these limits. Empty if unknown.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

/// Limits of the control groups of this process, for example of its container. Empty if unlimited.
struct cgroup_limits {
  std::optional<std::uint64_t> memory_bytes;       ///< lowest limit of all groups
  std::optional<std::uint64_t> memory_bytes_left;  ///< lowest difference of limit and usage
  std::optional<double> cpus;                      ///< CPU seconds per second
};

/// Reads cgroups of version 2 (`memory.max`, `cpu.max`) and 1 (`memory.limit_in_bytes`,
/// `cpu.cfs_quota_us`), for the group of the process and all visible groups above it. Reclaimable
/// page cache does not count as used. Unreadable files impose no limit.
cgroup_limits read_cgroup_limits(const std::filesystem::path& root = "/");

/// Returns the total time for which the CPU quotas of these groups have throttled threads
/// (`cpu.stat`). Empty if unknown.
std::optional<nanoseconds> read_cgroup_throttling(const std::filesystem::path& root = "/");

/// Numbers of CPUs, ascending.
using cpu_set = std::vector<int>;

/// The CPUs reserved for the `host` device, and the CPUs of all other threads.
struct cpu_split {
  cpu_set device;
  cpu_set others;  ///< both sets are empty if the scheduler places threads freely
};

/// Splits `usable` CPUs for a `host` device of `compute_threads` threads if there are at most 4
/// CPUs. With so few, the scheduler may queue a device thread behind a CPU stage for milliseconds
/// while another core is idle. With more CPUs, pinned threads would collide with other programs.
cpu_split split_cpus(const cpu_set& usable, int compute_threads);

/// Returns the CPUs of the calling thread's affinity mask. Empty if unknown.
cpu_set affinity_cpus();

/// Returns `affinity_cpus()`, or empty if a cgroup quota grants less CPU time than these CPUs have.
cpu_set usable_cpus();

/// Restricts the calling thread and the threads it creates to `cpus` during this object's lifetime.
/// Does nothing if `cpus` is empty or the system refuses.
class scoped_cpu_affinity {
 public:
  explicit scoped_cpu_affinity(const cpu_set& cpus) noexcept;
  ~scoped_cpu_affinity();
  scoped_cpu_affinity(const scoped_cpu_affinity&) = delete;
  scoped_cpu_affinity& operator=(const scoped_cpu_affinity&) = delete;

 private:
  std::optional<::cpu_set_t> before_;
};

/// Returns the folder for measurements of this machine: GRAPHLINE_CACHE, else
/// XDG_CACHE_HOME/graphline, else ~/.cache/graphline. Empty if there is no home folder.
std::filesystem::path cache_folder();

}  // namespace graphline
