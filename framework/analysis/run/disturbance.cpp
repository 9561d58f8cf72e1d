#include "framework/analysis/run/disturbance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

/// Minimum reported fractions of the usable cores' time. The limit for steal is lower, because
/// steal always delays threads, while other processes may use idle cores.
constexpr double steal_limit = 0.01;
constexpr double others_limit = 0.1;

/// The system counts in ticks of 10 ms per core, so values of a few ticks are noise.
constexpr nanoseconds resolution = 50'000'000;

/// A clock has dropped if it is below this fraction of its earlier value.
constexpr double dropped_clock = 0.9;

/// Returns CPU time as a fraction of the total time of all cores; empty if unknown.
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

bool exceeds(const std::optional<nanoseconds>& time, double limit,
             const conditions_record& conditions) {
  const auto part = part_of_cores(time, conditions);
  return part && *part > limit && *time > resolution;
}

bool has_dropped(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after && *after < dropped_clock * *before;
}

/// Returns the reasons for throttling before and after the run, without duplicates.
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

bool was_kept_waiting(const thread_time& t, const conditions_record& conditions) {
  constexpr double least_of_its_time = 0.05;
  constexpr double least_of_the_run = 0.01;
  const auto waited = static_cast<double>(t.waited);
  return waited > least_of_its_time * static_cast<double>(t.on_cpu + t.waited) &&
         waited > least_of_the_run * static_cast<double>(conditions.lasted);
}

bool ran_a_stage(const run_record& record, const std::string& thread) {
  const auto known = std::ranges::find(record.threads, thread);
  const auto index = static_cast<std::uint32_t>(known - record.threads.begin());
  return std::ranges::any_of(record.stages, [&](const stage_record& stage) {
    return stage.on == side::device ? thread == device_thread_name
                                    : std::ranges::count(stage.threads, index) > 0;
  });
}

/// Formats " at frames 17 to 19".
std::string held_up_text(const std::vector<std::size_t>& frames) {
  if (frames.empty()) return "";
  if (frames.size() == 1) return fmt::format(" at frame {}", frames.front());
  return fmt::format(" at frames {} to {}", frames.front(), frames.back());
}

std::vector<std::string> standstill_texts(const conditions_record& conditions,
                                          std::span<const frame_record> frames) {
  constexpr std::size_t most_named = 3;
  std::vector<std::string> found;
  for (const auto& still : conditions.standstills) {
    if (found.size() == most_named) {
      found.push_back(
          fmt::format("and stood still {} more times", conditions.standstills.size() - most_named));
      break;
    }
    const auto length = format_duration(static_cast<double>(still.length));
    const auto where = held_up_text(frames_held_up(frames, still));
    found.push_back(still.suspended
                        ? fmt::format("the machine was suspended for {}{}", length, where)
                        : fmt::format("the process stood still for {}{} (SIGSTOP, a frozen "
                                      "container or a paused virtual machine)",
                                      length, where));
  }
  return found;
}

}  // namespace

bool stood_still(const run_record& record) {
  return record.conditions && !record.conditions->standstills.empty();
}

std::vector<std::size_t> frames_held_up(std::span<const frame_record> frames,
                                        const standstill_record& by) {
  const nanoseconds end = by.begin + (by.suspended ? 0 : by.length);
  std::vector<std::size_t> held_up;
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    if (frames[frame].due <= end && frames[frame].end >= by.begin) held_up.push_back(frame);
  }
  return held_up;
}

std::set<std::size_t> frames_held_up(const run_record& record) {
  std::set<std::size_t> held_up;
  if (!stood_still(record)) return held_up;
  const auto& frames = record.frames;
  for (const auto& still : record.conditions->standstills) {
    for (const auto frame : frames_held_up(frames, still)) held_up.insert(frame);
  }
  const auto slots = slots_of(record);
  const run_passes passes(record);
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    if (passes.of(frame) < slots) continue;
    const auto before = passes.first_frame(passes.of(frame) - slots);
    if (held_up.contains(before) && frames[before].end > frames[frame].due) held_up.insert(frame);
  }
  return held_up;
}

run_record without_held_up(const run_record& record) {
  const auto held_up = frames_held_up(record);
  run_record rest;
  rest.run = record.run;
  rest.load = record.load;
  std::vector<stamp_pair> disturbed;
  for (std::size_t frame = 0; frame < record.frames.size(); ++frame) {
    const auto& of = record.frames[frame];
    if (held_up.contains(frame)) {
      disturbed.push_back({of.due, of.end});
    } else {
      rest.frames.push_back(of);
    }
  }
  disturbed = merged(std::move(disturbed));
  const auto was_disturbed = [&](nanoseconds due) {
    const auto next = std::ranges::upper_bound(disturbed, due, {}, &stamp_pair::begin);
    return next != disturbed.begin() && due <= std::prev(next)->end;
  };
  std::erase_if(rest.load.dropped, was_disturbed);
  std::erase_if(rest.load.unfinished, was_disturbed);
  rest.load.cut_short = 0;
  return rest;
}

std::vector<std::string> disturbances_of(const conditions_record& conditions,
                                         std::span<const frame_record> frames) {
  const auto& c = conditions;
  std::vector<std::string> found = standstill_texts(c, frames);
  if (exceeds(c.throttled, steal_limit, c)) {
    found.push_back(fmt::format("the CPU quota of the control group held threads back for {}",
                                format_duration(static_cast<double>(*c.throttled))));
  }
  if (exceeds(c.others, others_limit, c)) {
    found.push_back("other processes kept " + cores_text(*c.others, c) + " busy");
  }
  if (exceeds(c.steal, steal_limit, c)) {
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
  auto found = disturbances_of(*over, one.frames);
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
