#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

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
