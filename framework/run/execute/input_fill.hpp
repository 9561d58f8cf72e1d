#pragma once

#include <cstdint>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"

namespace graphline {

/// Fills a tensor in host memory: standard normal, uniform in [0, 1), zeros or ones. Whole-number
/// types take the rounded-down value of 128 + 32 x (normal) or 256 x (uniform), kept within 0 to
/// 255. The same seed gives the same values on every machine.
void fill_input(const tensor_view& tensor, fill how, std::uint64_t seed);

}  // namespace graphline
