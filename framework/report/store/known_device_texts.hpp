#pragma once

#include <string_view>

namespace graphline {

// Files of framework/device/known/, embedded by CMake.
extern const std::string_view a100_text;
extern const std::string_view h100_text;
extern const std::string_view h200_text;
extern const std::string_view l4_text;
extern const std::string_view l40s_text;
extern const std::string_view orin_text;
extern const std::string_view rtx4090_text;

}  // namespace graphline
