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

/// What the system's scheduler says of the threads of this process, by their number.
using thread_clocks = std::map<int, thread_time>;

/// Now; empty where the system does not say. Reads a file for each thread: not for the path of a
/// frame.
thread_clocks read_thread_clocks();

/// A line of /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds ready and waiting for
/// one, and a count. False for anything else.
bool parse_schedstat(std::string_view text, thread_time& into);

/// What threads did between two readings, those of one name together; only those that ran or
/// waited.
std::vector<thread_time> between(const thread_clocks& before, const thread_clocks& after);

/// Looks at the machine and at a device before and after frames to tell what else went on; while
/// they run, only a heartbeat does, for times in which the process stood still.
class machine_watch {
 public:
  using look = std::function<machine_state()>;

  /// Looks a first time. `d` must outlive the watch.
  explicit machine_watch(device& d, look at_machine = read_machine_state);

  /// Looks again; what went on between, on a clock that began at `epoch`.
  conditions_record end(nanoseconds epoch = 0);

 private:
  device& device_;
  look look_;
  std::optional<device_state> device_before_;
  machine_state before_;
  thread_clocks threads_before_;
  std::unique_ptr<heartbeat> heartbeat_;
};

/// What two looks at a machine tell of the time between them.
conditions_record conditions_between(const machine_state& before, const machine_state& after);

/// How a device's clock goes against the host's while frames run: checked before and after them, so
/// that stamps between can be put right. Crystals differ by some microseconds in each second, which
/// is more than many stages take to launch.
class clock_watch {
 public:
  /// Checks the clock. The device should be idle; what keeps it from being checked is kept as a
  /// warning. `d` must outlive the watch.
  explicit clock_watch(device& d);

  /// Checks it again, after the frames and with the device idle again.
  void end();

  /// Fills the record's `clock_error` and `clock_drift`, takes the drift out of its device stamps,
  /// as much of it from each as its place between the checks asks for, and adds the warnings.
  /// Without an end nothing is known of a drift, and stamps are left as they are. `epoch`: of the
  /// record's stamps, on the host's clock.
  void settle(run_record& record, nanoseconds epoch) const;

 private:
  std::optional<clock_check> check(const char* when);

  device& device_;
  std::optional<clock_check> before_;
  std::optional<clock_check> after_;
  std::vector<std::string> warnings_;
};

}  // namespace graphline
