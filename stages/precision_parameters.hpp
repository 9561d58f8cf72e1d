#pragma once

#include <vector>

#include "framework/base/precision.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// `precision` and `tune`, which stages made of a vendor's library calls have in common.
std::vector<parameter> precision_parameters();

/// `tune` alone, for stages that compute in float32.
parameter tune_parameter();

/// What the arguments say about these; their defaults where absent.
precision precision_of(const arguments& values);
bool tune_of(const arguments& values);

}  // namespace graphline
