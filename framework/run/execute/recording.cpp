#include "framework/run/execute/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/units.hpp"
#include "framework/record/kept_columns.hpp"

namespace graphline {

namespace {

/// Bytes of a record: committed at the start (less if little memory is available), growth between
/// checks of the available memory, and growth per step, which delays frames by microseconds.
constexpr std::size_t bytes_at_first = std::size_t{64} << 20;
constexpr std::size_t bytes_between_looks = std::size_t{8} << 20;
constexpr std::size_t bytes_at_a_time = std::size_t{256} << 10;

cost_record all_of(const cost& known, precision arithmetic) {
  return {known.flops, known.bytes_read, known.bytes_written, arithmetic, known.bytes_rearranged};
}

cost_record cost_of(const stage_part& part) {
  if (!part.cost) return {.flops = {}, .bytes_read = {}, .bytes_written = {}};
  return all_of(*part.cost, part.arithmetic);
}

cost_record stated_cost(const prepared_stage& stage) {
  const known_cost known = stage.known;
  auto result = all_of(stage.cost, precision::float32);
  if (known != known_cost::all) result.flops.reset();
  if (known == known_cost::none) {
    result.bytes_read = result.bytes_written = result.bytes_rearranged = {};
  }
  return result;
}

/// Returns the sum of the parts' costs, with the precision of the part with the most FLOPs. Without
/// parts, or if the cost of any part is unknown, returns the cost that the stage's kind states.
cost_record cost_of(const prepared_stage& stage, const std::vector<stage_part>& parts) {
  cost sum;
  std::int64_t most = -1;
  auto arithmetic = precision::float32;
  for (const auto& part : parts) {
    if (!part.cost) return stated_cost(stage);
    sum += *part.cost;
    if (part.cost->flops > most) arithmetic = part.arithmetic;
    most = std::max(most, part.cost->flops);
  }
  return parts.empty() ? stated_cost(stage) : all_of(sum, arithmetic);
}

}  // namespace

recording::recording(const plan& p, const stage_parts& parts, const device_group& on,
                     timing_method method, std::int64_t frames, nanoseconds epoch)
    : method_(method), epoch_(epoch) {
  const auto columns = [&](std::size_t device) {
    return columns_of(method, p.schedule.properties.one_launch,
                      on[device].properties().reports_busy_time);
  };
  const kept_columns of_all = columns(0);
  keeps_causes_ = of_all.causes;
  keeps_choices_ = of_all.causes && p.policy.kind != nullptr;
  // Columns with one entry are recorded.
  const std::size_t count = frames > 0 ? 1 : 0;
  if (p.run.late == late_rule::skip_rest) cut_after_ = *p.run.deadline;
  if (cuts()) cut_.resize(count);
  frames_.resize(count);
  if (p.run.batch_frames > 1) batches_.resize(count);
  if (of_all.launches) launches_.resize(count);
  if (of_all.causes) ended_by_.resize(count);
  stages_.reserve(p.stages.size());
  for (const auto& stage : p.stages) {
    const kept_columns kept = columns(stage.device);
    stage_record r;
    r.name = stage.name;
    r.kind = stage.kind->name;
    r.on = stage.on;
    r.device_index = stage.device;
    r.copy = stage.kind->moves;
    r.priority = stage.priority;
    r.level = stage.level;
    r.deadline = stage.deadline;
    const auto& by_bucket = parts[stages_.size()];
    r.cost = by_bucket.empty() ? stated_cost(*stage.prepared)
                               : cost_of(*stage.prepared, by_bucket.back());
    r.capacity = stage.capacity;
    for (std::size_t b = 0; b < stage.buckets.size(); ++b) {
      r.buckets.push_back(
          {stage.buckets[b].rows, cost_of(*stage.buckets[b].prepared, by_bucket[b])});
    }
    if (stage.decided_per_frame()) r.rows.resize(count);
    for (const auto& wait : stage.waits) r.waits.push_back({wait.stage, wait.how});
    auto& first_part = first_part_.emplace_back();
    if (stage.on == side::device) {
      r.stream = p.streams[stage.stream].name;
      if (kept.enqueued) r.enqueued.resize(count);
      if (kept.synced) r.synced.resize(count);
      if (kept.device) r.device.resize(count);
      if (kept.busy) r.busy.resize(count);
      if (kept.launcher()) r.threads.resize(count);
      for (std::size_t b = 0; b < by_bucket.size(); ++b) {
        first_part.push_back(r.parts.size());
        // The bodies of a switch in a frame's graph have no stamps.
        const bool timed =
            kept.parts && !(p.schedule.properties.one_launch && stage.decided_per_frame());
        for (const auto& part : by_bucket[b]) {
          r.parts.push_back({part.name, part.choice, {}, cost_of(part), {}, b});
          if (timed) r.parts.back().device.resize(count);
          if (timed && kept.busy) r.parts.back().busy.resize(count);
        }
      }
    } else if (kept.cpu) {
      r.cpu.resize(count);
      r.threads.resize(count);
    }
    if (kept.causes) r.causes.resize(count);
    if (keeps_choices_) r.preferred.resize(count);
    if (kept.causes && stage.host_waits) r.seen.resize(count);
    stages_.push_back(std::move(r));
  }
  each_column([this](auto& column) { bytes_of_frame_ += sizeof(column[0]); });
  if (count > 0) reserve(static_cast<std::size_t>(frames));
}

recording::recording(const recording& other) : recording(other, std::lock_guard(other.growing_)) {}

recording::recording(const recording& other, const std::lock_guard<std::mutex>& /*not_growing*/)
    : method_(other.method_),
      keeps_causes_(other.keeps_causes_),
      keeps_choices_(other.keeps_choices_),
      cut_after_(other.cut_after_),
      epoch_(other.epoch_),
      complete_(other.complete()),
      driver_(other.driver_),
      frames_(other.frames_),
      batches_(other.batches_),
      launches_(other.launches_),
      ended_by_(other.ended_by_),
      cut_(other.cut_),
      stages_(other.stages_),
      first_part_(other.first_part_),
      bytes_of_frame_(other.bytes_of_frame_),
      capacity_(other.capacity_),
      room_(other.room_.load()) {}

/// Reserves addresses for all frames, or for half of what the system allows, and commits memory for
/// the first frames. Columns never move afterwards.
void recording::reserve(std::size_t frames) {
  constexpr std::size_t small = std::size_t{1} << 20;  // not worth reading the limits, 0.7 ms
  const bool looks = frames > small / bytes_of_frame_;
  const std::uint64_t left = (looks ? available_memory() : std::nullopt).value_or(UINT64_MAX);
  const auto first = std::min<std::uint64_t>(bytes_at_first, left / record_and_reports);
  room_ = std::min(frames, std::max<std::size_t>(1, first / bytes_of_frame_));
  capacity_ = frames;
  const auto halve = [this] {
    each_column([](auto& column) { std::decay_t<decltype(column)>(1).swap(column); });
    capacity_ = std::max<std::size_t>(room_, capacity_ / 2);
  };
  while (!try_reserving() && capacity_ > room_) halve();
  if (capacity_ < frames) halve();
  each_column([this](auto& column) {
    column.reserve(capacity_);
    column.resize(room_);
  });
}

bool recording::try_reserving() {
  try {
    each_column([this](auto& column) { column.reserve(capacity_); });
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void recording::grow(std::int64_t frame) {
  const std::lock_guard lock(growing_);
  const std::size_t before = room_;
  if (static_cast<std::size_t>(frame) < before) return;
  const std::size_t step = std::max<std::size_t>(1, bytes_at_a_time / bytes_of_frame_);
  const std::size_t room = std::min(capacity_, before + step);
  const std::size_t held = before * bytes_of_frame_;
  const bool looks = room * bytes_of_frame_ > known_to_fit_;
  if (looks) known_to_fit_ = room * bytes_of_frame_ + bytes_between_looks;
  const auto left = looks ? available_memory() : std::nullopt;
  if (room == before || (left && record_and_reports * known_to_fit_ - held > *left)) {
    throw run_error(
        fmt::format("memory is running out: the record holds {}, and reports need more; measure "
                    "fewer frames, or use timing: none",
                    format_bytes(held)));
  }
  each_column([room](auto& column) { column.resize(room); });
  room_.store(room, std::memory_order_release);
}

void recording::move_into(run_record& to, std::int64_t completed) && {
  const auto passes = static_cast<std::size_t>(completed);
  to.frames = std::exchange(frames_, {});
  each_column([passes](auto& column) { column.resize(passes); });
  std::size_t frames = batches_.empty() ? passes : 0;
  for (const batch_record& each : batches_) frames += static_cast<std::size_t>(each.frames);
  to.frames.resize(frames);
  if (cuts()) drop_cut_passes(to);
  name_threads(to);
  to.batches = std::move(batches_);
  to.launches = std::move(launches_);
  to.ended_by = std::move(ended_by_);
  to.stages = std::move(stages_);
}

void recording::drop_cut_passes(run_record& to) {
  const std::vector<std::uint8_t> cut = cut_;
  std::vector<frame_record> whole;
  std::size_t frame = 0;
  for (std::size_t pass = 0; pass < cut.size(); ++pass) {
    const std::int32_t count = batches_.empty() ? 1 : batches_[pass].frames;
    for (std::int32_t i = 0; i < count; ++i, ++frame) {
      if (cut[pass] == 0) {
        whole.push_back(to.frames[frame]);
      } else {
        to.load.dropped.push_back(to.frames[frame].due);
        ++to.load.cut_short;
      }
    }
  }
  to.frames = std::move(whole);
  std::ranges::sort(to.load.dropped);
  for (stage_record& stage : stages_) {
    for (std::size_t pass = 1; pass < stage.causes.size(); ++pass) {
      std::int32_t& by = stage.causes[pass];
      if (by == cause::previous_frame && cut[pass - 1] != 0) by = cause::dropped_frame;
    }
  }
  each_column([&cut](auto& column) {
    std::size_t kept = 0;
    for (std::size_t pass = 0; pass < cut.size(); ++pass) {
      if (cut[pass] == 0) column[kept++] = column[pass];
    }
    column.resize(kept);
  });
}

void recording::name_threads(run_record& to) {
  std::map<std::uint32_t, std::uint32_t> index = {{driver_, 0}};
  to.threads = {"main"};
  for (const auto& stage : stages_) {
    for (const auto number : stage.threads) index.try_emplace(number, 0);
  }
  // Lists threads in order of creation, in which their numbers ascend.
  std::map<std::string, int> taken;
  for (auto& [number, place] : index) {
    if (number == driver_) continue;
    place = static_cast<std::uint32_t>(to.threads.size());
    auto name = thread_name(number);
    const int times = ++taken[name];
    to.threads.push_back(times == 1 ? name : fmt::format("{} ({})", name, times));
  }
  for (auto& stage : stages_) {
    for (auto& number : stage.threads) number = index.at(number);
  }
}

}  // namespace graphline
