#include "framework/analysis/run/disturbance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "framework/base/utf8.hpp"

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

/// Of what a thread ran and waited, and of the time that the run lasted.
bool was_kept_waiting(const thread_time& t, const conditions_record& conditions) {
  constexpr double much_of_its_time = 0.05;
  constexpr double much_of_the_run = 0.01;
  const auto waited = static_cast<double>(t.waited);
  return waited > much_of_its_time * static_cast<double>(t.on_cpu + t.waited) &&
         waited > much_of_the_run * static_cast<double>(conditions.lasted);
}

bool ran_a_stage(const run_record& record, const std::string& thread) {
  const auto known = std::ranges::find(record.threads, thread);
  const auto index = static_cast<std::uint32_t>(known - record.threads.begin());
  return std::ranges::any_of(record.stages, [&](const stage_record& stage) {
    return stage.on == side::device ? thread == device_thread_name
                                    : std::ranges::count(stage.threads, index) > 0;
  });
}

}  // namespace

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

std::optional<finding> disturbance_finding(const std::optional<conditions_record>& over,
                                           const run_record& one) {
  if (!over) return std::nullopt;
  auto found = disturbances_of(*over);
  for (const auto& thread : over->threads) {
    if (!was_kept_waiting(thread, *over) || !ran_a_stage(one, thread.thread)) continue;
    const auto wanted = static_cast<double>(thread.on_cpu + thread.waited);
    found.push_back(
        fmt::format("thread {} waited for a core {:.0f} % of the time it wanted one, which "
                    "lengthens its stages",
                    quote(thread.thread), 100 * static_cast<double>(thread.waited) / wanted));
  }
  if (found.empty()) return std::nullopt;
  return finding{"disturbed", finding_severity::warning}.with("by", std::move(found));
}

}  // namespace graphline
