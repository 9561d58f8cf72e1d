#include "framework/analysis/experiment/member_summary.hpp"

#include <algorithm>
#include <utility>

#include "framework/analysis/run/frame_period.hpp"

namespace graphline {
namespace {

void append(std::vector<nanoseconds>& to, const std::vector<nanoseconds>& times) {
  to.insert(to.end(), times.begin(), times.end());
}

/// All frames of all runs: when they were due, how long they took, and what that kept busy.
void add_frames(member_summary& to, std::span<const run_record* const> runs, double tail) {
  std::vector<nanoseconds> all;
  nanoseconds running = 0;
  completed_frames done;
  nanoseconds processor = 0;
  for (const auto* run : runs) {
    auto times = end_to_end_times(*run);
    append(all, times);
    running += running_time(*run);
    const auto completed = completions_of(*run);
    done.count += completed.count;
    done.time += completed.time;
    processor += run->processor_time;
    to.due += run->frames.size() + run->load.dropped.size();
    to.dropped += run->load.dropped.size();
    to.device_bytes = std::max(to.device_bytes, run->memory.device_bytes);
    if (!times.empty()) {
      to.trial_medians.push_back(static_cast<double>(lower_median(std::move(times))));
    }
  }
  to.between_trials = stddev_of(to.trial_medians);
  if (done.time > 0) to.throughput = done.count * 1e9 / done.time;
  // A run that was read from elsewhere may not know it; no run takes none.
  if (running > 0 && processor > 0) {
    to.cores = static_cast<double>(processor) / static_cast<double>(running);
  }
  if (!runs.empty() && runs.front()->run.deadline) {
    to.deadline = compare_with_deadline(*runs.front()->run.deadline, all);
  }
  to.end_to_end = distribution::of(std::move(all));
  if (to.end_to_end) to.tail = to.end_to_end->percentile(tail);
}

member_summary::stage summarize_stage(const stage_record& first,
                                      std::span<const run_record* const> runs) {
  member_summary::stage result{first.name, first.on, first_measure(first, runs.front()->run), {}};
  if (!result.what) return result;
  std::vector<nanoseconds> all;
  for (const auto* run : runs) {
    if (const auto* stage = find_stage(*run, first.name)) {
      append(all, times_of(*stage, *result.what));
    }
  }
  result.times = distribution::of(std::move(all));
  return result;
}

}  // namespace

member_summary summarize_member(std::string name, std::span<const run_record* const> runs,
                                double tail) {
  member_summary result;
  result.name = std::move(name);
  result.trials = runs.size();
  add_frames(result, runs, tail);
  if (runs.empty()) return result;
  for (const auto& stage : runs.front()->stages) {
    result.stages.push_back(summarize_stage(stage, runs));
  }
  return result;
}

std::optional<measure> first_measure(const stage_record& stage, const settings& run) {
  const auto measures = measures_of(stage.on, run);
  if (measures.empty()) return std::nullopt;
  return measures.front();
}

const stage_record* find_stage(const run_record& run, const std::string& name) {
  const auto found = std::find_if(run.stages.begin(), run.stages.end(),
                                  [&](const stage_record& stage) { return stage.name == name; });
  return found == run.stages.end() ? nullptr : &*found;
}

}  // namespace graphline
