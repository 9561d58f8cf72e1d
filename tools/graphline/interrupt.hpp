#pragma once

#include <functional>
#include <string_view>
#include <thread>

#include "framework/base/stop_request.hpp"

namespace graphline {

// An interrupt is SIGINT (Ctrl-C), SIGTERM, or SIGHUP (a lost terminal) unless it is ignored.

/// After this call, an interrupt ends the program at once with status 130. Use it in commands that
/// measure nothing.
void end_on_interrupt();

/// After this call, an interrupt raises the returned stop request and prints the stages at work.
/// The command then reports and saves its results. A second SIGINT or SIGTERM ends the program at
/// once, and removes unfinished files.
const stop_request& stop_on_interrupt();

/// Prints that nothing was measured, and ends the program with SIGINT.
[[noreturn]] void end_by_interrupt();

/// Call at the end of the measurement. A later interrupt prints that the report follows.
/// @throws interrupted_error if `with_nothing`, so that no empty result replaces an earlier result.
/// `what` completes "interrupted before", for example "a frame was done".
void end_measuring(std::string_view what, bool with_nothing);

/// A thread that watches a run. It prints the name of a stage that has not returned for five
/// seconds, once per stage, to standard error. On a second interrupt, it calls `finish`, which must
/// end the program; a third interrupt ends the program at once. Only one instance may exist at a
/// time.
class run_watch {
 public:
  run_watch(bool quiet, std::function<void()> finish);
  ~run_watch();
  run_watch(const run_watch&) = delete;
  run_watch& operator=(const run_watch&) = delete;

 private:
  std::thread thread_;
};

}  // namespace graphline
