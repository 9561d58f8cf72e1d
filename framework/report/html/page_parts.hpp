#pragma once

#include <string_view>

namespace graphline {

// The files that a page is made of, as texts. CMake writes their definitions; see the list in
// framework/report/CMakeLists.txt.

extern const std::string_view page_style;
extern const std::string_view page_script;  ///< page/*.js in the order of that list

}  // namespace graphline
