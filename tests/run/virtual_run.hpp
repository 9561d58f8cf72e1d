#pragma once

#include <gmock/gmock.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/device/model/model_device.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/run_policy.hpp"
#include "framework/run/execute/virtual_host.hpp"
#include "tests/run/list_scheduling.hpp"

namespace graphline::testing_plans {

/// Kinds whose stages take the times of a drawn run, on a `model` device or a virtual host.
class drawn_kinds {
 public:
  explicit drawn_kinds(const drawn_run& run)
      : run_(run), in_slot_(static_cast<std::size_t>(run.planned.run.in_flight)) {
    cpu_.name = "drawn.cpu";
    device_.name = "drawn.device";
    device_.on = side::device;
    copy_ = device_;
    copy_.name = "drawn.copy";
    copy_.moves = true;
    prepared_stage prepared;
    prepared.make_cpu = [](const stage_config&) { return std::make_unique<never_run>(); };
    prepared.make_device[""] = [this](device&, const stage_config& config) {
      return std::make_unique<timed_stage>(*this, std::stoul(config.name));
    };
    prepared_ = std::make_shared<const prepared_stage>(std::move(prepared));
  }

  /// Frames begin; earlier calls were preparation.
  void begin() { running_ = true; }

  /// A slot issues stages of this frame.
  void issued(const frame_position& frame) {
    in_slot_[static_cast<std::size_t>(frame.index) % in_slot_.size()] =
        static_cast<std::size_t>(frame.number);
  }

  plan planned() const {
    plan p = run_.planned;
    for (std::size_t s = 0; s < p.stages.size(); ++s) {
      p.stages[s].name = p.stages[s].config.name = std::to_string(s);
      p.stages[s].kind = p.stages[s].on == side::cpu ? &cpu_
                         : p.stages[s].inserted      ? &copy_
                                                     : &device_;
      p.stages[s].prepared = prepared_;
    }
    return p;
  }

 private:
  struct never_run final : cpu_stage {
    void run(const cpu_call&) override { throw std::logic_error("it must not compute"); }
  };

  struct timed_work final : device_work {
    timed_work(const drawn_kinds& of, std::size_t index, std::size_t in_slot)
        : kinds(of), stage(index), slot(in_slot) {}
    void enqueue(stream& s) override {
      model_operate(s, "drawn", [this]() -> nanoseconds {
        if (!kinds.running_) return 0;
        const nanoseconds time = kinds.run_.times[kinds.in_slot_[slot]][stage];
        if (time < 0) throw run_error("it broke");
        return time;
      });
    }
    const drawn_kinds& kinds;
    std::size_t stage;
    std::size_t slot;
  };

  struct timed_stage final : device_stage {
    timed_stage(const drawn_kinds& of, std::size_t index) : kinds(of), stage(index) {}
    std::unique_ptr<device_work> bind(const stage_tensors&) override {
      return std::make_unique<timed_work>(kinds, stage, slots++);
    }
    const drawn_kinds& kinds;
    std::size_t stage;
    std::size_t slots = 0;
  };

  const drawn_run& run_;
  std::vector<std::size_t> in_slot_;  ///< frame numbers
  bool running_ = false;
  stage_kind cpu_;
  stage_kind device_;
  stage_kind copy_;
  std::shared_ptr<const prepared_stage> prepared_;
};

struct overheads {
  nanoseconds issue = 0;
  nanoseconds wake_up = 0;
  nanoseconds completion_delay = 0;
  nanoseconds device_start = 0;
  nanoseconds oversleep = 0;
};

struct virtual_run {
  phase_result result;
  run_record record;
};

/// By the executor that really runs pipelines.
template <template <class> class Executor>
virtual_run run_in_virtual_time(const drawn_run& run, const overheads& of = {}) {
  drawn_kinds kinds(run);
  virtual_clock clock;
  const auto on = open_model_device(
      clock, {.operations_at_once = run.operations_at_once, .idle_start = of.device_start});
  prepared_pipeline pipeline(kinds.planned(), *on, nullptr);
  kinds.begin();
  const auto time_of = [&run](std::size_t stage, const frame_position& frame) {
    const nanoseconds time = run.times[static_cast<std::size_t>(frame.number)][stage];
    if (time < 0) throw run_error("it broke");
    return time;
  };
  const auto issue_time = [&](std::size_t, const frame_position& frame) {
    kinds.issued(frame);
    return of.issue;
  };
  const auto frames = static_cast<std::int64_t>(run.times.size());
  const settings& how = run.planned.run;
  recording kept(pipeline.planned(), pipeline.parts(), *on, how.timing, frames, clock.now());
  Executor<virtual_host> executor(pipeline, virtual_world{clock,
                                                          static_cast<int>(run.workers),
                                                          time_of,
                                                          {},
                                                          issue_time,
                                                          of.wake_up,
                                                          of.completion_delay,
                                                          of.oversleep});
  phase all;
  all.frames = frames;
  all.into = &kept;
  std::optional<frame_schedule> due;
  if (how.arrival != arrival::closed) {
    settings load = how;
    load.frames = frames;
    due.emplace(arrival_times(load, 0, run.planned.arrivals.get()), frames, queue_policy::block,
                frame_batching{how.batch_frames, how.batch_wait.value_or(0)}, give_up_time(how));
    all.schedule = &*due;
  }
  std::optional<run_policy> scheduled;
  if (run.planned.policy.kind != nullptr) {
    scheduled.emplace(run.planned.policy, 1,
                      std::vector{scheduled_pipeline{&pipeline.planned(), run.expected}});
    all.policy = &scheduled->of(0);
  }
  virtual_run made{executor.run(all), {}};
  if (due) made.record.load = due->end(0, clock.now(), made.result.completed);
  std::move(kept).move_into(made.record, made.result.completed);
  made.record.pipeline = run.planned.pipeline;
  made.record.run = how;
  made.record.device = on->properties();
  made.record.cpu_cores = static_cast<int>(run.workers);
  return made;
}

/// When stages and frames of a run began and ended.
template <template <class> class Executor>
outcome executed(const drawn_run& run, const overheads& of = {}) {
  const virtual_run made = run_in_virtual_time<Executor>(run, of);
  EXPECT_EQ(made.result.completed, std::ssize(run.times));
  EXPECT_EQ(made.result.failure, std::nullopt);
  outcome seen;
  seen.stages.resize(run.times.size());
  for (std::size_t f = 0; f < run.times.size(); ++f) {
    seen.frames.push_back({made.record.frames[f].begin, made.record.frames[f].end});
    for (const auto& stage : made.record.stages) {
      const bool on_cpu = stage.on == side::cpu;
      seen.stages[f].push_back(on_cpu ? span{stage.cpu[f].begin, stage.cpu[f].end}
                                      : span{0, stage.device[f].end});
    }
  }
  return seen;
}

template <template <class> class Executor, class Rules = list_scheduling>
void expect_same(const drawn_run& run, std::uint64_t seed) {
  const outcome expected = Rules(run).carry_out();
  const outcome seen = executed<Executor>(run);
  for (std::size_t f = 0; f < run.times.size(); ++f) {
    for (std::size_t s = 0; s < run.planned.stages.size(); ++s) {
      ASSERT_EQ(seen.stages[f][s], expected.stages[f][s])
          << "seed " << seed << " frame " << f << " stage " << s << ": " << seen.stages[f][s].begin
          << " to " << seen.stages[f][s].end << ", not " << expected.stages[f][s].begin << " to "
          << expected.stages[f][s].end;
    }
    ASSERT_EQ(seen.frames[f], expected.frames[f]) << "seed " << seed << " frame " << f;
  }
}

}  // namespace graphline::testing_plans
