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

/// Returns the first scale in which `value` is below `limit`, or the largest scale.
const scale& choose(std::span<const scale> scales, double value, double limit) {
  const auto fits = [&](const scale& s) { return std::abs(value) / s.size < limit; };
  const auto found = std::ranges::find_if(scales, fits);
  return found == scales.end() ? scales.back() : *found;
}

/// Formats `digits` significant digits without an exponent: all digits before the point and at most
/// `decimals` after it. Zero is "0".
std::string significant(double value, int digits, int decimals) {
  if (value == 0) return "0";
  // Uses the exponent of the rounded value, because 9.996 becomes 10.0.
  const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::clamp(digits - 1 - exponent, 0, decimals));
}

std::string three_significant(double value) {
  return significant(value, 3, 12);
}

// Smaller values round to at most three digits before the point.
constexpr double below_thousand = 999.5;

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const auto value = static_cast<double>(bytes);
  const scale& prefix = choose(binary_prefixes, value, 1023.5);
  return fmt::format("{} {}", three_significant(value / prefix.size), prefix.name);
}

std::string format_count(double value, std::string_view unit) {
  if (!std::isfinite(value)) return fmt::format("unknown {}", unit);
  const scale& prefix = choose(decimal_prefixes, value, below_thousand);
  const bool whole = prefix.size == 1 && value == std::round(value);
  const std::string digits =
      whole ? fmt::format("{:.0f}", value) : three_significant(value / prefix.size);
  if (prefix.name.empty() && unit.empty()) return digits;
  return fmt::format("{} {}{}", digits, prefix.name, unit);
}

std::string format_duration(double ns) {
  if (!std::isfinite(ns)) return "unknown";
  if (ns < 0) return '-' + format_duration(-ns);
  const scale& unit = choose(time_units, ns, below_thousand);
  return fmt::format("{} {}", three_significant(ns / unit.size), unit.name);
}

namespace {

/// Removes a non-negative number and the spaces after it from the beginning of `text`.
std::optional<double> take_number(std::string_view& text) {
  // from_chars also accepts a minus sign, "inf" and "nan".
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
  const auto ns = parse_nanoseconds(text);
  return ns && *ns < 0x1p63 ? std::optional(static_cast<nanoseconds>(*ns)) : std::nullopt;
}

std::optional<double> parse_nanoseconds(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  double value = *number;
  if (text == "\u00b5s" || text == "\u03bcs") text = "us";  // micro sign, Greek mu
  if (text == "min") {
    value *= 60;
    text = "s";
  }
  for (const scale& unit : time_units) {
    if (text == unit.name) return std::round(value * unit.size);
  }
  return std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  const auto number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

std::optional<double> parse_percent(std::string_view text) {
  const auto percent = take_number(text);
  return percent && text == "%" ? std::optional(*percent / 100) : std::nullopt;
}

std::optional<double> parse_bytes(std::string_view text) {
  const auto number = take_number(text);
  for (const scale& unit : binary_prefixes) {
    if (number && text == unit.name) return *number * unit.size;
  }
  return std::nullopt;
}

std::optional<double> parse_rate(std::string_view text) {
  const auto rate = take_number(text);
  return rate && text == "/s" ? rate : std::nullopt;
}

time_unit unit_for(double largest_ns) {
  const scale& unit = choose(time_units, largest_ns, below_thousand);
  return {unit.name, unit.size};
}

std::string three_digits(double value, int decimals) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double least = std::pow(10, -decimals);
  if (value < least / 2) return fmt::format("<{:.{}f}", least, decimals);
  return significant(value, 3, decimals);
}

std::string signed_digits(double value, int decimals) {
  const double size = std::abs(value);
  if (size < std::pow(10, -decimals) / 2) return "0";
  return fmt::format("{}{}", value < 0 ? '-' : '+', three_digits(size, decimals));
}

std::string in_unit(std::optional<double> ns, time_unit unit) {
  return ns ? three_digits(*ns / unit.nanoseconds, 3) : "-";
}

std::string_view symbol_of(unit in) noexcept {
  switch (in) {
    case unit::duration:
      return "ns";
    case unit::bytes:
      return "B";
    case unit::flops:
      return "FLOP";
    case unit::bytes_per_second:
      return "B/s";
    case unit::flops_per_second:
      return "FLOP/s";
    case unit::flops_per_byte:
      return "FLOP/B";
    case unit::frames_per_second:
      return "frame/s";
    case unit::share:
    case unit::change:
      return "%";
    case unit::ratio:
      return "x";
    case unit::none:
    case unit::count:
      break;
  }
  return "";
}

namespace {

/// Removes ".0".
std::string without_zeros(std::string number) {
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number;
}

}  // namespace

std::string to_text(const quantity& of) {
  switch (of.in) {
    case unit::duration:
      return format_duration(of.value);
    case unit::share:
      return without_zeros(three_digits(100 * of.value, 1)) + " %";
    case unit::change:
      return signed_digits(100 * of.value, 2) + " %";
    case unit::ratio:
      return three_digits(of.value, 2) + 'x';
    case unit::none:
      if (of.value == std::round(of.value)) return fmt::format("{:.0f}", of.value);
      if (std::abs(of.value) < 0.01) return fmt::format("{:.2g}", of.value);
      return three_digits(of.value, 2);
    case unit::frames_per_second:
      return significant(of.value, 4, 9) + " frame/s";
    case unit::flops_per_byte:
      return three_digits(of.value, 2) + " FLOP/B";
    default:
      return format_count(of.value, symbol_of(of.in));
  }
}

}  // namespace graphline
