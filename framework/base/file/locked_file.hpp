#pragma once

#include <string>
#include <string_view>

namespace graphline {

/// The place that a link leads to, whether or not a file is there, so that what is written takes
/// that place and not the link's; the path itself where it is no link.
std::string resolve_links(const std::string& path);

/// Opens the regular file `name` for writing and holds its lock as long as the descriptor that it
/// returns is open. `path`: what the user called it, for messages. `flags`: further ones of
/// open(2); a file that they create has the permissions that the user's mask leaves.
///
/// Throws an `input_error` when it cannot be opened or is being written by somebody else. On a file
/// system without locks (some network ones) it goes without.
int open_locked(const std::string& name, int flags, const std::string& path);

/// Writes all of `text` to a descriptor, however many calls it takes, also to one that does not
/// block. Returns 0 or the `errno` of the failure; a pipe without a reader gives EPIPE where
/// the program ignores SIGPIPE.
int write_fully(int descriptor, std::string_view text) noexcept;

}  // namespace graphline
