#pragma once

#include <string>

namespace graphline {

/// "743 times", "12.3 times", "1.07 times": what comes after says nothing.
std::string times_words(double ratio);

}  // namespace graphline
