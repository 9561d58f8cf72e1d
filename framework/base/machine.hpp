#pragma once

#include <sched.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

// What this program may use of the machine.

/// CPUs that this program may keep busy at a time, at least 1: those that its affinity names, or
/// as many whole ones as its control groups give it the time of, where that is fewer. Further
/// threads would be stopped again and again.
int usable_cores();

/// Bytes of memory that this program may have in all: the machine's, or what its control groups
/// limit it to. Nothing where the system does not tell. `root`: of the file system, for tests.
std::optional<std::uint64_t> total_memory(const std::filesystem::path& root = "/");

/// Of these, bytes that can be allocated without swapping.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

/// What the control groups of this process, a container's for instance, leave it of the machine.
/// What no group limits is absent.
struct cgroup_limits {
  std::optional<std::uint64_t> memory_bytes;       ///< the least of all limits
  std::optional<std::uint64_t> memory_bytes_left;  ///< the least of a limit less what is used
  std::optional<double> cpus;                      ///< CPU time for each second: 1.5
};

/// Of version 2 (`memory.max`, `cpu.max`) and of version 1 (`memory.limit_in_bytes`,
/// `cpu.cfs_quota_us`), of the process's group and of all groups above it that can be seen. Page
/// cache that is given back where memory is short does not count as used. `root`: of the file
/// system, for tests. What cannot be read limits nothing.
cgroup_limits read_cgroup_limits(const std::filesystem::path& root = "/");

/// How long these groups' CPU quotas have held their threads back so far, by `cpu.stat`; nothing
/// where it does not say.
std::optional<nanoseconds> read_cgroup_throttling(const std::filesystem::path& root = "/");

/// CPUs by number, ascending.
using cpu_set = std::vector<int>;

/// Which CPUs a device of CPU threads has for itself, and which all other threads.
struct cpu_split {
  cpu_set device;
  cpu_set others;  ///< both empty: the system's scheduler places threads as it likes
};

/// Splits `usable` CPUs for a device of `compute_threads` threads, where these are all the program
/// may use of a machine with few cores. There the scheduler may leave a device's thread waiting for
/// milliseconds behind a CPU stage on one core while another core is idle; with more cores it has
/// better places at hand, and threads kept to theirs would be in the way of other programs'.
cpu_split split_cpus(const cpu_set& usable, int compute_threads);

/// Those that the affinity of the calling thread names; empty where the system does not tell.
cpu_set affinity_cpus();

/// Those this program may use; empty where it has less time than they have, or the system does not
/// tell.
cpu_set usable_cpus();

/// Keeps the calling thread, and threads that it makes meanwhile, to some CPUs while this exists;
/// no effect for none, and where the system refuses.
class scoped_cpu_affinity {
 public:
  explicit scoped_cpu_affinity(const cpu_set& cpus) noexcept;
  ~scoped_cpu_affinity();
  scoped_cpu_affinity(const scoped_cpu_affinity&) = delete;
  scoped_cpu_affinity& operator=(const scoped_cpu_affinity&) = delete;

 private:
  std::optional<::cpu_set_t> before_;
};

/// Where the program keeps what it found out about this machine: GRAPHLINE_CACHE, else the folder
/// graphline in XDG_CACHE_HOME, else in ~/.cache; empty when there is no home folder either.
std::filesystem::path cache_folder();

}  // namespace graphline
