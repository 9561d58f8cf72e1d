#pragma once

#include <string_view>

namespace graphline {

/// Writes all of `text` to a descriptor, however many calls it takes, also to one that does not
/// block. Returns 0 or the `errno` of the failure; a pipe without a reader gives EPIPE and no
/// signal, whatever the program has set for SIGPIPE.
int write_fully(int descriptor, std::string_view text) noexcept;

}  // namespace graphline
