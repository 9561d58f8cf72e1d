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

/// Reads "20ms", "1.5 s", "10 us", "2min". Nothing when the text is no duration, lacks its unit or
/// has 2^63 ns, 292 years, or more.
std::optional<nanoseconds> parse_duration(std::string_view text);

/// The same, however long.
std::optional<double> parse_nanoseconds(std::string_view text);

/// Reads "2%", "0.5 %" as a part of 1. Nothing when the text is no percentage from 0 on.
std::optional<double> parse_percent(std::string_view text);

/// What a quantity is stated in. A share is a part of 1 and shown in percent, and so is a change,
/// with its sign; a ratio is so many times as much, "1.38x".
enum class unit {
  none,
  count,     ///< of what there may be many: "6.55 M"
  duration,  ///< in nanoseconds
  bytes,
  flops,
  bytes_per_second,
  flops_per_second,
  flops_per_byte,
  frames_per_second,
  share,
  change,
  ratio
};

struct quantity {
  double value = 0;
  unit in = unit::none;
  friend bool operator==(const quantity&, const quantity&) = default;
};

/// "GB/s" without its prefix: "B/s". Empty for what is a plain number.
std::string_view symbol_of(unit in) noexcept;

/// Three significant digits and the unit: "50.6 ms", "5.21 GFLOP", "226 FLOP/B", "94.2 %", "1.38x".
std::string to_text(const quantity& of);

/// A unit that a whole column or row of a table is in.
struct time_unit {
  std::string_view name;
  double nanoseconds = 1;
};

inline constexpr time_unit microsecond{"us", 1e3};

/// The unit in which the largest value of a column has one to three digits before the point.
time_unit unit_for(double largest_ns);

/// Three significant digits, but no more than `decimals` of them after the point and all of those
/// before it: 1234, 74.1, 0.0210. What rounds to nothing is "<0.0001", never "0.0000"; what no
/// number holds, as a file may have it after a change of units, "inf".
std::string three_digits(double value, int decimals = 4);

/// The same with its sign in front: +16.0, -0.31; a value that rounds to nothing is "0".
std::string signed_digits(double value, int decimals = 4);

/// `three_digits` of a duration in a unit, at most 3 decimals; "-" for what is not known.
std::string in_unit(std::optional<double> ns, time_unit unit);

}  // namespace graphline
