#pragma once

#include <string>
#include <string_view>

#include "framework/base/error.hpp"

namespace graphline {

/// Returns a description of an `errno` value.
std::string errno_text(int code);

/// Returns the path in quotes, or "standard output" for "-".
std::string shown_path(const std::string& path);

/// Thrown when the reader of standard output, for example `head`, has closed it.
class output_closed : public run_error {
 public:
  output_closed() : run_error("standard output was closed by its reader") {}
};

/// @throws input_error "cannot write 'PATH': WHY"
[[noreturn]] void refuse_to_write(const std::string& path, std::string_view why);

}  // namespace graphline
