#pragma once

#include <string_view>

#include "framework/base/clock.hpp"
#include "framework/base/stop_request.hpp"

namespace graphline {

/// Makes Ctrl-C, SIGTERM and a lost terminal, unless they are ignored, end the program at once with
/// a sentence and status 130: for what has nothing to report yet.
void end_on_interrupt();

/// Makes Ctrl-C, SIGTERM and a lost terminal (SIGHUP, unless it is ignored) raise a stop request,
/// so that what was measured is reported and saved, and says which stages are at work; a second
/// one, other than SIGHUP, ends the program at once and leaves no unfinished file. Answers the
/// request to poll.
const stop_request& stop_on_interrupt();

/// While this exists, a second Ctrl-C wakes whoever waits here instead of ending the program; a
/// third one ends it. One at a time.
class second_interrupt {
 public:
  second_interrupt();
  ~second_interrupt();
  second_interrupt(const second_interrupt&) = delete;
  second_interrupt& operator=(const second_interrupt&) = delete;

  /// Until it comes, `wake` is called or the time has passed. True if it came.
  bool wait(nanoseconds at_most);

  void wake() noexcept;
};

/// Ends the program as a second Ctrl-C does otherwise, by the signal itself, and says that nothing
/// was measured.
[[noreturn]] void end_by_interrupt();

/// From here on nothing is measured any more, and Ctrl-C says so. Throws `interrupted_error` where
/// the command was stopped before `what`, "a frame was done" for instance, with nothing measured: a
/// result of nothing must not take the place of an earlier one.
void end_measuring(std::string_view what, bool with_nothing);

}  // namespace graphline
