#include "framework/campaign/predict/worst_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/run/execute/frame_schedule.hpp"

namespace graphline {
namespace {

void check_frames_apart(const settings& run) {
  const bool one_after_another = run.arrival == arrival::closed && run.in_flight == 1;
  if (one_after_another || (run.arrival == arrival::constant && run.burst == 1)) return;
  const std::string cause = run.arrival == arrival::closed
                                ? fmt::format("{} frames are in flight", run.in_flight)
                            : run.burst > 1 ? fmt::format("{} frames are due at once", run.burst)
                            : run.arrival == arrival::trace ? "arrivals follow a trace"
                                                            : "arrivals are poisson";
  throw input_error(
      fmt::format("--at-most: {}, so frames can overlap, and the bound is for frames that do not; "
                  "use --in-flight 1 with --arrival closed, or --arrival constant with a period "
                  "that is not shorter than the bound",
                  cause));
}

/// Times of stages, and of delays, that add up in the bound.
struct part {
  double work = 0;
  double delays = 0;

  double sum() const noexcept { return work + delays; }
};

/// @throws input_error for a stage without a stated time that ran in no frame of the sources
nanoseconds longest_time(const planned_stage& stage, const longest_times& longest,
                         const std::optional<nanoseconds>& stated) {
  if (stated) return *stated;
  if (longest.ran) return longest.work;
  throw input_error(
      fmt::format("--at-most: stage '{0}' did not run in the source, so its longest time is "
                  "unknown; give it with "
                  "--at-most {0}=TIME",
                  stage.name));
}

}  // namespace

worst_case bound_frames(const plan& p, const source_times& times, const source_overheads& overheads,
                        int cores, const std::map<std::string, nanoseconds>& at_most) {
  for (const auto& [name, time] : at_most) stage_named(p, name, "--at-most");
  check_frames_apart(p.run);
  if (p.policy.kind != nullptr && p.policy.kind->holds) {
    throw input_error(fmt::format(
        "--at-most: policy {} holds stages back, for a time that the bound cannot know; use a "
        "policy that does not",
        p.policy.kind->name));
  }
  const schedule_properties& how = p.schedule.properties;
  const bool one_by_one = how.in_order || how.one_launch;
  const double m = one_by_one ? 1 : cores;
  // With several frames in flight, a single host thread looks at the device at intervals.
  const bool polls = one_by_one && p.run.in_flight > 1;
  const nanoseconds seen = overheads.completion_delay + (polls ? device_poll_interval : 0);

  worst_case made;
  part all;                                 // what some stage or overhead always works on
  std::vector<part> path(p.stages.size());  // the longest to the end of each stage
  part longest_path;
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    const planned_stage& stage = p.stages[s];
    const auto found = at_most.find(stage.name);
    const auto stated = found == at_most.end() ? std::nullopt : std::optional(found->second);
    const longest_times longest = times.longest(s);
    const nanoseconds time = longest_time(stage, longest, stated);
    if (time > 0 || stated) made.stages.push_back({stage.name, time, stated.has_value()});
    const bool on_cpu = stage.on == side::cpu;
    const auto ns = static_cast<double>(time);
    const nanoseconds start =
        on_cpu ? 0 : std::max(overheads.device_start, overheads.device_restart);
    const auto delay = static_cast<double>(seen + start);
    if (!how.one_launch) made.issue += longest.issue;
    all.work += on_cpu ? ns / m : ns;
    if (one_by_one) {
      all.delays += delay;
      continue;
    }
    // A posted stage may wait for wake-ups of workers that take other stages.
    all.delays += static_cast<double>(overheads.wake_up);
    for (const dependency& each : stage.waits) {
      path[s] = std::ranges::max(path[s], path[each.stage], {}, &part::sum);
    }
    path[s].work += on_cpu ? (1 - 1 / m) * ns : 0;
    // Stages that wait for the window follow each other, each after the host has seen the last one.
    const bool in_a_row = p.run.window > 0 && !on_cpu;
    (in_a_row ? all : path[s]).delays += delay;
    longest_path = std::ranges::max(longest_path, path[s], {}, &part::sum);
  }
  if (how.one_launch) made.issue = times.longest_launch();
  made.delays = std::llround(all.delays + longest_path.delays) + seen;
  if (p.run.arrival == arrival::constant) {
    made.delays += overheads.completion_delay;  // the thread that begins the frame wakes up late
    made.delays += p.run.jitter.value_or(0);
    made.period = std::llround(1e9 / *p.run.rate);
  }
  made.bound = std::llround(std::ceil(all.work + longest_path.work)) + made.issue + made.delays;
  return made;
}

}  // namespace graphline
