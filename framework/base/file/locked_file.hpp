#pragma once

#include <string>
#include <string_view>

namespace graphline {

/// Follows symbolic links and returns the last target, which need not exist.
std::string resolve_links(const std::string& path);

/// Opens the regular file `name` with the `flags` of open(2). Locks it until the returned
/// descriptor is closed; omits the lock on file systems without locks. Messages use `path`, the
/// name that the user gave.
/// @throws input_error if the file cannot be opened or another process is writing it.
int open_locked(const std::string& name, int flags, const std::string& path);

/// Writes all of `text`, even to a non-blocking descriptor. Returns 0 or the failure's `errno`.
int write_fully(int descriptor, std::string_view text) noexcept;

}  // namespace graphline
