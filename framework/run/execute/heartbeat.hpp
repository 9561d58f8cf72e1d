#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// State of the process at one wake-up of the heartbeat.
struct beat {
  nanoseconds at = 0;                      ///< host clock, which stops during suspend
  nanoseconds with_suspend = 0;            ///< clock that continues during suspend
  nanoseconds used = 0;                    ///< CPU time of the process
  std::optional<nanoseconds> waited = {};  ///< time this thread waited for a core
};

inline constexpr nanoseconds heartbeat_period = 20'000'000;

/// Returns the standstill between two beats if it lasted at least `heartbeat_late`. Either the
/// machine was suspended, or the second beat was late although the thread did not wait for a core
/// and the process used little CPU time.
std::optional<standstill_record> standstill_between(const beat& before, const beat& after);
inline constexpr nanoseconds heartbeat_late = 50'000'000;
/// Limit if the thread's waiting time is unknown.
inline constexpr nanoseconds heartbeat_late_unknown = 500'000'000;

/// Background thread that detects standstills: the process is stopped by a signal or frozen with
/// its container, or the machine is suspended.
class heartbeat {
 public:
  /// @throws run_error if the thread cannot be started.
  heartbeat();
  ~heartbeat();
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;

  /// Ends the thread and returns the standstills, in host clock times.
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
