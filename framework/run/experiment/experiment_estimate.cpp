#include "framework/run/experiment/experiment_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

constexpr std::int64_t frames_tried = 2;

/// From the first begin to the last end, per frame. 0 without a frame: where several run at once,
/// those that lead may be done before another begins its first.
double time_of_frame(const run_record& record) {
  if (record.frames.empty()) return 0;
  nanoseconds end = 0;
  for (const auto& frame : record.frames) end = std::max(end, frame.end);
  return static_cast<double>(end - record.frames.front().begin) /
         static_cast<double>(record.frames.size());
}

/// A member's warm-up, which runs closed, and its measured frames.
double time_of_run(const settings& run, double frame) {
  const double measured = run.rate ? std::max(frame, 1e9 / *run.rate) : frame;
  return static_cast<double>(run.warmup) * frame + static_cast<double>(run.frames) * measured;
}

/// Of several pipelines those with a schedule, or else the first, decide how long all of them run.
nanoseconds time_of_trial(const planned_configuration& configuration,
                          const std::vector<run_record>& tried) {
  double longest = 0;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const auto& run = configuration.members[i].run;
    const double time = time_of_run(run, time_of_frame(tried[i]));
    if (i == 0 || run.arrival != arrival::closed) longest = std::max(longest, time);
  }
  return static_cast<nanoseconds>(longest);
}

}  // namespace

std::vector<nanoseconds> try_out(const experiment_plan& planned, trial_runner& runner,
                                 const stop_request* stop,
                                 const std::function<void(std::size_t)>& on_progress) {
  std::vector<nanoseconds> times;
  for (std::size_t i = 0; i < planned.configurations.size(); ++i) {
    const auto& configuration = planned.configurations[i];
    const auto tried = runner.run(i, {.frames = frames_tried, .warmup = 1}, stop);
    for (const auto& record : tried) {
      if (record.failure) {
        throw run_error(
            fmt::format("configuration '{}': {}", configuration.what.name, *record.failure));
      }
      if (record.interrupted) {
        throw interrupted_error(
            "interrupted while trying the configurations; nothing was measured");
      }
    }
    times.push_back(time_of_trial(configuration, tried));
    if (on_progress) on_progress(i + 1);
  }
  return times;
}

}  // namespace graphline
