#pragma once

#include <string_view>

namespace graphline {

/// Library version: "0.1.0".
std::string_view version() noexcept;

/// CMake build type: "Release"; may be empty.
std::string_view build_type() noexcept;

/// Git commit of the build, "5bbb78c0de12", plus "+changes" for modified files; empty outside a Git
/// repository.
std::string_view commit() noexcept;

}  // namespace graphline
