#pragma once

#include <string>
#include <string_view>

namespace graphline {

/// Returns the path that `path` leads to through symbolic links; the last target need not exist.
std::string resolve_links(const std::string& path);

/// Opens the regular file `name` with the `flags` of open(2) and locks it until the returned
/// descriptor is closed. Messages use `path`, the name that the user gave. Does not fail on file
/// systems without locks (some network file systems).
///
/// @throws input_error if the file cannot be opened or another process is writing it.
int open_locked(const std::string& name, int flags, const std::string& path);

/// Writes all of `text` to a descriptor, even a non-blocking one. Returns 0 or the `errno` of the
/// failure. For a pipe without a reader that is EPIPE if the program ignores SIGPIPE.
int write_fully(int descriptor, std::string_view text) noexcept;

}  // namespace graphline
