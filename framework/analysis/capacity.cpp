#include "framework/analysis/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/distribution.hpp"
#include "framework/analysis/summary.hpp"

namespace graphline {
namespace {

/// From due to end of the frames after the first tenth, in the order in which they were due.
std::vector<nanoseconds> settled_times(const capacity_run& run) {
  std::vector<std::pair<nanoseconds, nanoseconds>> due;  // and how long it took
  due.reserve(run.record.frames.size() + run.record.load.dropped.size());
  for (const auto& frame : run.record.frames) due.emplace_back(frame.due, frame.end - frame.due);
  for (const auto at : run.record.load.dropped) due.emplace_back(at, never);
  std::sort(due.begin(), due.end());
  const auto unsettled = static_cast<std::size_t>(run.record.run.frames / 10);
  std::vector<nanoseconds> times;
  for (std::size_t i = unsettled; i < due.size(); ++i) times.push_back(due[i].second);
  times.insert(times.end(), static_cast<std::size_t>(run.overdue), never);
  return times;
}

/// Whether the frames of each quarter waited for longer than those before, by more than a twentieth
/// of the time between two frames. A queue that is kept up with wanders up and down instead.
bool keeps_growing(const capacity_run& run) {
  constexpr std::size_t parts = 4;
  const auto& frames = run.record.frames;
  const std::size_t length = frames.size() / parts;
  if (length < 5) return false;
  const double least = 1e9 / run.rate / 20;
  double before = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<nanoseconds> waits;
    for (std::size_t i = part * length; i < (part + 1) * length; ++i) {
      waits.push_back(frames[i].begin - frames[i].due);
    }
    const auto wait = static_cast<double>(distribution::of(std::move(waits))->median());
    if (part > 0 && wait < before + least) return false;
    before = wait;
  }
  return true;
}

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

void choose(capacity_summary& to) {
  const auto& probes = to.probes;
  const auto lower = [&](const std::optional<std::size_t>& found, std::size_t i) {
    return !found || probes[i].rate < probes[*found].rate;
  };
  std::optional<std::size_t> refuted;  // by a longer run, and with it what short ones said above
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (probes[i].confirming && probes[i].held == false && lower(refuted, i)) refuted = i;
  }
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const auto& probe = probes[i];
    if (probe.held != true || !(probe.confirming || lower(refuted, i))) continue;
    const bool better = !to.best || (probe.confirming && !probes[*to.best].confirming) ||
                        (probe.confirming == probes[*to.best].confirming && !lower(to.best, i));
    if (better) to.best = i;
  }
  to.confirmed = to.best && probes[*to.best].confirming;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const bool above = !to.best || probes[i].rate > probes[*to.best].rate;
    if (probes[i].held == false && above && lower(to.worse, i)) to.worse = i;
  }
}

}  // namespace

probe_summary summarize(std::span<const capacity_run> runs, const capacity_settings& how) {
  probe_summary result;
  result.rate = runs.front().rate;
  result.confirming = runs.front().confirming;
  result.runs = runs.size();
  std::vector<std::vector<nanoseconds>> times;
  for (const auto& run : runs) {
    const bool ended_early = run.record.interrupted || run.record.failure.has_value();
    result.interrupted = ended_early && !run.cut_off;
    result.cut_off |= run.cut_off;
    result.dropped += run.record.load.dropped.size();
    if (keeps_growing(run)) ++result.growing;
    times.push_back(settled_times(run));
  }
  result.times = check_bound(times, how.percentile, how.bound);
  result.verdict = result.times.verdict;
  const bool all_grow = result.growing == result.runs;
  if (result.verdict == bound_verdict::holds && all_grow) {
    result.verdict = result.runs == 1 ? bound_verdict::open : bound_verdict::fails;
  }
  if (result.verdict != bound_verdict::open) {
    result.held = result.verdict == bound_verdict::holds;
  } else if (!result.interrupted && result.times.frames > 0) {
    result.held = result.times.late_share() <= 1 - how.percentile && !all_grow;
  }
  return result;
}

std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop) {
  if (how.arrival != arrival::poisson) return 0;
  const double within_bound = closed_loop * 1e-9 * static_cast<double>(how.bound);
  return std::llround(std::min(2 * within_bound * within_bound, 1e9));
}

capacity_summary summarize(const capacity_record& record) {
  capacity_summary result;
  result.closed_loop = summarize(record.closed_loop).throughput;
  std::vector<std::vector<nanoseconds>> alone = {times_alone(record.closed_loop)};
  for (auto at = record.runs.begin(); at != record.runs.end();) {
    const auto end =
        std::find_if(at, record.runs.end(), [&](const auto& r) { return r.probe != at->probe; });
    result.probes.push_back(summarize(std::span(at, end), record.how));
    for (; at != end; ++at) alone.push_back(times_alone(at->record));
  }
  result.alone = check_bound(alone, record.how.percentile, record.how.bound);
  choose(result);
  return result;
}

}  // namespace graphline
