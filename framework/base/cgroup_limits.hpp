#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace graphline {

/// What the control groups of this process, a container's for instance, leave it of the machine.
/// What no group limits is absent.
struct cgroup_limits {
  std::optional<std::uint64_t> memory_bytes;       ///< the least of all limits
  std::optional<std::uint64_t> memory_bytes_left;  ///< the least of a limit less what is used
  std::optional<double> cpus;                      ///< CPU time for each second: 1.5
};

/// Of version 2 (`memory.max`, `cpu.max`) and version 1 (`memory.limit_in_bytes`,
/// `cpu.cfs_quota_us`), of the process's group and of all groups above it that can be seen. Page
/// cache that is given back where memory is short does not count as used. `root`: of the file
/// system, for tests. What cannot be read limits nothing.
cgroup_limits read_cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace graphline
