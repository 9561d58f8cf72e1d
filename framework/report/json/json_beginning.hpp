#pragma once

#include <string_view>

namespace graphline {

/// What the text of every JSON result begins with.
inline constexpr std::string_view json_beginning = "{\n";

}  // namespace graphline
