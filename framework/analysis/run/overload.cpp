#include "framework/analysis/run/overload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/units.hpp"

namespace graphline {
namespace {

constexpr std::size_t least_for_overload = 15;

/// Returns true if at least nine of ten frames from `first` on were due before a slot was free.
bool is_saturated(const run_record& record, std::size_t first) {
  const auto slots = slots_of(record);
  const auto& frames = record.frames;
  const run_passes passes(record);
  std::size_t waited = 0;
  for (std::size_t i = first; i < frames.size(); ++i) {
    const auto pass = passes.of(i);
    if (pass >= slots && passes[pass - slots].end > frames[i].due) ++waited;
  }
  return 10 * waited >= 9 * (frames.size() - first);
}

/// Divides the frames, starting at `first`, into `stretches` segments. Returns the mean time
/// between completions minus the mean time between arrivals for each segment, in ns.
std::vector<double> lags_of(const run_record& record, std::size_t first, std::size_t stretches) {
  std::vector<nanoseconds> ends;
  for (const auto& frame : record.frames) ends.push_back(frame.end);
  std::sort(ends.begin(), ends.end());
  const auto& dropped = record.load.dropped;
  const auto dropped_until = [&](nanoseconds time) {
    return std::upper_bound(dropped.begin(), dropped.end(), time) - dropped.begin();
  };
  const std::size_t last = ends.size() - 1;
  std::vector<double> lags;
  for (std::size_t s = 0; s < stretches; ++s) {
    const std::size_t from = first + (last - first) * s / stretches;
    const std::size_t to = first + (last - first) * (s + 1) / stretches;
    const auto due_from = record.frames[from].due;
    const auto due_to = record.frames[to].due;
    const auto done = static_cast<double>(to - from);
    const auto due = done + static_cast<double>(dropped_until(due_to) - dropped_until(due_from));
    lags.push_back(static_cast<double>(ends[to] - ends[from]) / done -
                   static_cast<double>(due_to - due_from) / due);
  }
  return lags;
}

bool beyond_chance(std::span<const double> lags) {
  const double mean = mean_of(lags);
  const double error = *stddev_of(lags) / std::sqrt(static_cast<double>(lags.size()));
  return mean > 0 && mean > student_t_critical(0.05, lags.size() - 1) * error;
}

double mean_latency(std::span<const frame_record> frames) {
  double sum = 0;
  for (const auto& frame : frames) sum += static_cast<double>(frame.end - frame.due);
  return sum / static_cast<double>(frames.size());
}

/// Detects overload of a run that completed fewer than half of its frames. Requires that the slots
/// could not keep up even if every frame took as long as the shortest.
std::optional<overload> evident_overload(const run_record& record) {
  const auto& frames = record.frames;
  const auto offered = offered_rate(record);
  if (frames.empty() || !offered || 2 * frames.size() >= frames_due(record)) return std::nullopt;
  double shortest = 0x1p63;
  double sum = 0;
  const run_passes passes(record);
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    const auto running = static_cast<double>(passes[pass].end - passes[pass].begin);
    shortest = std::min(shortest, running / static_cast<double>(passes.frames_in(pass)));
    sum += running;
  }
  const auto slots = static_cast<double>(slots_of(record));
  if (slots * 1e9 >= *offered * shortest) return std::nullopt;
  const auto period = frame_period(record);
  const double completed =
      period ? 1e9 / *period : slots * 1e9 * static_cast<double>(frames.size()) / sum;
  overload result{*offered, completed, record.load.dropped.size(), {}};
  if (record.load.dropped.empty()) result.growth = 1e9 * (*offered / completed - 1);
  return result;
}

/// Detects overload from the waits and rates of completed frames.
std::optional<overload> lasting_overload(const run_record& record) {
  const auto& frames = record.frames;
  if (frames.size() < least_for_overload) return std::nullopt;
  const std::size_t third = frames.size() / 3;
  if (!is_saturated(record, third)) return std::nullopt;
  const auto lags = lags_of(record, third, std::min<std::size_t>(20, (frames.size() - third) / 2));
  if (!beyond_chance(lags)) return std::nullopt;
  const double early = mean_latency(std::span(frames).first(third));
  const double late = mean_latency(std::span(frames).last(third));
  const auto& dropped = record.load.dropped;
  if (dropped.empty() && late < 1.1 * early) return std::nullopt;
  const auto offered = offered_rate(record);
  const auto period = frame_period(record);
  if (!offered || !period) return std::nullopt;
  overload result{*offered, 1e9 / *period, dropped.size(), {}};
  const bool bounded = !dropped.empty() && dropped.front() <= frames[third].due;
  if (!bounded) result.growth = mean_of(lags) * result.offered;
  return result;
}

/// Formats with four significant digits and all integer digits: "178.1", "1000000".
std::string four_digits(double rate) {
  return rate < 1000 ? fmt::format("{:.4g}", rate) : fmt::format("{:.0f}", rate);
}

}  // namespace

std::optional<overload> overload_of(const run_record& record) {
  if (record.run.arrival == arrival::closed || frames_due(record) < least_for_overload) {
    return std::nullopt;
  }
  if (auto found = lasting_overload(record)) return found;
  return evident_overload(record);
}

std::optional<overload> overload_of(std::span<const run_record* const> runs) {
  std::vector<double> offered;
  std::vector<double> completed;
  std::vector<double> growth;
  for (const auto* run : runs) {
    const auto found = overload_of(*run);
    if (!found) continue;
    offered.push_back(found->offered);
    completed.push_back(found->completed);
    if (found->growth) growth.push_back(*found->growth);
  }
  if (2 * offered.size() <= runs.size()) return std::nullopt;
  overload result{median_of(offered), median_of(completed), 0, {}};
  for (const auto* run : runs) result.dropped += run->load.dropped.size();
  if (2 * growth.size() > runs.size()) result.growth = median_of(growth);
  return result;
}

finding overload_finding(const overload& what) {
  finding made{"overloaded", finding_severity::failure};
  made.with("offered", what.offered, unit::frames_per_second)
      .with("completed", what.completed, unit::frames_per_second)
      .with("rates", fmt::format("{} of {} offered frame/s", four_digits(what.completed),
                                 four_digits(what.offered)));
  if (what.dropped > 0) made.with("dropped", what.dropped);
  return made.with("growth", what.growth, unit::duration);
}

}  // namespace graphline
