#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "framework/base/clock.hpp"
#include "framework/device/device_group.hpp"
#include "framework/record/timing_protocol.hpp"
#include "framework/run/execute/recording.hpp"
#include "framework/run/execute/slot.hpp"
#include "framework/run/execute/tensor_data.hpp"

namespace graphline {

/// A pass through the pipeline: one frame, or several that run together. `index` counts passes and
/// locates the samples of stages, `first` counts frames, both from the start of the phase; `number`
/// counts frames from the start of the run and is passed to CPU stages.
struct frame_position {
  std::int64_t index = 0;
  std::int64_t first = 0;
  std::int64_t number = 0;
  std::int64_t count = 1;
  nanoseconds cut_at = INT64_MAX;  ///< host time from which no further stage of the pass starts

  std::int64_t last() const noexcept { return first + count - 1; }
};

/// Profiler range on the calling thread; no-op if the device is null.
class profiler_range {
 public:
  profiler_range(device* d, const char* name) noexcept : device_(d) {
    if (device_ != nullptr) device_->begin_range(name);
  }
  ~profiler_range() {
    if (device_ != nullptr) device_->end_range();
  }
  profiler_range(const profiler_range&) = delete;
  profiler_range& operator=(const profiler_range&) = delete;

 private:
  device* device_;
};

/// The system clock and the calling thread's number.
struct real_clock {
  static nanoseconds now() noexcept { return graphline::now(); }
  static std::uint32_t thread() noexcept { return thread_number(); }
};

/// Executes single stages with the timing method of a recording, for all executors.
class stage_runner {
 public:
  stage_runner(device_group on, wait_mode how, recording& into)
      : ranges_(on.front().shows_ranges() ? &on.front() : nullptr),
        how_(how),
        into_(into),
        devices_(std::move(on)) {}

  void run_on_cpu(bound_stage& s, const frame_position& frame) const {
    const profiler_range range(ranges_, s.name);
    const stage_scope scope({s.label, frame.number});
    s.arguments.frame = frame.number;
    s.arguments.frames = frame.count;
    if (!runs(s, frame)) return;
    if (s.guarded.empty()) return run_timed(s, frame);
    fill_guards(s.outputs);
    run_timed(s, frame);
    check_guards(s.outputs, s.guarded);
  }

  /// Enqueues a device stage after the stages it waits for.
  /// @param clock Times the launch.
  template <class Clock = real_clock>
  void enqueue(bound_stage& s, const frame_position& frame, Clock clock = {}) const {
    const profiler_range range(ranges_, s.name);
    const stage_scope scope({s.label, frame.number});
    for (const event* e : s.stream_waits) s.on->wait(*e);
    // A skipped stage keeps its place in the order of its stream.
    if (runs(s, frame, clock)) {
      operations<Clock> ops{s, *this, frame.index, clock};
      time_device_stage(into_.method(), ops);
    }
    if (s.complete != nullptr) s.on->record(*s.complete);
  }

  /// Decides whether a stage runs in this frame, and with how many rows. Records the decision. A
  /// stage of a pass that is cut short is skipped and keeps the state of its last frame.
  template <class Clock = real_clock>
  bool runs(bound_stage& s, const frame_position& frame, Clock clock = {}) const {
    if (s.decision == nullptr && !into_.cuts()) return true;
    if (into_.cuts() && Clock(clock).now() >= frame.cut_at) {
      s.chosen = {.rows = skipped};
      into_.cut_short(frame.index);
    } else {
      s.chosen = {};
      if (s.decision == nullptr) return true;
      s.decide();
      into_.decided(s.index, frame.index, s.chosen.rows);
    }
    if (!s.skipped()) return true;
    s.chosen.at = clock.now();
    into_.did_not_run(s.index, frame.index, s.chosen.at, clock.thread());
    return false;
  }

  /// Throws a `stage_failure` if a device stage found a problem in the values of a frame whose
  /// stages are all complete.
  void check_values(slot& s, const frame_position& frame) const {
    for (const std::size_t i : s.checked) {
      bound_stage& stage = s.stages[i];
      if (stage.skipped()) continue;
      std::string found = stage.variant().check->take_problem();
      if (!found.empty() && !stage.computes_further_rows()) stage.problem = std::move(found);
      if (stage.problem.empty()) continue;
      throw stage_failure(
          fmt::format("{}: {}", to_string(stage_point{stage.label, frame.number}), stage.problem));
    }
  }

  /// Reads the stamps of a frame whose stages are all complete. Converts the first event of each
  /// device to the host's clock and adds elapsed times, because elapsed times between close events
  /// are more precise.
  void read_stamps(const slot& s, const frame_position& frame) const {
    if (into_.method() == timing_method::callback) read_host_stamps(s, frame);
    if (!traits_of(into_.method()).by_events) return;
    const bool layers = into_.method() == timing_method::layers;
    struct origin {
      const timed_event* first = nullptr;
      nanoseconds at = 0;
    };
    std::array<origin, most_devices> origins{};
    for (const auto& stage : s.stages) {
      if (stage.cpu != nullptr) continue;
      if (stage.skipped()) {
        into_.on_device(stage.index, frame.index, stage.chosen.at, stage.chosen.at, {});
        continue;
      }
      auto& [first, first_at] = origins[stage.device_index];
      if (first == nullptr) {
        first = stage.begin.get();
        first_at = first->on_host_clock().at;
      }
      const nanoseconds begin = first_at + stage.begin->since(*first);
      into_.on_device(stage.index, frame.index, begin, begin + stage.end->since(*stage.begin),
                      stage.end->busy_since(*stage.begin));
      if (layers) read_parts(stage, frame, begin);
    }
  }

  /// Returns the device if a profiler shows its ranges, else null.
  device* ranges() const noexcept { return ranges_; }
  recording& into() const noexcept { return into_; }
  wait_mode how() const noexcept { return how_; }

 private:
  void run_timed(bound_stage& s, const frame_position& frame) const {
    if (into_.method() == timing_method::none) return s.cpu->run(s.arguments);
    const nanoseconds begin = now();
    s.cpu->run(s.arguments);
    into_.on_cpu(s.index, frame.index, begin, now());
  }

  void read_host_stamps(const slot& s, const frame_position& frame) const {
    for (const auto& stage : s.stages) {
      if (stage.cpu != nullptr) continue;
      const bool ran = !stage.skipped();
      into_.on_device(stage.index, frame.index, ran ? stage.called_begin->at() : stage.chosen.at,
                      ran ? stage.called_end->at() : stage.chosen.at, {});
    }
  }

  void read_parts(const bound_stage& stage, const frame_position& frame,
                  nanoseconds stage_begin) const {
    const bound_variant& of = stage.variants[stage.chosen.variant];
    if (of.parts == nullptr) return;
    const auto& boundaries = of.parts->boundaries();
    nanoseconds begin = stage_begin + boundaries[0]->since(*stage.begin);
    for (std::size_t part = 0; part + 1 < boundaries.size(); ++part) {
      const nanoseconds end = begin + boundaries[part + 1]->since(*boundaries[part]);
      into_.on_part(stage.index, of.bucket, part, frame.index, begin, end,
                    boundaries[part + 1]->busy_since(*boundaries[part]));
      begin = end;
    }
  }

  /// Operations for `time_device_stage`.
  template <class Clock>
  struct operations {
    bound_stage& s;
    const stage_runner& runner;
    std::int64_t frame;
    Clock clock;

    nanoseconds now() { return clock.now(); }
    void launch() { s.launch(); }
    void launch_in_parts() { s.launch_in_parts(); }
    void record_begin() { s.on->record(*s.begin); }
    void record_end() { s.on->record(*s.end); }
    void call_begin() { s.on->call(*s.called_begin); }
    void call_end() { s.on->call(*s.called_end); }
    void synchronize() { runner.devices_.synchronize(runner.how_); }
    void keep_enqueued(nanoseconds begin, nanoseconds end) {
      runner.into_.enqueued(s.index, frame, begin, end, clock.thread());
    }
    void keep_synced(nanoseconds begin, nanoseconds end) {
      runner.into_.synced(s.index, frame, begin, end, clock.thread());
    }
  };

  device* ranges_;
  wait_mode how_;
  recording& into_;
  device_group devices_;
};

}  // namespace graphline
