#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/machine_state.hpp"
#include "framework/device/device.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/heartbeat.hpp"

namespace graphline {

/// Scheduler times of this process's threads, by thread ID.
using thread_clocks = std::map<int, thread_time>;

/// Reads the current times; empty if not available. Opens a file per thread, so do not call it
/// while frames run.
thread_clocks read_thread_clocks();

/// Parses a line of /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds waiting for a
/// CPU, a count. Returns false for any other text.
bool parse_schedstat(std::string_view text, thread_time& into);

/// Returns the differences between two readings, summed by thread name. Omits threads that neither
/// ran nor waited.
std::vector<thread_time> between(const thread_clocks& before, const thread_clocks& after);

/// Observes machine and device before and after the frames, to detect disturbances. While frames
/// run, a heartbeat thread detects standstills of the process.
class machine_watch {
 public:
  using look = std::function<machine_state()>;

  /// Takes the first observation.
  /// @pre `d` outlives the watch.
  explicit machine_watch(device& d, look at_machine = read_machine_state);

  /// Takes the second observation. Returns the conditions since the first, with times relative to
  /// `epoch`.
  conditions_record end(nanoseconds epoch = 0);

 private:
  device& device_;
  look look_;
  std::optional<device_state> device_before_;
  machine_state before_;
  thread_clocks threads_before_;
  std::unique_ptr<heartbeat> heartbeat_;
};

/// Returns the conditions between two observations of a machine.
conditions_record conditions_between(const machine_state& before, const machine_state& after);

/// Checks a device's clock against the host's before and after the frames, and removes the drift
/// between from device stamps. Clocks drift by microseconds per second.
class clock_watch {
 public:
  /// Checks the clock. If the check fails, adds a warning.
  /// @pre The device is idle; `d` outlives the watch.
  explicit clock_watch(device& d);

  /// Checks the clock after the frames.
  /// @pre The device is idle.
  void end();

  /// Sets `clock_error` and `clock_drift` of the device's record, raises those of the run to them,
  /// and adds the warnings. Subtracts from each stamp of the device the drift until then, assuming
  /// even drift. Without a second check, stamps stay unchanged.
  /// @param epoch Host time to which the record's stamps are relative.
  /// @param device Index among the run's devices.
  void settle(run_record& record, nanoseconds epoch, std::size_t device = 0) const;

 private:
  std::optional<clock_check> check(const char* when);

  device& device_;
  std::optional<clock_check> before_;
  std::optional<clock_check> after_;
  std::vector<std::string> warnings_;
};

}  // namespace graphline
