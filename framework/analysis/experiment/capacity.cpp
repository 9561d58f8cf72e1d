#include "framework/analysis/experiment/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/summary.hpp"

namespace graphline {
namespace {

/// From begin to end of the frames that no other was beside.
std::vector<nanoseconds> times_alone(const run_record& record) {
  std::vector<nanoseconds> times;
  nanoseconds ended = 0;  // the last of those before
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const auto& frame = record.frames[i];
    const bool after = i == 0 || frame.begin >= ended;
    const bool before = i + 1 == record.frames.size() || record.frames[i + 1].begin >= frame.end;
    if (after && before) times.push_back(frame.end - frame.begin);
    ended = std::max(ended, frame.end);
  }
  return times;
}

/// The runs of each probe, in the order in which probes began.
std::vector<probe_summary> probes_of(const std::vector<capacity_run>& runs) {
  std::vector<probe_summary> probes;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto at = std::find(numbers.begin(), numbers.end(), runs[i].probe) - numbers.begin();
    const auto index = static_cast<std::size_t>(at);
    if (index == probes.size()) {
      numbers.push_back(runs[i].probe);
      probes.emplace_back();
    }
    auto& probe = probes[index];
    probe.rate = runs[i].rate;
    probe.pooled = runs[i].pooled;
    probe.cut_off |= runs[i].cut_off;
    probe.dropped += runs[i].record.load.dropped.size();
    probe.runs.push_back(i);
  }
  return probes;
}

}  // namespace

std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop) {
  if (how.arrival != arrival::poisson) return 0;
  const double within_bound = closed_loop * 1e-9 * static_cast<double>(how.bound);
  return std::llround(std::min(4 * within_bound * within_bound, 1e9));
}

capacity_summary summarize(const capacity_record& record) {
  capacity_summary result;
  result.closed_loop = summarize(record.closed_loop).throughput;
  std::vector<capacity_run_summary> runs;
  std::vector<std::vector<nanoseconds>> alone = {times_alone(record.closed_loop)};
  for (const auto& run : record.runs) {
    runs.push_back(summarize(run, record.how));
    alone.push_back(times_alone(run.record));
  }
  result.alone = check_bound(alone, record.how.percentile, record.how.bound);
  result.estimate = estimate_capacity(record.how, result.closed_loop, record.runs, runs);
  result.warning = disturbance_finding(record.conditions, record.closed_loop);
  result.probes = probes_of(record.runs);
  for (auto& probe : result.probes) {
    std::vector<std::vector<nanoseconds>> times;
    for (const auto i : probe.runs) {
      probe.held += runs[i].held ? 1 : 0;
      probe.growing += runs[i].growing ? 1 : 0;
      if (result.estimate.disturbed[i]) {
        ++probe.disturbed;
      } else {
        times.push_back(runs[i].times);
      }
    }
    probe.times = check_bound(times, record.how.percentile, record.how.bound);
  }
  return result;
}

}  // namespace graphline
