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

/// "47.1 ms", "850 ns", "1.25 s": three significant digits in a suitable unit.
std::string format_duration(double ns);

/// Parses "20ms", "1.5 s", "10 us", "2min". Empty if the text is not a duration with a unit, or is
/// 2^63 ns (292 years) or longer.
std::optional<nanoseconds> parse_duration(std::string_view text);

/// As `parse_duration`, without an upper limit.
std::optional<double> parse_nanoseconds(std::string_view text);

/// Parses "2%", "0.5 %" as a fraction of 1. Empty if the text is not a non-negative percentage.
std::optional<double> parse_percent(std::string_view text);

/// Unit of a quantity. A share is a fraction of 1 shown in percent; a change is a signed share; a
/// ratio is shown as "1.38x".
enum class unit {
  none,
  count,     ///< with a decimal prefix: "6.55 M"
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

/// Unit symbol without a prefix: "B/s". Empty for plain numbers.
std::string_view symbol_of(unit in) noexcept;

/// Three significant digits and the unit: "50.6 ms", "5.21 GFLOP", "226 FLOP/B", "94.2 %", "1.38x".
std::string to_text(const quantity& of);

/// Time unit shared by a column or row of a table.
struct time_unit {
  std::string_view name;
  double nanoseconds = 1;
};

inline constexpr time_unit microsecond{"us", 1e3};

/// The unit in which the largest value of a column has one to three digits before the point.
time_unit unit_for(double largest_ns);

/// Three significant digits, at most `decimals` after the point and all before it: 1234, 74.1,
/// 0.0210. A value that rounds to zero is "<0.0001".
std::string three_digits(double value, int decimals = 4);

/// `three_digits` with a sign: +16.0, -0.31; "0" for a value that rounds to zero.
std::string signed_digits(double value, int decimals = 4);

/// `three_digits` of a duration in `unit`, at most 3 decimals; "-" if unknown.
std::string in_unit(std::optional<double> ns, time_unit unit);

}  // namespace graphline
