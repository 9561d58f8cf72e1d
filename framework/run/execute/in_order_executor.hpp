#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// Begins frames in order on one host thread and observes their ends in that order. With several
/// frames in flight, it checks whether the oldest has ended after each stage, between frames, and
/// while it waits for the device or for a due time.
template <class Host>
class in_order_executor : public executor {
 public:
  phase_result run(phase& b) override {
    const scoped_cpu_affinity kept(pipeline_.devices().host_cpus());
    progress_meter meter(b);
    phase_ = &b;
    meter_ = &meter;
    runner_ = &host_.begin(*b.into);
    const typename Host::waits waits = host_.make_waits();
    waits_ = &waits;
    result_ = {};
    begun_ = 0;
    next_frame_ = 0;
    in_slot_.resize(pipeline_.slots().size());
    next_slot_ = 0;
    oldest_slot_ = 0;
    try {
      run_frames();
    } catch (const interrupted_error&) {  // of a stage that waited for another rank
      result_.interrupted = true;
      drain();
    } catch (...) {
      result_.failure = describe_failure(pipeline_.planned(), at_stage_, at_frame_);
      try {
        drain();
      } catch (const std::exception&) {
        // `failure` already reports that the device has failed.
      }
    }
    return result_;
  }

 protected:
  template <class... World>
  explicit in_order_executor(prepared_pipeline& pipeline, World&&... world)
      : pipeline_(pipeline), host_(pipeline, std::forward<World>(world)...) {}

  /// Executes a frame that began at `begun`, without waiting for its end.
  virtual void execute(slot& s, const frame_position& frame, nanoseconds begun) = 0;

  virtual bool has_ended(const slot& s) = 0;

  /// Waits for the end of a frame; throws if one of its stages threw.
  virtual void wait_for_end(slot& s) = 0;

  /// Records what ended the oldest frame.
  /// @param end Host time at which the end was observed.
  virtual void record_end(const frame_position& /*frame*/, nanoseconds /*end*/) {}

  /// After a failure, waits until the device is idle.
  virtual void drain() = 0;

  /// Finishes ended frames, oldest first.
  void finish_ended() {
    if (result_.completed == begun_) return;
    const auto at_stage = at_stage_;
    const auto at_frame = at_frame_;
    while (result_.completed < begun_ && oldest_has_ended()) finish_oldest();
    at_stage_ = at_stage;
    at_frame_ = at_frame;
  }

  /// Waits for an event of the current frame and finishes older frames meanwhile.
  void wait_for(const event& e) {
    while (result_.completed < begun_ && !e.done()) {
      waits_->pause(host_.now() + device_poll_interval);
      finish_ended();
    }
    host_.await(e);
    finish_ended();
  }

  /// Waits for another rank and finishes older frames meanwhile.
  void wait_for(awaiting_stage& stage) {
    while (result_.completed < begun_ && !stage.is_ready({})) {
      waits_->pause(host_.now() + device_poll_interval);
      finish_ended();
    }
    stage.await();
    finish_ended();
  }

  /// Finishes all frames begun. After a failure, throws when it reaches the failed frame.
  void finish_begun() {
    while (result_.completed < begun_) finish_oldest();
  }

  prepared_pipeline& pipeline_;
  Host host_;
  const stage_runner* runner_ = nullptr;         ///< of the current phase
  const typename Host::waits* waits_ = nullptr;  ///< of the current phase
  std::optional<std::size_t> at_stage_;          ///< stage being executed or awaited, for messages

 private:
  /// Returns the slot after slot `at`; passes take the slots in turn.
  std::size_t following(std::size_t at) const noexcept {
    return at + 1 == in_slot_.size() ? 0 : at + 1;
  }

  bool stopped() {
    result_.interrupted = phase_->stop != nullptr && phase_->stop->raised();
    return result_.interrupted;
  }

  /// With a schedule, a frame begins when it is due, a slot is free and all earlier frames have
  /// begun. Without a schedule, it is due when it begins.
  void run_frames() {
    const auto depth = static_cast<std::int64_t>(pipeline_.slots().size());
    const auto look = [&]() -> std::optional<nanoseconds> {
      finish_ended();
      if (stopped()) return std::nullopt;
      return result_.completed < begun_ ? device_poll_interval : stop_poll_interval;
    };
    while (true) {
      if (begun_ - result_.completed == depth) finish_oldest();
      frame_position next = phase_->position_of(begun_);
      begun_frames begun;
      if (phase_->on_schedule()) {
        begun = phase_->await_next(*waits_, look);
        next = {begun_, next_frame_, phase_->first_number + next_frame_, std::ssize(begun.due)};
      } else if (next.count > 0 && !look()) {
        break;
      }
      if (next.count == 0) break;
      begin(next, begun);
      next_frame_ += next.count;
      ++begun_;
      next_slot_ = following(next_slot_);
      if (depth == 1) finish_oldest();
      finish_ended();
    }
    finish_begun();
  }

  void begin(frame_position frame, const begun_frames& begun) {
    const profiler_range range(runner_->ranges(), "frame");
    in_slot_[next_slot_] = frame;
    at_frame_ = frame.number;
    at_stage_.reset();
    runner_->into().make_room(frame.last());
    const nanoseconds at = host_.now();
    runner_->into().pass_begun(frame.index, frame.first, frame.count, begun, at);
    frame.cut_at = phase_->cut_at(begun, at);
    execute(pipeline_.slots()[next_slot_], frame, at);
  }

  bool oldest_has_ended() {
    at_frame_ = in_slot_[oldest_slot_].number;
    at_stage_.reset();
    return has_ended(pipeline_.slots()[oldest_slot_]);
  }

  void finish_oldest() {
    const frame_position& frame = in_slot_[oldest_slot_];
    slot& s = pipeline_.slots()[oldest_slot_];
    at_frame_ = frame.number;
    at_stage_.reset();
    wait_for_end(s);
    const nanoseconds end = host_.now();
    runner_->check_values(s, frame);
    runner_->into().pass_ended(frame.first, frame.count, end);
    record_end(frame, end);
    at_stage_.reset();
    runner_->read_stamps(s, frame);
    if (phase_->on_pass_end) phase_->on_pass_end(oldest_slot_, frame);
    ++result_.completed;
    oldest_slot_ = following(oldest_slot_);
    runner_->into().passes_complete(result_.completed);
    meter_->frame_done(frame.last() + 1, end);
  }

  // State of the current phase.
  phase* phase_ = nullptr;
  progress_meter* meter_ = nullptr;
  phase_result result_;
  std::int64_t begun_ = 0;  ///< passes issued; passes [`result_.completed`, `begun_`) are in flight
  std::int64_t next_frame_ = 0;          ///< index of the first frame of the next pass
  std::vector<frame_position> in_slot_;  ///< the last pass of each slot
  std::size_t next_slot_ = 0;            ///< of the next pass
  std::size_t oldest_slot_ = 0;          ///< of the oldest pass in flight
  std::int64_t at_frame_ = 0;
};

/// Executes the steps of the plan's schedule, then waits for the device stages without followers.
template <class Host>
class sequential_executor final : public in_order_executor<Host> {
  using base = in_order_executor<Host>;
  using base::at_stage_;
  using base::finish_begun;
  using base::finish_ended;
  using base::host_;
  using base::pipeline_;
  using base::runner_;

 public:
  template <class... World>
  explicit sequential_executor(prepared_pipeline& pipeline, World&&... world)
      : base(pipeline, std::forward<World>(world)...), steps_(pipeline.planned().schedule.steps) {
    const auto& stages = pipeline.planned().stages;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].on == side::device && stages[i].followers.empty()) last_.push_back(i);
    }
    for (const std::size_t index : last_) {
      if (std::ranges::find(steps_, schedule_step{schedule_step::action::await, index}) ==
          steps_.end()) {
        seen_at_end_.push_back(index);
      }
    }
  }

 private:
  void execute(slot& s, const frame_position& frame, nanoseconds /*begun*/) override {
    recording& into = runner_->into();
    const bool causes = into.keeps_causes();
    std::int32_t waited_for = cause::frame_begun;
    for (const schedule_step& step : steps_) {
      bound_stage& stage = s.stages[step.stage];
      at_stage_ = step.stage;
      if (step.what == schedule_step::action::await) {
        if (causes && !stage.complete->done()) waited_for = static_cast<std::int32_t>(step.stage);
        this->wait_for(*stage.complete);
        if (causes) into.seen(step.stage, frame.index, host_.now());
      } else {
        if (stage.awaits != nullptr && !stage.awaits->is_ready({})) {
          this->wait_for(*stage.awaits);
          waited_for = cause::other_rank;
        }
        if (causes)
          into.caused(step.stage, frame.index, std::exchange(waited_for, cause::frame_begun));
        if (step.what == schedule_step::action::issue) {
          host_.issue(stage, frame);
        } else {
          host_.run(stage, frame);
        }
      }
      finish_ended();
    }
  }

  bool has_ended(const slot& s) override {
    return std::ranges::all_of(last_, [&](std::size_t index) {
      at_stage_ = index;
      const bool done = s.stages[index].complete->done();
      if (!done) end_awaits_ = index;
      return done;
    });
  }

  void wait_for_end(slot& s) override {
    for (const std::size_t index : last_) {
      at_stage_ = index;
      const event& complete = *s.stages[index].complete;
      if (runner_->into().keeps_causes() && !complete.done()) end_awaits_ = index;
      host_.await(complete);
    }
  }

  /// If the host waited for no device stage, the last step counts as the cause.
  void record_end(const frame_position& frame, nanoseconds end) override {
    recording& into = runner_->into();
    if (!into.keeps_causes()) return;
    into.ended_by(frame.index,
                  std::exchange(end_awaits_, std::nullopt).value_or(steps_.back().stage));
    for (const std::size_t index : seen_at_end_) into.seen(index, frame.index, end);
  }

  void drain() override {
    pipeline_.devices().synchronize(wait_mode::block);
    finish_begun();
  }

  const std::vector<schedule_step>& steps_;
  std::vector<std::size_t> last_;          ///< device stages without followers
  std::vector<std::size_t> seen_at_end_;   ///< stages in `last_` for which no step waits
  std::optional<std::size_t> end_awaits_;  ///< stage in `last_` that the oldest frame waited for
};

}  // namespace graphline
