#pragma once

#include <string_view>

namespace graphline {

/// Version of this library, as in CMakeLists.txt: "0.1.0".
std::string_view version() noexcept;

/// How this library was built, by CMake's name: "Release"; may be empty.
std::string_view build_type() noexcept;

/// The Git commit that it was built from, "5bbb78c0de12", with "+changes" after it where files
/// differed from that; empty where it was not built from a Git repository.
std::string_view commit() noexcept;

}  // namespace graphline
