#pragma once

#include <string_view>

namespace graphline {

// What the pages of documents bring with them, put into the program at build time.
extern const std::string_view document_style;
extern const std::string_view document_script;
extern const std::string_view canvas_script;  ///< of charts that Chart.js draws
extern const std::string_view chart_library;  ///< Chart.js, MIT license in its first lines

}  // namespace graphline
