#include "framework/analysis/roofline/ceilings.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "framework/analysis/roofline/ceiling_label.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

using named_values = std::vector<std::pair<std::string, std::string>>;

/// After how many days an unchanged machine should be measured again.
constexpr std::int64_t old_after_days = 90;

/// What environments say that has no part in what a device can do.
constexpr std::array<std::string_view, 7> without_part = {
    "date", "host name", "system", "cores", "compiler", "commit", "oneTBB"};

const std::string* value_of(const named_values& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &named_values::value_type::first);
  return found == values.end() ? nullptr : &found->second;
}

/// Whatever both say, but not alike.
void compare(const named_values& then, const named_values& now, std::vector<std::string>& reasons) {
  for (const auto& [name, before] : then) {
    if (std::ranges::find(without_part, name) != without_part.end()) continue;
    const std::string* const after = value_of(now, name);
    if (after == nullptr || *after == before) continue;
    reasons.push_back(fmt::format("{} was {}, is {}", name, before, *after));
  }
}

/// Seconds since 1970 of a date as environments have it; nothing for another text.
std::optional<std::int64_t> seconds_of(const std::string* date) {
  if (date == nullptr) return std::nullopt;
  std::tm parts{};
  const char* const end = ::strptime(date->c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::int64_t{::timegm(&parts)};
}

ceiling_figure figure_of(const ceiling_record& c, const distribution& times) {
  const bool duration = unit_of(c.what) == ceiling_unit::duration;
  const auto at = [&](double p) {
    const auto time = times.sorted()[rank_of(p, times.count())];
    const auto ns = static_cast<double>(std::max<nanoseconds>(time, 1));
    return duration ? ns / c.amount : c.amount * 1e9 / ns;
  };
  return {c.what, c.arithmetic, at(0.5), at(0.9), at(0.1)};
}

}  // namespace

std::vector<ceiling_figure> figures_of(const calibration_record& record) {
  std::vector<ceiling_figure> figures;
  for (const ceiling_record& c : record.ceilings) {
    const auto times = distribution::of(c.times);
    if (times && c.amount > 0) figures.push_back(figure_of(c, *times));
  }
  return figures;
}

double spread_of(const ceiling_figure& figure) {
  if (unit_of(figure.what) == ceiling_unit::duration) {
    return (figure.worst - figure.best) / figure.value;
  }
  return figure.value / figure.worst - figure.value / figure.best;
}

std::vector<std::string> wide_spreads(const std::vector<ceiling_figure>& figures) {
  std::vector<std::string> wide;
  for (const auto& figure : figures) {
    if (unit_of(figure.what) == ceiling_unit::duration) continue;
    const double spread = spread_of(figure);
    if (spread <= wide_spread) continue;
    wide.push_back(
        fmt::format("{} ({:.0f} %)", label_of(figure.what, figure.arithmetic), 100 * spread));
  }
  return wide;
}

std::vector<std::string> stale_reasons(const calibration_record& record,
                                       const device_properties& device,
                                       const named_values& environment) {
  std::vector<std::string> reasons;
  const device_properties& then = record.device;
  if (then.backend != device.backend) {
    reasons.push_back(fmt::format("the backend was {}, is {}", then.backend, device.backend));
  }
  if (then.name != device.name) {
    reasons.push_back(fmt::format("the device was {}, is {}", then.name, device.name));
  }
  if (then.compute_threads != device.compute_threads) {
    reasons.push_back(fmt::format("compute threads were {}, are {}", then.compute_threads,
                                  device.compute_threads));
  }
  compare(then.details, device.details, reasons);
  compare(record.environment, environment, reasons);
  const auto has = [&](ceiling what) {
    return std::ranges::find(record.ceilings, what, &ceiling_record::what) != record.ceilings.end();
  };
  if (has(ceiling::copy) && !has(ceiling::write)) {
    reasons.push_back(
        "it is from a version that measured only reading and copying, by other loops");
  }

  const auto measured = seconds_of(value_of(record.environment, "date"));
  const auto now = seconds_of(value_of(environment, "date"));
  if (measured && now) {
    const std::int64_t days = (*now - *measured) / (24 * 60 * 60);
    if (days > old_after_days) reasons.push_back(fmt::format("it is {} days old", days));
    // A clock may have been set back by a little.
    if (days < 0) {
      reasons.push_back(
          fmt::format("its date is {} day{} in the future", -days, days < -1 ? "s" : ""));
    }
  }
  return reasons;
}

}  // namespace graphline
