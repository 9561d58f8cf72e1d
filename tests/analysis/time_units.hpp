#pragma once

#include "framework/base/clock.hpp"

namespace graphline::samples {

inline constexpr nanoseconds us = 1'000;
inline constexpr nanoseconds ms = 1'000'000;

}  // namespace graphline::samples
