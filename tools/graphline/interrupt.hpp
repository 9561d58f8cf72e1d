#pragma once

#include "framework/base/stop_request.hpp"

namespace graphline {

/// Makes Ctrl-C (and SIGTERM) raise a stop request, so that what was measured is reported and
/// saved; a second one ends the program at once, and removes what it has begun to write. Answers
/// the request to poll.
const stop_request& stop_on_interrupt();

}  // namespace graphline
