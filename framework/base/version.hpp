#pragma once

#include <string_view>

namespace graphline {

/// Returns the library version: "0.1.0".
std::string_view version() noexcept;

/// Returns the CMake build type: "Release". May be empty.
std::string_view build_type() noexcept;

/// Returns the Git commit of the build, "5bbb78c0de12", with "+changes" if the files were modified.
/// Empty if built outside a Git repository.
std::string_view commit() noexcept;

}  // namespace graphline
