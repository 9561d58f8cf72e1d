#pragma once

#include <string>
#include <utility>
#include <vector>

namespace graphline {

/// oneDNN with its version, for results.
std::vector<std::pair<std::string, std::string>> onednn_version();

}  // namespace graphline
