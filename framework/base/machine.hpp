#pragma once

#include <sched.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

// Machine resources available to this process. Tests pass a `root` with their own files.

/// Returns the CPU count of the affinity mask, or of the cgroup quota if lower; at least 1.
int usable_cores();

/// Returns the lower of the machine's memory and the cgroup limit, in bytes. Empty if unknown.
std::optional<std::uint64_t> total_memory(const std::filesystem::path& root = "/");

/// Returns the lower of available memory and unused cgroup memory, in bytes. Empty if unknown.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

/// Limits that cgroups, for example of a container, set for this process. Empty if unlimited.
struct cgroup_limits {
  std::optional<std::uint64_t> memory_bytes;       ///< minimum over the groups
  std::optional<std::uint64_t> memory_bytes_left;  ///< minimum over the groups of limit minus usage
  std::optional<double> cpus;                      ///< CPU seconds per second
};

/// Reads the cgroup limits (version 1 and 2) of this process's group and its visible ancestors.
/// Does not count reclaimable page cache as usage. Unreadable files impose no limit.
cgroup_limits read_cgroup_limits(const std::filesystem::path& root = "/");

/// Returns the total time for which CPU quotas of the same groups have throttled threads
/// (`cpu.stat`). Empty if unknown.
std::optional<nanoseconds> read_cgroup_throttling(const std::filesystem::path& root = "/");

/// CPU numbers, ascending.
using cpu_set = std::vector<int>;

/// CPUs of the `host` device's compute threads and CPUs of all other threads. Both are empty if the
/// scheduler places threads freely.
struct cpu_split {
  cpu_set device;
  cpu_set others;
};

/// Reserves `compute_threads` CPUs for the device if `usable` has more than that, but at most 4. On
/// so few CPUs, the scheduler may queue a device thread behind a CPU stage for milliseconds while
/// another core is idle. On more CPUs, pinned threads could collide with other programs.
/// @param taken CPUs that other devices have reserved
cpu_split split_cpus(const cpu_set& usable, int compute_threads, const cpu_set& taken = {});

/// Returns the CPUs of the calling thread's affinity mask. Empty if unknown.
cpu_set affinity_cpus();

/// Formats ascending CPU numbers as ranges, in `taskset` syntax: "0-3,8".
std::string in_ranges(const cpu_set& cpus);

/// Returns `affinity_cpus()`; empty if a cgroup quota grants less time than these CPUs have.
cpu_set usable_cpus();

/// Restricts the calling thread and the threads it creates to `cpus` during this object's lifetime.
/// Does nothing if `cpus` is empty or the system refuses.
class scoped_cpu_affinity {
 public:
  explicit scoped_cpu_affinity(const cpu_set& cpus) noexcept;
  ~scoped_cpu_affinity();
  scoped_cpu_affinity(const scoped_cpu_affinity&) = delete;
  scoped_cpu_affinity& operator=(const scoped_cpu_affinity&) = delete;

  /// Returns true if the system refused the CPUs.
  bool refused() const noexcept { return refused_; }

 private:
  std::optional<::cpu_set_t> before_;
  bool refused_ = false;
};

/// Returns the folder that caches measurements of this machine: GRAPHLINE_CACHE, else
/// XDG_CACHE_HOME/graphline, else ~/.cache/graphline. Empty if none of these is set.
std::filesystem::path cache_folder();

}  // namespace graphline
