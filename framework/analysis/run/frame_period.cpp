#include "framework/analysis/run/frame_period.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/passes.hpp"

namespace graphline {
namespace {

/// The end of a pass, and the number of frames that passes have completed by then.
struct completion {
  nanoseconds end = 0;
  std::size_t frames = 0;
};

/// Counts the frames of the passes after the first `apart`. Their time is the sum of gaps divided
/// by `apart`; a gap is the time from the completion `apart` earlier.
/// @pre 0 < `apart` < `ends.size()`; `ends` ascends.
completed_frames between(const std::vector<completion>& ends, std::size_t apart) {
  double frames = 0;
  double time = 0;
  for (std::size_t i = 0; i < apart; ++i) {
    const auto& last = ends[ends.size() - 1 - i];
    frames += static_cast<double>(last.frames) - static_cast<double>(ends[i].frames);
    time += static_cast<double>(last.end - ends[i].end);
  }
  return {frames / static_cast<double>(apart), time / static_cast<double>(apart)};
}

/// Returns the largest mean busy time per frame, in ns, among stages, host threads, streams and a
/// device that executes one operation at a time and reports busy time.
double busiest(const run_record& record) {
  double most = 0;
  std::map<std::uint32_t, double> threads;
  std::map<std::pair<std::size_t, std::string_view>, double> streams;  // by device
  const std::size_t passes = run_passes(record).size();
  for (const auto& stage : record.stages) {
    double work = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      if (const auto stamps = work_stamps(stage, pass)) {
        work += static_cast<double>(stamps->length());
      }
      if (pass >= stage.threads.size()) continue;
      for (const auto* by_host : {&stage.enqueued, &stage.synced, &stage.cpu}) {
        const auto stamps = sound_stamps(*by_host, pass);
        if (stamps) threads[stage.threads[pass]] += static_cast<double>(stamps->length());
      }
    }
    most = std::max(most, work);
    if (stage.device.empty()) continue;
    const bool of_device = device_of(record, stage).one_at_a_time && !stage.busy.empty();
    streams[{stage.device_index, of_device ? std::string_view() : stage.stream}] += work;
  }
  for (const auto& [thread, time] : threads) most = std::max(most, time);
  for (const auto& [stream, time] : streams) most = std::max(most, time);
  return most / static_cast<double>(record.frames.size());
}

/// Counts completions, but at no higher rate than the busiest resource allows.
completed_frames in_the_long_run(const run_record& record, const std::vector<completion>& ends,
                                 std::size_t apart) {
  auto done = between(ends, apart);
  done.time = std::max(done.time, done.count * busiest(record));
  return done;
}

completed_frames on_schedule(const run_record& record, const std::vector<completion>& ends) {
  const std::size_t frames = record.frames.size();
  if (frames < least_scheduled_frames) return {};
  const auto [first, last] =
      std::minmax_element(record.frames.begin(), record.frames.end(),
                          [](const auto& a, const auto& b) { return a.due < b.due; });
  const auto due_with = [&](nanoseconds at) {
    return static_cast<std::size_t>(std::ranges::count(record.frames, at, &frame_record::due));
  };
  const auto later = std::ranges::upper_bound(ends, last->due, {}, &completion::end);
  const std::size_t complete = later == ends.begin() ? 0 : std::prev(later)->frames;
  const bool kept_up = record.load.dropped.empty() &&
                       (ends.size() == 1 || ends[ends.size() - 2].end <= last->due ||
                        (first->due < last->due && complete + due_with(last->due) >= frames));
  if (kept_up) {
    return {static_cast<double>(frames - due_with(first->due)),
            static_cast<double>(last->due - first->due)};
  }
  if (ends.size() < 2) return {};
  auto done = in_the_long_run(record, ends, std::min(slots_of(record), ends.size() - 1));
  if (const auto offered = offered_rate(record)) {
    done.time = std::max(done.time, done.count * 1e9 / *offered);
  }
  return done;
}

}  // namespace

completed_frames completions_of(const run_record& record) {
  if (record.frames.empty()) return {};
  const run_passes passes(record);
  std::vector<completion> ends;
  ends.reserve(passes.size());
  nanoseconds begin = record.frames.front().begin;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    begin = std::min(begin, passes[pass].begin);
    ends.push_back({passes[pass].end, passes.frames_in(pass)});
  }
  std::ranges::sort(ends, {}, &completion::end);
  for (std::size_t pass = 1; pass < ends.size(); ++pass) {
    ends[pass].frames += ends[pass - 1].frames;
  }
  if (is_scheduled(record.run)) return on_schedule(record, ends);
  const std::size_t slots = slots_of(record);
  const bool back_to_back = record.run.arrival == arrival::closed && slots == 1;
  if (back_to_back || ends.size() <= slots) {
    nanoseconds end = ends.back().end;
    if (const auto& cut = record.load.dropped; !cut.empty()) {  // due when they began
      begin = std::min(begin, cut.front());
      end = std::max(end, cut.back());
    }
    return {static_cast<double>(record.frames.size()), static_cast<double>(end - begin)};
  }
  return in_the_long_run(record, ends, slots);
}

std::size_t slots_of(const run_record& record) {
  return static_cast<std::size_t>(std::max<std::int64_t>(record.run.in_flight, 1));
}

bool is_scheduled(const settings& run) {
  return run.arrival == arrival::trace || (run.arrival != arrival::closed && run.rate);
}

std::optional<double> frame_period(const run_record& record) {
  const auto done = completions_of(record);
  if (!(done.time > 0)) return std::nullopt;
  return done.time / done.count;
}

std::optional<double> offered_rate(const run_record& record) {
  auto due = record.load.dropped;
  due.insert(due.end(), record.load.unfinished.begin(), record.load.unfinished.end());
  for (const auto& frame : record.frames) due.push_back(frame.due);
  if (due.size() < 2) return std::nullopt;
  const auto [first, last] = std::minmax_element(due.begin(), due.end());
  if (*first >= *last) return std::nullopt;
  const auto later = due.size() - static_cast<std::size_t>(std::ranges::count(due, *first));
  return static_cast<double>(later) * 1e9 / static_cast<double>(*last - *first);
}

}  // namespace graphline
