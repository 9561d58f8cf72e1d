#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/clock.hpp"

namespace graphline {

/// Returns "1.50 KiB" or "822 MiB": three significant digits, binary prefixes.
std::string format_bytes(std::uint64_t bytes);

/// Returns "947 GFLOP" for (9.47e11, "FLOP"): three significant digits, decimal prefixes k M G T P.
/// Without a unit, returns "947 G" or "45".
std::string format_count(double value, std::string_view unit);

/// Returns "47.1 ms", "850 ns" or "1.25 s": three significant digits in a suitable unit.
std::string format_duration(double ns);

/// Parses "20ms", "1.5 s", "10 us" or "2min". Empty if the text is not a duration with a unit, or
/// if the duration is 2^63 ns (292 years) or longer.
std::optional<nanoseconds> parse_duration(std::string_view text);

/// Same as `parse_duration`, without an upper limit.
std::optional<double> parse_nanoseconds(std::string_view text);

/// Parses "1e-3" or "5". Empty if the text is not a non-negative number.
std::optional<double> parse_number(std::string_view text);

/// Parses "2%" or "0.5 %" as a fraction of 1. Empty if the text is not a non-negative percentage.
std::optional<double> parse_percent(std::string_view text);

/// Parses "4GiB", "512 MiB" or "100 B". Empty if the text is not a number with a binary unit.
std::optional<double> parse_bytes(std::string_view text);

/// Parses "30/s" or "0.5 /s". Empty if the text is not a rate.
std::optional<double> parse_rate(std::string_view text);

/// Unit of a quantity. A share is a fraction of 1 and is shown in percent. A change is a share with
/// a sign. A ratio is shown as "1.38x".
enum class unit {
  none,
  count,     ///< shown with a decimal prefix: "6.55 M"
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

/// Returns the unit symbol without a prefix, such as "B/s". Empty for plain numbers.
std::string_view symbol_of(unit in) noexcept;

/// Formats three significant digits and the unit: "50.6 ms", "5.21 GFLOP", "94.2 %", "1.38x".
std::string to_text(const quantity& of);

/// A time unit for a column or row of a table.
struct time_unit {
  std::string_view name;
  double nanoseconds = 1;
};

inline constexpr time_unit microsecond{"us", 1e3};

/// Returns the unit in which `largest_ns` has one to three digits before the point.
time_unit unit_for(double largest_ns);

/// Formats three significant digits: all digits before the point and at most `decimals` after it.
/// Examples: 1234, 74.1, 0.0210. A value that rounds to zero becomes "<0.0001".
std::string three_digits(double value, int decimals = 4);

/// Same as `three_digits`, with a sign: +16.0, -0.31. A value that rounds to zero becomes "0".
std::string signed_digits(double value, int decimals = 4);

/// Formats a duration in `unit` with `three_digits` and at most 3 decimals; "-" if unknown.
std::string in_unit(std::optional<double> ns, time_unit unit);

}  // namespace graphline
