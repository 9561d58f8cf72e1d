#pragma once

#include <string>

namespace graphline {

/// " (did you mean 'NAME'?)" where the folder of `path` holds a file of nearly that name, nothing
/// otherwise.
std::string near_file(const std::string& path);

}  // namespace graphline
