#pragma once

#include <string_view>

namespace graphline {

// What the pages of documents bring with them, put into the program at build time.
extern const std::string_view document_style;
extern const std::string_view document_script;

}  // namespace graphline
