#include "framework/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <system_error>

namespace graphline {
namespace {

struct scale {
  std::string_view name;
  double size;
};

constexpr scale decimal_prefixes[] = {{"", 1},    {"k", 1e3},  {"M", 1e6},
                                      {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
constexpr scale binary_prefixes[] = {{"B", 0x1p0},    {"KiB", 0x1p10}, {"MiB", 0x1p20},
                                     {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}};
constexpr scale time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/// The smallest scale in which `value` stays below `limit`, else the largest.
const scale& choose(std::span<const scale> scales, double value, double limit) {
  const auto fits = [&](const scale& s) { return std::abs(value) / s.size < limit; };
  const auto found = std::ranges::find_if(scales, fits);
  return found == scales.end() ? scales.back() : *found;
}

/// Three significant digits without an exponent; no decimals from 100 on, and none for zero.
std::string three_digits(double value) {
  if (value == 0) return "0";
  // Rounding to three digits first shows which power of ten the rounded value has.
  const std::string rounded = fmt::format("{:.2e}", value);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::clamp(2 - exponent, 0, 12));
}

// Below this a value still rounds to three digits before the point.
constexpr double below_thousand = 999.5;

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const auto value = static_cast<double>(bytes);
  const scale& prefix = choose(binary_prefixes, value, 1023.5);
  return fmt::format("{} {}", three_digits(value / prefix.size), prefix.name);
}

std::string format_count(double value, std::string_view unit) {
  if (!std::isfinite(value)) return fmt::format("unknown {}", unit);
  const scale& prefix = choose(decimal_prefixes, value, below_thousand);
  const bool whole = prefix.size == 1 && value == std::round(value);
  const std::string digits =
      whole ? fmt::format("{:.0f}", value) : three_digits(value / prefix.size);
  if (prefix.name.empty() && unit.empty()) return digits;
  return fmt::format("{} {}{}", digits, prefix.name, unit);
}

std::string format_duration(double ns) {
  if (!std::isfinite(ns)) return "unknown";
  if (ns < 0) return '-' + format_duration(-ns);
  const scale& unit = choose(time_units, ns, below_thousand);
  return fmt::format("{} {}", three_digits(ns / unit.size), unit.name);
}

namespace {

/// Takes a number that is not negative from the beginning, and the spaces after it.
std::optional<double> take_number(std::string_view& text) {
  // from_chars would also take a sign, "inf" and "nan".
  const bool begins = !text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'));
  if (!begins) return std::nullopt;
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return value;
}

}  // namespace

std::optional<nanoseconds> parse_duration(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  double value = *number;
  if (text == "µs") text = "us";
  if (text == "min") {
    value *= 60;
    text = "s";
  }
  for (const scale& unit : time_units) {
    if (text != unit.name) continue;
    const double ns = std::round(value * unit.size);
    if (ns >= 0x1p63) return std::nullopt;
    return static_cast<nanoseconds>(ns);
  }
  return std::nullopt;
}

std::optional<double> parse_percent(std::string_view text) {
  const auto percent = take_number(text);
  return percent && text == "%" ? std::optional(*percent / 100) : std::nullopt;
}

}  // namespace graphline
