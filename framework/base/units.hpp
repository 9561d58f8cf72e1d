#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/clock.hpp"

namespace graphline {

/// "1.50 KiB", "822 MiB": three significant digits, binary prefixes.
std::string format_bytes(std::uint64_t bytes);

/// "947 GFLOP" for ("FLOP", 9.47e11): three significant digits, decimal prefixes k M G T P.
/// Without a unit "947 G" and "45".
std::string format_count(double value, std::string_view unit);

/// "47.1 ms", "850 ns", "1.25 s": three significant digits in the unit that suits.
std::string format_duration(double ns);

/// Reads "20ms", "1.5 s", "10 us", "2min". Nothing when the text is no duration or lacks its unit.
std::optional<nanoseconds> parse_duration(std::string_view text);

/// Reads "2%", "0.5 %" as a part of 1. Nothing when the text is no percentage from 0 on.
std::optional<double> parse_percent(std::string_view text);

}  // namespace graphline
