#include "framework/campaign/predict/worst_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/run/execute/frame_schedule.hpp"

namespace graphline {
namespace {

void check_frames_apart(const settings& run) {
  const bool one_after_another = run.arrival == arrival::closed && run.in_flight == 1;
  if (one_after_another || run.arrival == arrival::constant) return;
  const std::string cause = run.arrival == arrival::closed
                                ? fmt::format("{} frames are in flight", run.in_flight)
                                : fmt::format("arrivals are {}", to_word(run.arrival));
  throw input_error(
      fmt::format("--at-most: {}, so frames can overlap, and the bound is for frames that do not; "
                  "use --in-flight 1 with --arrival closed, or --arrival constant with a period "
                  "that is not shorter than the bound",
                  cause));
}

}  // namespace

worst_case bound_frames(const plan& p, const source_times& times, const source_overheads& overheads,
                        int cores, const std::map<std::string, nanoseconds>& at_most) {
  for (const auto& [name, time] : at_most) stage_named(p, name, "--at-most");
  check_frames_apart(p.run);
  const schedule_properties& how = p.schedule.properties;
  const bool one_by_one = how.in_order || how.one_launch;
  const double m = one_by_one ? 1 : cores;
  // With several frames in flight, one host thread looks at the device at intervals.
  const nanoseconds seen =
      overheads.completion_delay + (p.run.in_flight > 1 ? device_poll_interval : 0);

  worst_case made;
  double work = 0;                               // of all stages, shared out to what executes them
  std::vector<double> path(p.stages.size(), 0);  // longest to the end of each stage
  double longest_path = 0;
  double all_delays = 0;
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    const planned_stage& stage = p.stages[s];
    const auto stated = at_most.find(stage.name);
    const longest_times longest = times.longest(s);
    const nanoseconds time = stated == at_most.end() ? longest.work : stated->second;
    if (time > 0) made.stages.push_back({stage.name, time, stated != at_most.end()});
    const bool on_cpu = stage.on == side::cpu;
    const auto ns = static_cast<double>(time);
    const auto issue = static_cast<double>(longest.issue);
    const nanoseconds start =
        on_cpu ? 0 : std::max(overheads.device_start, overheads.device_restart);
    const auto delay = static_cast<double>(seen + start);
    work += (on_cpu ? ns / m : ns) + (how.one_launch ? 0 : issue);
    // A posted stage may wait for wake-ups of workers that take other stages.
    if (!one_by_one) work += static_cast<double>(overheads.wake_up);
    all_delays += delay;
    for (const dependency& each : stage.waits) path[s] = std::max(path[s], path[each.stage]);
    path[s] += delay + (on_cpu ? (1 - 1 / m) * ns : 0);
    longest_path = std::max(longest_path, path[s]);
  }
  if (how.one_launch) work += static_cast<double>(times.longest_launch());
  made.bound = std::llround(std::ceil(work + (one_by_one ? all_delays : longest_path))) + seen;
  if (p.run.arrival == arrival::constant) {
    made.bound += overheads.completion_delay;  // the thread that begins the frame wakes up late
    made.period = std::llround(1e9 / *p.run.rate);
  }
  return made;
}

}  // namespace graphline
