#pragma once

#include <string>

#include "framework/analysis/finding.hpp"

namespace graphline::report {

/// What a finding says, in a sentence without its first capital and its full stop. A finding
/// without a key, such as a warning that a run wrote down, has its sentence as the figure "text".
std::string sentence(const finding& of);

}  // namespace graphline::report
