#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// How long some cores, all of them together, have been at work.
struct core_times {
  nanoseconds busy = 0;   ///< on any process and in the kernel
  nanoseconds steal = 0;  ///< in which a hypervisor kept them from running
};

/// The machine at a moment. Nothing where the system does not tell.
struct machine_state {
  nanoseconds at = 0;                   ///< host clock
  nanoseconds own = 0;                  ///< `processor_time()`
  int cores = 0;                        ///< that this process may run on, by its affinity
  std::optional<core_times> used = {};  ///< of these cores
  std::optional<double> load = {};      ///< threads that ran or could have, over the last minute
  std::optional<double> clock = {};     ///< of the core that the calling thread is on, in MHz
  std::optional<nanoseconds> throttled = {};  ///< `read_cgroup_throttling()`
};

/// Reads some files of /proc and /sys; takes a fraction of a millisecond.
machine_state read_machine_state();

/// Processor time of all threads of this process so far.
nanoseconds processor_time();

/// Of the calling thread alone.
nanoseconds thread_processor_time() noexcept;

// What these files say.

/// Of /proc/stat, in ticks of which a second has `ticks_a_second`: the sum over the lines "cpuN" of
/// `cores`. Nothing where one of them is missing.
std::optional<core_times> parse_core_times(std::string_view proc_stat,
                                           const std::vector<int>& cores, long ticks_a_second);

/// Of /proc/loadavg.
std::optional<double> parse_load_average(std::string_view proc_loadavg);

/// Of a file scaling_cur_freq, in MHz.
std::optional<double> parse_cpu_clock(std::string_view kilohertz);

}  // namespace graphline
