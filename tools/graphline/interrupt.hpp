#pragma once

#include <functional>
#include <string_view>
#include <thread>

#include "framework/base/stop_request.hpp"

namespace graphline {

// "Interrupt" is Ctrl-C (SIGINT), SIGTERM or a lost terminal (SIGHUP, unless it is ignored).

/// Makes an interrupt end the program at once with status 130, for commands that measure nothing.
void end_on_interrupt();

/// Makes an interrupt raise a stop request and print the stages at work, so that the command
/// reports and saves what it measured. A second one (other than SIGHUP) ends the program at once
/// and leaves no unfinished file. Returns the request to poll.
const stop_request& stop_on_interrupt();

/// Ends the program by SIGINT after printing that nothing was measured.
[[noreturn]] void end_by_interrupt();

/// Call when nothing more is measured; an interrupt then announces the report.
/// @throws interrupted_error if `with_nothing`, so that an empty result does not replace an earlier
/// one. `what`: the command was interrupted before it, such as "a frame was done".
void end_measuring(std::string_view what, bool with_nothing);

/// A thread that watches a run: it names each stage that has not returned for five seconds once, on
/// standard error. A second interrupt calls `finish` in this thread, which ends the program; a
/// third ends it at once. At most one instance at a time.
class run_watch {
 public:
  /// With `quiet`, names no stages.
  run_watch(bool quiet, std::function<void()> finish);
  ~run_watch();
  run_watch(const run_watch&) = delete;
  run_watch& operator=(const run_watch&) = delete;

 private:
  std::thread thread_;
};

}  // namespace graphline
