#pragma once

#include <string>
#include <string_view>

namespace graphline {

/// Whether a stage's device time may be the host's time in disguise: the device may have waited for
/// the next launch in the midst of it. Both times are means in nanoseconds.
bool is_launch_bound(double enqueue, double device) noexcept;

/// What to say of such a stage; `subject` names it, such as "stage 'head'".
std::string launch_bound_text(std::string_view subject, double enqueue, double device);

}  // namespace graphline
