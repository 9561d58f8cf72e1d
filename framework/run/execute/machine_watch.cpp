#include "framework/run/execute/machine_watch.hpp"

#include <algorithm>
#include <utility>

namespace graphline {

machine_watch::machine_watch(device& d, look at_machine)
    : device_(d),
      look_(std::move(at_machine)),
      device_before_(d.state()),
      before_(look_()),
      threads_before_(read_thread_clocks()) {}

conditions_record machine_watch::end() {
  const auto threads = read_thread_clocks();
  auto conditions = conditions_between(before_, look_());
  conditions.threads = between(threads_before_, threads);
  conditions.device_before = device_before_;
  conditions.device_after = device_.state();
  return conditions;
}

conditions_record conditions_between(const machine_state& before, const machine_state& after) {
  conditions_record result;
  result.lasted = after.at - before.at;
  result.cores = after.cores;
  result.load_before = before.load;
  result.load_after = after.load;
  result.clock_before = before.clock;
  result.clock_after = after.clock;
  // Whoever changed the affinity of this process changed what the sums are of.
  if (!before.used || !after.used || before.cores != after.cores) return result;
  result.steal = after.used->steal - before.used->steal;
  const nanoseconds busy = after.used->busy - before.used->busy;
  // The system counts in ticks, the process's own time is exact.
  result.others = std::max<nanoseconds>(0, busy - (after.own - before.own));
  return result;
}

}  // namespace graphline
