#pragma once

#include <string_view>

namespace graphline {

/// Version of this library, as in CMakeLists.txt: "0.1.0".
std::string_view version() noexcept;

}  // namespace graphline
