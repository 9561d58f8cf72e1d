#include "framework/analysis/run/frame_activities.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "framework/plan/schedules/schedule.hpp"

namespace graphline {

nanoseconds sound_time(nanoseconds at) noexcept {
  constexpr nanoseconds farthest = nanoseconds{1} << 60;
  return std::clamp(at, -farthest, farthest);
}

std::optional<stamp_pair> sound_stamps(const std::vector<stamp_pair>& column, std::size_t pass) {
  if (pass >= column.size() || column[pass].end < column[pass].begin) return std::nullopt;
  return stamp_pair{sound_time(column[pass].begin), sound_time(column[pass].end)};
}

std::optional<stamp_pair> work_stamps(const stage_record& stage, std::size_t pass) {
  if (!ran(stage, pass)) return std::nullopt;
  if (stage.on == side::cpu) return sound_stamps(stage.cpu, pass);
  if (pass >= stage.device.size()) return sound_stamps(stage.synced, pass);
  auto stamps = sound_stamps(stage.device, pass);
  if (stamps && pass < stage.busy.size()) {
    stamps->begin = stamps->end - std::clamp<nanoseconds>(stage.busy[pass], 0, stamps->length());
  }
  return stamps;
}

std::vector<stamp_pair> merged(std::vector<stamp_pair> spans) {
  std::ranges::sort(spans, {}, &stamp_pair::begin);
  std::vector<stamp_pair> result;
  for (const auto& span : spans) {
    if (result.empty() || span.begin > result.back().end) {
      result.push_back(span);
    } else {
      result.back().end = std::max(result.back().end, span.end);
    }
  }
  return result;
}

run_lanes::run_lanes(const run_record& record)
    : record_(record), one_thread_(properties_of(record.run).one_host_thread()) {
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> numbers;
  for (const auto& stage : record.stages) {
    const bool one_at_a_time = device_of(record, stage).one_at_a_time;
    const std::string_view name = one_at_a_time ? std::string_view() : stage.stream;
    streams_.push_back(
        numbers.try_emplace({stage.device_index, name}, numbers.size()).first->second);
  }
  stream_count_ = numbers.size();

  // `main_` is needed only if frames share the thread.
  if (record.run.in_flight <= 1 || !one_thread_) return;
  for (const auto& stage : record.stages) {
    for (const auto* column : {&stage.enqueued, &stage.synced, &stage.cpu}) {
      for (std::size_t pass = 0; pass < column->size(); ++pass) {
        if (const auto stamps = sound_stamps(*column, pass)) main_.push_back(*stamps);
      }
    }
  }
  std::ranges::sort(main_, {}, &stamp_pair::begin);
}

std::optional<std::size_t> run_lanes::of_thread(std::size_t stage, std::size_t pass) const {
  const auto& threads = record_.stages[stage].threads;
  if (pass < threads.size()) return stream_count_ + threads[pass];
  return one_thread_ ? std::optional(of_main()) : std::nullopt;
}

std::optional<nanoseconds> run_lanes::main_busy_until(nanoseconds from, nanoseconds to) const {
  const auto next = std::ranges::lower_bound(main_, to, {}, &stamp_pair::begin);
  if (next == main_.begin()) return std::nullopt;
  const nanoseconds end = std::prev(next)->end;
  return end > from && end <= to ? std::optional(end) : std::nullopt;
}

frame_activities::frame_activities(const run_record& record, const run_lanes& lanes,
                                   std::size_t pass)
    : work_(record.stages.size()), launches_(record.stages.size()) {
  all_.reserve(2 * record.stages.size() + 1);
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    const auto& stage = record.stages[s];
    const bool by_device = stage.on == side::device && pass < stage.device.size();
    const auto lane = by_device ? lanes.of_stream(s) : lanes.of_thread(s, pass);
    work_[s] = add({.stage = s, .by_device = by_device, .lane = lane},
                   ran(stage, pass) ? work_stamps(stage, pass) : skipped_at(record, s, pass));
  }
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    launches_[s] =
        add({.what = activity::kind::launch, .stage = s, .lane = lanes.of_thread(s, pass)},
            sound_stamps(record.stages[s].enqueued, pass));
  }
  frame_launch_ = add({.what = activity::kind::frame_launch, .lane = lanes.of_main()},
                      sound_stamps(record.launches, pass));

  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].lane) by_lane_.push_back(i);
  }
  std::sort(by_lane_.begin(), by_lane_.end(), [this](std::size_t a, std::size_t b) {
    return std::tie(*all_[a].lane, all_[a].end, a) < std::tie(*all_[b].lane, all_[b].end, b);
  });
}

std::optional<std::size_t> frame_activities::add(activity what,
                                                 const std::optional<stamp_pair>& stamps) {
  if (!stamps) return std::nullopt;
  what.begin = stamps->begin;
  what.end = stamps->end;
  all_.push_back(what);
  return all_.size() - 1;
}

std::optional<stamp_pair> frame_activities::skipped_at(const run_record& record, std::size_t stage,
                                                       std::size_t pass) const {
  const auto& of = record.stages[stage];
  if (of.on == side::cpu) return sound_stamps(of.cpu, pass);
  if (pass >= of.device.size()) return sound_stamps(of.synced, pass);
  const auto decided = sound_stamps(of.device, pass);
  if (!decided) return std::nullopt;
  nanoseconds at = decided->end;
  for (const auto& wait : of.waits) {
    const bool on_device =
        wait.how == satisfied_by::stream_order || wait.how == satisfied_by::event_wait;
    if (wait.stage >= stage || !on_device || !work_[wait.stage]) continue;
    at = std::max(at, all_[*work_[wait.stage]].end);
  }
  for (const auto& other : record.stages) {
    const auto launch = sound_stamps(other.enqueued, pass);
    if (other.stream != of.stream || !launch || launch->begin >= decided->begin) continue;
    if (const auto work = work_stamps(other, pass)) at = std::max(at, work->end);
  }
  return stamp_pair{at, at};
}

std::optional<std::size_t> frame_activities::before_in_lane(std::size_t index,
                                                            nanoseconds tolerance) const {
  const activity& later = all_[index];
  if (!later.lane) return std::nullopt;
  const nanoseconds latest = later.begin + tolerance;
  auto at = std::upper_bound(
      by_lane_.begin(), by_lane_.end(), latest, [&](nanoseconds end, std::size_t i) {
        return std::tie(*later.lane, end) < std::tie(*all_[i].lane, all_[i].end);
      });
  while (at != by_lane_.begin()) {
    --at;
    const activity& earlier = all_[*at];
    if (*earlier.lane != *later.lane) break;
    if (*at != index && earlier.begin < later.begin) return *at;
  }
  return std::nullopt;
}

}  // namespace graphline
