#pragma once

#include <string_view>

namespace graphline {

// The files of an HTML page, embedded at build time.
extern const std::string_view page_template;  ///< contains the names of the other parts in braces
extern const std::string_view page_style;
extern const std::string_view page_script;
extern const std::string_view chart_script;   ///< for charts that Chart.js draws
extern const std::string_view chart_library;  ///< Chart.js, which begins with its MIT license

}  // namespace graphline
