#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/precision.hpp"

namespace graphline {

/// Elements of the precision's type, as many as fit into `bytes`, of either sign and with
/// magnitudes from 2^-8 to 1: finite, neither zero nor subnormal, every mantissa bit drawn. Kernels
/// are tried out on such, since a GPU takes less power, and so less time, for zeros.
std::vector<std::byte> random_elements(precision p, std::size_t bytes);

}  // namespace graphline
