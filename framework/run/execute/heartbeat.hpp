#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What a thread that wakes up again and again sees.
struct beat {
  nanoseconds at = 0;                      ///< host clock, which stands still while suspended
  nanoseconds with_suspend = 0;            ///< the same, with the time in which it stood still
  nanoseconds used = 0;                    ///< processor time of the process
  std::optional<nanoseconds> waited = {};  ///< of this thread, for a core
};

/// How long a heartbeat sleeps.
inline constexpr nanoseconds heartbeat_period = 20'000'000;

/// Whether the process, or the whole machine, stood still between two beats: the later one is late,
/// the thread did not wait for a core and no other thread ran. A shorter time than `heartbeat_late`
/// is not told.
std::optional<standstill_record> standstill_between(const beat& before, const beat& after);
inline constexpr nanoseconds heartbeat_late = 50'000'000;
/// Where the system does not say how long the thread waited for a core.
inline constexpr nanoseconds heartbeat_late_unknown = 500'000'000;

/// A thread that finds times in which the process stood still: stopped by a signal, frozen with its
/// container, suspended with its machine.
class heartbeat {
 public:
  /// Throws `run_error` when there is no thread for it.
  heartbeat();
  ~heartbeat();
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;

  /// Ends the thread; what it found, on the host clock.
  std::vector<standstill_record> end();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::vector<standstill_record> found_;
  std::thread thread_;
};

}  // namespace graphline
