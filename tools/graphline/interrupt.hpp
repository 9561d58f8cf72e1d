#pragma once

#include <string_view>

#include "framework/base/stop_request.hpp"

namespace graphline {

/// Makes Ctrl-C, SIGTERM and a lost terminal, unless they are ignored, end the program at once with
/// a sentence and status 130: for what has nothing to report yet.
void end_on_interrupt();

/// Makes Ctrl-C, SIGTERM and a lost terminal (SIGHUP, unless it is ignored) raise a stop request,
/// so that what was measured is reported and saved; a second one, other than SIGHUP, ends the
/// program at once. Answers the request to poll.
const stop_request& stop_on_interrupt();

/// Throws `interrupted_error` where a command was stopped before `what`, "a frame was done" for
/// instance, with nothing measured: a result of nothing must not take the place of an earlier one.
void end_before_first(std::string_view what, bool with_nothing);

}  // namespace graphline
