#pragma once

#include <cstdint>
#include <span>

namespace graphline {

/// Fills `values` with numbers uniform in [-bound, bound], the same on every machine and with every
/// standard library: 53 bits of std::mt19937_64, whose sequence the standard fixes, per number.
void draw_uniform(std::span<float> values, double bound, std::uint64_t seed);

}  // namespace graphline
