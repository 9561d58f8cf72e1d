#pragma once

#include <functional>
#include <optional>

#include "framework/base/machine_state.hpp"
#include "framework/device/device.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/thread_times.hpp"

namespace graphline {

/// Looks at the machine and at a device before and after frames, never while they run, to tell what
/// else went on.
class machine_watch {
 public:
  using look = std::function<machine_state()>;

  /// Looks a first time. `d` must outlive the watch.
  machine_watch(device& d, look at_machine);

  /// Looks again; what went on between.
  conditions_record end();

 private:
  device& device_;
  look look_;
  std::optional<device_state> device_before_;
  machine_state before_;
  thread_clocks threads_before_;
};

/// What two looks at a machine tell of the time between them.
conditions_record conditions_between(const machine_state& before, const machine_state& after);

}  // namespace graphline
