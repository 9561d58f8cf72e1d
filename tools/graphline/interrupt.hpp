#pragma once

#include <functional>
#include <string_view>
#include <thread>

#include "framework/base/stop_request.hpp"

namespace graphline {

// An interrupt is Ctrl-C (SIGINT), SIGTERM or a lost terminal (SIGHUP, unless it is ignored).

/// Makes an interrupt end the program at once with status 130, for commands that measure nothing.
void end_on_interrupt();

/// Makes an interrupt raise a stop request and print the stages at work. The command then reports
/// and saves what it measured. A second interrupt (other than SIGHUP) ends the program at once and
/// leaves no unfinished file. Returns the stop request to poll.
const stop_request& stop_on_interrupt();

/// Prints that nothing was measured and ends the program by SIGINT.
[[noreturn]] void end_by_interrupt();

/// Call when nothing more is measured. An interrupt then prints that the report follows.
/// @throws interrupted_error if `with_nothing`, so that an empty result does not replace an earlier
/// one. `what` completes "interrupted before", for example "a frame was done".
void end_measuring(std::string_view what, bool with_nothing);

/// A thread that watches a run. Prints, once, the name of each stage that has not returned for five
/// seconds, to standard error. A second interrupt calls `finish` in this thread, which ends the
/// program; a third interrupt ends it at once. At most one instance at a time.
class run_watch {
 public:
  /// With `quiet`, prints no stages.
  run_watch(bool quiet, std::function<void()> finish);
  ~run_watch();
  run_watch(const run_watch&) = delete;
  run_watch& operator=(const run_watch&) = delete;

 private:
  std::thread thread_;
};

}  // namespace graphline
