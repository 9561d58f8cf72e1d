#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// Total CPU time of several cores.
struct core_times {
  nanoseconds busy = 0;   ///< used by all processes and the kernel
  nanoseconds steal = 0;  ///< taken by the hypervisor
};

/// A snapshot of the machine. Empty values are unknown.
struct machine_state {
  nanoseconds at = 0;                         ///< host clock
  nanoseconds own = 0;                        ///< `processor_time()`
  int cores = 0;                              ///< number of CPUs in this process's affinity mask
  std::optional<core_times> used = {};        ///< CPU time of these cores
  std::optional<double> load = {};            ///< load average over one minute
  std::optional<double> clock = {};           ///< clock rate of the calling thread's core, in MHz
  std::optional<nanoseconds> throttled = {};  ///< `read_cgroup_throttling()`
};

/// Reads the state from files of /proc and /sys, in less than a millisecond.
machine_state read_machine_state();

/// Returns the CPU time of all threads of this process.
nanoseconds processor_time();

/// Returns the CPU time of the calling thread.
nanoseconds thread_processor_time() noexcept;

/// Parses /proc/stat and sums the lines "cpuN" of `cores`. Empty if a line is missing.
std::optional<core_times> parse_core_times(std::string_view proc_stat,
                                           const std::vector<int>& cores, long ticks_a_second);

/// Parses /proc/loadavg and returns the load average over one minute.
std::optional<double> parse_load_average(std::string_view proc_loadavg);

/// Parses scaling_cur_freq, which is in kHz, and returns MHz.
std::optional<double> parse_cpu_clock(std::string_view kilohertz);

}  // namespace graphline
