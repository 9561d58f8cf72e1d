#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "framework/base/error.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/frame_graph.hpp"
#include "framework/run/execute/slot.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

std::string describe_failure(const plan& p, std::optional<std::size_t> stage, std::int64_t frame) {
  const auto where = stage ? to_string(stage_point{label_of(p.stages[*stage]), frame})
                           : fmt::format("frame {}", frame);
  return fmt::format("{}: {}", where, reason_of_caught());
}

namespace {

/// One host thread that begins frames in order and sees them end in that order. With several in
/// flight it looks whether the oldest has ended whenever it may have worked or waited for long:
/// after each stage, while a stage waits for the device, between frames, and while the next frame
/// is yet to be due.
class in_order_executor : public executor {
 public:
  batch_result run(const batch& b) override {
    const kept_to_cpus kept(pipeline_.device().properties().cpus_of_host);
    progress_meter meter(b);
    batch_ = &b;
    meter_ = &meter;
    runner_.emplace(pipeline_.device(), pipeline_.planned().run.wait, *b.into);
    waits_.emplace(runner_->how());
    result_ = {};
    begun_ = 0;
    try {
      run_frames();
    } catch (...) {
      result_.failure = describe_failure(pipeline_.planned(), at_stage_, at_frame_);
      try {
        drain();
      } catch (const std::exception&) {
        // The device itself has failed; `failure` already says so.
      }
    }
    waits_.reset();
    return result_;
  }

 protected:
  explicit in_order_executor(prepared_pipeline& pipeline) : pipeline_(pipeline) {}

  /// Hands a frame over that has begun at that time, as far as this takes no wait for its end.
  virtual void carry_out(slot& s, frame_position frame, nanoseconds begun) = 0;

  virtual bool has_ended(const slot& s) = 0;

  /// Waits for the end of a frame. Throws what a stage of it threw.
  virtual void wait_for_end(slot& s) = 0;

  /// After a failure: leaves the device idle.
  virtual void drain() = 0;

  /// Finishes the frames that have ended, from the oldest on.
  void finish_ended() {
    if (result_.completed == begun_) return;
    const auto at_stage = at_stage_;
    const auto at_frame = at_frame_;
    while (result_.completed < begun_ && oldest_has_ended()) finish_oldest();
    at_stage_ = at_stage;
    at_frame_ = at_frame;
  }

  /// For work of the frame that is carried out, while older ones end.
  void wait_for(const event& e) {
    while (result_.completed < begun_ && !e.done()) {
      waits_->pause(now() + glance_at_device);
      finish_ended();
    }
    e.wait(runner_->how());
    finish_ended();
  }

  /// Frames begun before one that failed may still be complete.
  void finish_begun() {
    while (result_.completed < begun_) finish_oldest();
  }

  prepared_pipeline& pipeline_;
  std::optional<stage_runner> runner_;   ///< of the batch under way
  std::optional<due_wait> waits_;        ///< likewise
  std::optional<std::size_t> at_stage_;  ///< for messages: what is carried out or waited for

 private:
  slot& slot_of(std::int64_t frame) {
    auto& slots = pipeline_.slots();
    return slots[static_cast<std::size_t>(frame) % slots.size()];
  }

  bool stopped() {
    result_.interrupted = batch_->stop != nullptr && batch_->stop->raised();
    return result_.interrupted;
  }

  /// With a schedule a frame begins when it is due, there is room for it in flight, and those
  /// before it have begun. Without one, frames are due when they begin.
  void run_frames() {
    const auto depth = static_cast<std::int64_t>(pipeline_.slots().size());
    const auto look = [&]() -> std::optional<nanoseconds> {
      finish_ended();
      if (stopped()) return std::nullopt;
      return result_.completed < begun_ ? glance_at_device : glance_at_stop;
    };
    while (true) {
      if (begun_ - result_.completed == depth) finish_oldest();
      std::optional<nanoseconds> due;
      if (batch_->on_schedule()) {
        due = batch_->await_next(*waits_, look);
        if (!due) break;
      } else if (begun_ == batch_->frames || !look()) {
        break;
      }
      begin_next(due);
      ++begun_;
      if (depth == 1) finish_oldest();
      finish_ended();
    }
    finish_begun();
  }

  void begin_next(std::optional<nanoseconds> due) {
    const shown_range shown(runner_->on(), "frame");
    const frame_position frame{begun_, batch_->first_number + begun_};
    at_frame_ = frame.number;
    at_stage_.reset();
    runner_->into().make_room(frame.index);
    const nanoseconds begun = now();
    runner_->into().frame_begun(frame.index, due, begun);
    carry_out(slot_of(frame.index), frame, begun);
  }

  bool oldest_has_ended() {
    at_frame_ = batch_->first_number + result_.completed;
    at_stage_.reset();
    return has_ended(slot_of(result_.completed));
  }

  void finish_oldest() {
    const frame_position frame{result_.completed, batch_->first_number + result_.completed};
    slot& s = slot_of(frame.index);
    at_frame_ = frame.number;
    at_stage_.reset();
    wait_for_end(s);
    const nanoseconds end = now();
    runner_->into().frame_ended(frame.index, end);
    at_stage_.reset();
    runner_->read_stamps(s, frame);
    ++result_.completed;
    runner_->into().frame_complete();
    meter_->frame_done(result_.completed, end);
  }

  // Of the batch under way.
  const batch* batch_ = nullptr;
  progress_meter* meter_ = nullptr;
  batch_result result_;
  std::int64_t begun_ = 0;  ///< frames begun wholly; those from `result_.completed` on in flight
  std::int64_t at_frame_ = 0;
};

/// Goes through the steps of the plan's schedule, and waits at the end of a frame for the device
/// stages that nothing follows.
class sequential_executor final : public in_order_executor {
 public:
  explicit sequential_executor(prepared_pipeline& pipeline)
      : in_order_executor(pipeline), steps_(pipeline.planned().schedule.steps) {
    const auto& stages = pipeline.planned().stages;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].on == side::device && stages[i].followers.empty()) last_.push_back(i);
    }
  }

 private:
  void carry_out(slot& s, frame_position frame, nanoseconds /*begun*/) override {
    for (const schedule_step& step : steps_) {
      bound_stage& stage = s.stages[step.stage];
      at_stage_ = step.stage;
      switch (step.what) {
        case schedule_step::action::issue:
          runner_->enqueue(stage, frame);
          break;
        case schedule_step::action::run:
          runner_->run_on_cpu(stage, frame);
          break;
        case schedule_step::action::await:
          wait_for(*stage.complete);
          break;
      }
      finish_ended();
    }
  }

  bool has_ended(const slot& s) override {
    return std::all_of(last_.begin(), last_.end(), [&](std::size_t index) {
      at_stage_ = index;
      return s.stages[index].complete->done();
    });
  }

  void wait_for_end(slot& s) override {
    for (const std::size_t index : last_) {
      at_stage_ = index;
      s.stages[index].complete->wait(runner_->how());
    }
  }

  void drain() override {
    pipeline_.device().synchronize(wait_mode::block);
    finish_begun();
  }

  const std::vector<schedule_step>& steps_;
  std::vector<std::size_t> last_;  ///< device stages that nothing follows: they end the frame
};

/// `graphs: frame`: launches each frame's graph. CPU stages run where the device calls them.
class frame_executor final : public in_order_executor {
 public:
  explicit frame_executor(prepared_pipeline& pipeline) : in_order_executor(pipeline) {}

  batch_result run(const batch& b) override {
    abandoned_ = false;
    auto result = in_order_executor::run(b);
    for (auto& s : pipeline_.slots()) s.frame->current() = {};
    return result;
  }

 private:
  void carry_out(slot& s, frame_position frame, nanoseconds begun) override {
    s.frame->current() = {.runner = &*runner_, .frame = frame, .abandoned = &abandoned_};
    const timing_method method = runner_->into().method();
    s.frame->launch(method);
    if (method != timing_method::none) runner_->into().frame_launched(frame.index, begun, now());
  }

  bool has_ended(const slot& s) override { return s.frame->complete().done(); }

  /// Frames end in order, so those before one that failed are told as completed by then.
  void wait_for_end(slot& s) override {
    s.frame->complete().wait(runner_->how());
    if (const auto& launched = s.frame->current(); launched.problem != nullptr) {
      at_stage_ = launched.failed_stage;
      std::rethrow_exception(launched.problem);
    }
  }

  /// What was launched beyond the failed frame runs to its end, without its CPU stages.
  void drain() override {
    abandoned_ = true;
    pipeline_.device().synchronize(wait_mode::block);
  }

  std::atomic<bool> abandoned_{false};
};

}  // namespace

std::unique_ptr<executor> make_sequential_executor(prepared_pipeline& pipeline) {
  return std::make_unique<sequential_executor>(pipeline);
}

std::unique_ptr<executor> make_frame_executor(prepared_pipeline& pipeline) {
  return std::make_unique<frame_executor>(pipeline);
}

}  // namespace graphline
