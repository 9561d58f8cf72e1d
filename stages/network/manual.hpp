#pragma once

#include <string>

namespace graphline {

/// The layers and their parameters, for `graphline stages network`.
std::string layer_manual();

}  // namespace graphline
