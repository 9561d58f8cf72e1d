#include "framework/base/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/units.hpp"

namespace graphline {

namespace {

constexpr time_unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}};

/// Decimals that give three digits to a value of this size, which is above 0.
int decimals_for(double value, int most) {
  const auto decimals = 2 - static_cast<int>(std::floor(std::log10(value)));
  const int allowed = std::clamp(decimals, 0, most);
  // 9.996 has three digits with one decimal less: 10.0.
  const double rounded = std::round(value * std::pow(10, allowed)) / std::pow(10, allowed);
  const auto after = 2 - static_cast<int>(std::floor(std::log10(std::max(rounded, value))));
  return std::clamp(after, 0, most);
}

}  // namespace

time_unit unit_for(double largest_ns) {
  for (const auto unit : units) {
    if (largest_ns < 999.5 * unit.nanoseconds) return unit;
  }
  return {"s", 1e9};
}

std::string three_digits(double value, int decimals) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double least = std::pow(10, -decimals);
  if (value < least / 2) return fmt::format("<{:.{}f}", least, decimals);
  return fmt::format("{:.{}f}", value, decimals_for(value, decimals));
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

/// "31.42": all of those before the point.
std::string four_digits(double value) {
  const auto before = static_cast<int>(std::floor(std::log10(std::max(value, 1e-6))));
  return fmt::format("{:.{}f}", value, std::clamp(3 - before, 0, 9));
}

/// "10" of "10.0".
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
      return four_digits(of.value) + " frame/s";
    case unit::flops_per_byte:
      return three_digits(of.value, 2) + " FLOP/B";
    default:
      return format_count(of.value, symbol_of(of.in));
  }
}

}  // namespace graphline
