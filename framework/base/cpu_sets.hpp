#pragma once

#include <sched.h>

#include <optional>
#include <vector>

namespace graphline {

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

/// Those this program may use; empty where it has less time than they have, or the system does not
/// tell.
cpu_set usable_cpus();

/// Keeps the calling thread, and threads that it makes meanwhile, to some CPUs while this exists;
/// no effect for none, and where the system refuses.
class kept_to_cpus {
 public:
  explicit kept_to_cpus(const cpu_set& cpus) noexcept;
  ~kept_to_cpus();
  kept_to_cpus(const kept_to_cpus&) = delete;
  kept_to_cpus& operator=(const kept_to_cpus&) = delete;

 private:
  std::optional<::cpu_set_t> before_;
};

}  // namespace graphline
