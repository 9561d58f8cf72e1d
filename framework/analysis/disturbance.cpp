#include "framework/analysis/disturbance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "framework/base/units.hpp"

namespace graphline {

namespace {

/// Of the time of the cores that the run could use. A hypervisor takes its time from threads that
/// want to run; other processes may have run where nothing else did.
constexpr double much_steal = 0.01;
constexpr double much_by_others = 0.1;

/// The system counts in ticks of 10 ms, core by core, so that less than this may be none.
constexpr nanoseconds resolution = 50'000'000;

/// Below this part of what it was a clock has dropped.
constexpr double dropped_clock = 0.9;

/// A time of cores as a part of what all of them had.
std::optional<double> part_of_cores(const std::optional<nanoseconds>& time,
                                    const conditions_record& conditions) {
  if (!time || conditions.lasted <= 0 || conditions.cores <= 0) return std::nullopt;
  return static_cast<double>(*time) / static_cast<double>(conditions.lasted) / conditions.cores;
}

std::string cores_text(nanoseconds time, const conditions_record& conditions) {
  return fmt::format("{:.2f} of {} core{}",
                     static_cast<double>(time) / static_cast<double>(conditions.lasted),
                     conditions.cores, conditions.cores == 1 ? "" : "s");
}

bool is_much(const std::optional<nanoseconds>& time, double limit,
             const conditions_record& conditions) {
  const auto part = part_of_cores(time, conditions);
  return part && *part > limit && *time > resolution;
}

bool has_dropped(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after && *after < dropped_clock * *before;
}

std::string from_to(const std::optional<double>& before, const std::optional<double>& after,
                    int digits, std::string_view unit) {
  const auto text = [&](const std::optional<double>& value) {
    return value ? fmt::format("{:.{}f}{}", *value, digits, unit) : std::string("not known");
  };
  return text(before) + " before, " + text(after) + " after";
}

/// The reasons of both states, each once.
std::vector<std::string> slowed_by(const conditions_record& conditions) {
  std::vector<std::string> reasons;
  for (const auto* state : {&conditions.device_before, &conditions.device_after}) {
    if (!*state) continue;
    for (const auto& reason : (*state)->slowed_by) {
      if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(reason);
    }
  }
  return reasons;
}

std::optional<int> other_processes(const conditions_record& conditions) {
  std::optional<int> most;
  for (const auto* state : {&conditions.device_before, &conditions.device_after}) {
    if (*state && (*state)->other_processes) {
      most = std::max(most.value_or(0), *(*state)->other_processes);
    }
  }
  return most;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> facts_of(const conditions_record& conditions) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto& c = conditions;
  if (c.load_before || c.load_after) {
    facts.emplace_back("load average", from_to(c.load_before, c.load_after, 2, ""));
  }
  if (c.others && c.lasted > 0) {
    facts.emplace_back("other processes", cores_text(*c.others, c) + " busy");
  }
  if (const auto part = part_of_cores(c.steal, c)) {
    facts.emplace_back("steal", fmt::format("{:.1f} %", 100 * *part));
  }
  if (c.clock_before || c.clock_after) {
    facts.emplace_back("CPU clock", from_to(c.clock_before, c.clock_after, 0, " MHz"));
  }
  const auto& before = c.device_before;
  const auto& after = c.device_after;
  if (!before || !after) return facts;
  facts.emplace_back("device clock", from_to(before->clock, after->clock, 0, " MHz"));
  facts.emplace_back("device memory clock",
                     from_to(before->memory_clock, after->memory_clock, 0, " MHz"));
  const auto reasons = slowed_by(c);
  facts.emplace_back("device clocks held down by",
                     reasons.empty() ? "nothing" : fmt::format("{}", fmt::join(reasons, ", ")));
  if (const auto others = other_processes(c)) {
    facts.emplace_back("other processes on the device", fmt::to_string(*others));
  }
  return facts;
}

std::vector<std::string> disturbances_of(const conditions_record& conditions) {
  std::vector<std::string> found;
  const auto& c = conditions;
  if (is_much(c.others, much_by_others, c)) {
    found.push_back("other processes kept " + cores_text(*c.others, c) + " busy");
  }
  if (is_much(c.steal, much_steal, c)) {
    found.push_back(fmt::format("the hypervisor took {:.1f} % of the cores' time (steal)",
                                100 * *part_of_cores(c.steal, c)));
  }
  if (has_dropped(c.clock_before, c.clock_after)) {
    found.push_back(fmt::format("the CPU's clock dropped from {:.0f} to {:.0f} MHz",
                                *c.clock_before, *c.clock_after));
  }
  const auto reasons = slowed_by(c);
  if (!reasons.empty()) {
    found.push_back(
        fmt::format("the device's clocks were held down by {}", fmt::join(reasons, " and ")));
  }
  if (c.device_before && c.device_after) {
    const auto& [before, after] = std::pair(*c.device_before, *c.device_after);
    if (has_dropped(before.clock, after.clock)) {
      found.push_back(fmt::format("the device's clock dropped from {:.0f} to {:.0f} MHz",
                                  *before.clock, *after.clock));
    }
  }
  if (const auto others = other_processes(c); others.value_or(0) > 0) {
    found.push_back(
        fmt::format("{} other process{} used the device", *others, *others == 1 ? "" : "es"));
  }
  return found;
}

std::optional<std::string> disturbance_warning(const run_record& record) {
  if (!record.conditions) return std::nullopt;
  const auto found = disturbances_of(*record.conditions);
  if (found.empty()) return std::nullopt;
  return fmt::format("disturbed (machine noise): {}", fmt::join(found, "; "));
}

}  // namespace graphline
