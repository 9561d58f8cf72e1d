#pragma once

#include <string>
#include <string_view>

#include "framework/base/error.hpp"

namespace graphline {

// What is said of files that cannot be written.

/// What an `errno` means, as the system puts it.
std::string errno_text(int code);

/// A path in a message; "-" is standard output.
std::string shown_path(const std::string& path);

/// Why a file could not be opened for writing, in terms of what the user can change.
std::string why_not_opened(const std::string& path, int code);

/// Whoever read standard output went away, as `head` does when it has seen enough.
class output_closed : public run_error {
 public:
  output_closed() : run_error("nobody reads standard output any more") {}
};

/// Throws an `input_error`: "cannot write 'PATH': WHY".
[[noreturn]] void refuse_to_write(const std::string& path, std::string_view why);

}  // namespace graphline
