#include "framework/run/execute/virtual_host.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "framework/device/model/model_device.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "tests/run/drawn_plan.hpp"

namespace graphline {
namespace {

using namespace testing_plans;

/// When a stage of a frame was begun, where that is seen, and ended.
struct span {
  nanoseconds begin = 0;
  nanoseconds end = 0;
  friend bool operator==(const span&, const span&) = default;
};

/// By frame, then stage.
template <class T>
using of_frames = std::vector<std::vector<T>>;

struct outcome {
  of_frames<span> stages;  ///< of device stages the end only
  std::vector<span> frames;
};

struct drawn_run {
  plan planned;
  std::size_t workers = 1;
  of_frames<nanoseconds> times;
};

constexpr std::size_t streams = 3;  // one of each priority, so that no two have the same

/// All that a plan has beside its stages.
void finish(plan& p, strategy how, graph_mode graphs, std::size_t in_flight) {
  p.pipeline = "drawn";
  p.run.strategy = how;
  p.run.graphs = graphs;
  p.run.in_flight = static_cast<std::int64_t>(in_flight);
  p.run.warmup = 0;
  for (const auto level : {priority::high, priority::normal, priority::low}) {
    p.streams.push_back({.name = std::string(to_word(level)), .priority = level});
  }
  p.schedule = planning::make_schedule(p);
}

/// Random stages, times, numbers of workers and frames in flight.
drawn_run draw(std::uint64_t seed, strategy how, std::size_t in_flight) {
  random_source random(seed);
  drawn_run made;
  made.planned = random_plan(random, 12, streams);
  plan& p = made.planned;
  finish(p, how, below(random, 2) == 0 ? graph_mode::off : graph_mode::stage, in_flight);
  made.workers = 1 + below(random, 4);
  const std::size_t frames = 1 + below(random, 8);
  made.times.assign(frames, std::vector<nanoseconds>(p.stages.size()));
  for (auto& frame : made.times) {
    for (nanoseconds& time : frame) time = 1 + static_cast<nanoseconds>(below(random, 1'000'000));
  }
  return made;
}

/// What the definition of a schedule says of a run, worked out from one moment to the next. It
/// knows the device as one engine that takes the most urgent stream whose next stage may start.
class list_scheduling {
 public:
  explicit list_scheduling(const drawn_run& run)
      : run_(run),
        plan_(run.planned),
        count_(plan_.stages.size()),
        states_(run.times.size(), std::vector<state>(count_)),
        cores_(run.workers) {
    result_.stages.assign(run.times.size(), std::vector<span>(count_));
    result_.frames.resize(run.times.size());
  }

  outcome carry_out() && {
    while (true) {
      settle();
      if (ended_ == run_.times.size()) return std::move(result_);
      end_next();
    }
  }

 private:
  struct state {
    bool issued = false;   ///< or taken by a core
    bool started = false;  ///< by the device
    bool returned = false;
    bool complete = false;
  };
  struct running {
    nanoseconds end;
    std::size_t frame;
    std::size_t stage;
  };

  bool on_cpu(std::size_t s) const { return plan_.stages[s].on == side::cpu; }
  std::size_t depth() const { return static_cast<std::size_t>(plan_.run.in_flight); }
  state& at(std::size_t f, std::size_t s) { return states_[f][s]; }

  /// All that happens at this moment.
  void settle() {
    // The device chooses once nothing else happens any more.
    while (begin_frame() || take_up() || end_frame() || start_on_device()) {
    }
  }

  bool begin_frame() {
    if (begun_ == run_.times.size() || begun_ == ended_ + depth()) return false;
    // One host thread begins a frame when it is done with the one before.
    if (in_order() && step_ > 0) return false;
    result_.frames[begun_++].begin = now_;
    return true;
  }

  bool end_frame() {
    if (ended_ == begun_ || (in_order() && step_ > 0)) return false;
    for (std::size_t s = 0; s < count_; ++s) {
      if (!at(ended_, s).complete) return false;
    }
    result_.frames[ended_++].end = now_;
    return true;
  }

  bool in_order() const { return plan_.schedule.properties.in_order; }

  /// The host issues or starts one stage.
  bool take_up() { return in_order() ? take_step() : take_up_least(); }

  bool take_step() {
    if (begun_ == ended_ || steps_done_ == begun_) return false;
    const std::size_t f = begun_ - 1;
    const schedule_step& step = plan_.schedule.steps[step_];
    switch (step.what) {
      case schedule_step::action::issue:
        issue(f, step.stage);
        break;
      case schedule_step::action::run:
        if (!at(f, step.stage).issued) start_on_core(f, step.stage);
        if (!at(f, step.stage).returned) return false;
        break;
      case schedule_step::action::await:
        if (!at(f, step.stage).complete) return false;
        break;
    }
    if (++step_ == plan_.schedule.steps.size()) {
      step_ = 0;
      ++steps_done_;
    }
    return true;
  }

  /// The oldest frame's first stage in the order of the plan; device stages before those of the
  /// CPU.
  bool take_up_least() {
    for (const bool cpu : {false, true}) {
      for (std::size_t f = ended_; f < begun_; ++f) {
        for (std::size_t s = 0; s < count_; ++s) {
          if (on_cpu(s) != cpu || at(f, s).issued || !is_ready(f, s)) continue;
          if (!cpu) {
            issue(f, s);
            return true;
          }
          if (cores_ == 0) return false;
          start_on_core(f, s);
          return true;
        }
      }
    }
    return false;
  }

  bool is_ready(std::size_t f, std::size_t s) {
    if (f > 0 && depth() > 1 && !at(f - 1, s).returned) return false;
    for (const dependency& wait : plan_.stages[s].waits) {
      const state& before = at(f, wait.stage);
      if (!(wait.how == satisfied_by::completion ? before.complete : before.returned)) return false;
    }
    return true;
  }

  void issue(std::size_t f, std::size_t s) {
    at(f, s).issued = at(f, s).returned = true;
    queues_[plan_.stages[s].stream].push_back({f, s});
  }

  void start_on_core(std::size_t f, std::size_t s) {
    at(f, s).issued = true;
    --cores_;
    result_.stages[f][s].begin = now_;
    running_.push_back({now_ + run_.times[f][s], f, s});
  }

  /// Streams are numbered from the most urgent one.
  bool start_on_device() {
    if (device_busy_) return false;
    for (auto& [stream, queue] : queues_) {
      if (queue.empty()) continue;
      const auto [f, s] = queue.front();
      bool free = true;
      for (const dependency& wait : plan_.stages[s].waits) {
        free = free && (wait.how != satisfied_by::event_wait || at(f, wait.stage).complete);
      }
      if (!free) continue;
      device_busy_ = true;
      running_.push_back({now_ + run_.times[f][s], f, s});
      return true;
    }
    return false;
  }

  void end_next() {
    ASSERT_FALSE(running_.empty()) << "nothing is left to happen";
    auto next = std::ranges::min_element(running_, {}, &running::end);
    const auto [end, f, s] = *next;
    running_.erase(next);
    now_ = end;
    result_.stages[f][s].end = now_;
    at(f, s).returned = at(f, s).complete = true;
    if (on_cpu(s)) {
      ++cores_;
      return;
    }
    queues_[plan_.stages[s].stream].pop_front();
    device_busy_ = false;
  }

  const drawn_run& run_;
  const plan& plan_;
  std::size_t count_;
  of_frames<state> states_;
  std::size_t cores_;
  bool device_busy_ = false;
  std::map<std::size_t, std::deque<std::pair<std::size_t, std::size_t>>> queues_;
  std::vector<running> running_;
  nanoseconds now_ = 0;
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
  std::size_t step_ = 0;        ///< of the one host thread, in the frame begun last
  std::size_t steps_done_ = 0;  ///< frames whose steps are
  outcome result_;
};

/// Kinds whose stages take the times of a drawn run, on a `model` device or a virtual host.
class drawn_kinds {
 public:
  explicit drawn_kinds(const drawn_run& run) : run_(run) {
    cpu_.name = "drawn.cpu";
    cpu_.make_cpu = [](const stage_config&) { return std::make_unique<never_run>(); };
    device_.name = "drawn.device";
    device_.on = side::device;
    device_.make_device[""] = [this](device&, const stage_config& config) {
      return std::make_unique<timed_stage>(*this, std::stoul(config.name));
    };
  }

  /// Frames begin; what came before was to make ready.
  void begin() { running_ = true; }

  plan planned() const {
    plan p = run_.planned;
    for (std::size_t s = 0; s < p.stages.size(); ++s) {
      p.stages[s].name = p.stages[s].config.name = std::to_string(s);
      p.stages[s].kind = p.stages[s].on == side::cpu ? &cpu_ : &device_;
    }
    return p;
  }

 private:
  struct never_run final : cpu_stage {
    void run(const cpu_call&) override { throw std::logic_error("it must not compute"); }
  };

  /// What one slot has of a stage: every so manieth frame.
  struct timed_work final : device_work {
    timed_work(const drawn_kinds& of, std::size_t index, std::size_t slot)
        : kinds(of), stage(index), next(slot) {}
    void enqueue(stream& s) override {
      model_operate(s, "drawn", [this]() -> nanoseconds {
        if (!kinds.running_) return 0;
        return kinds.run_.times[std::exchange(next, next + kinds.depth())][stage];
      });
    }
    const drawn_kinds& kinds;
    std::size_t stage;
    std::size_t next;
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

  std::size_t depth() const { return static_cast<std::size_t>(run_.planned.run.in_flight); }

  const drawn_run& run_;
  bool running_ = false;
  stage_kind cpu_;
  stage_kind device_;
};

struct overheads {
  nanoseconds issue = 0;
  nanoseconds wake_up = 0;
  nanoseconds completion_delay = 0;
};

/// The same run by the executor that really runs pipelines.
template <template <class> class Executor>
outcome executed(const drawn_run& run, const overheads& of = {}) {
  drawn_kinds kinds(run);
  virtual_clock clock;
  const auto on = open_model_device(clock, {});
  prepared_pipeline pipeline(kinds.planned(), *on, nullptr);
  kinds.begin();
  const virtual_world world{clock,
                            static_cast<int>(run.workers),
                            [&](std::size_t stage, std::int64_t frame) {
                              return run.times[static_cast<std::size_t>(frame)][stage];
                            },
                            of.issue,
                            of.wake_up,
                            of.completion_delay};
  const auto frames = static_cast<std::int64_t>(run.times.size());
  recording kept(pipeline.planned(), pipeline.parts(), on->properties(), timing_method::event,
                 frames, clock.now());
  Executor<virtual_host> executor(pipeline, world);
  batch all;
  all.frames = frames;
  all.into = &kept;
  const batch_result result = executor.run(all);
  EXPECT_EQ(result.completed, frames);
  EXPECT_EQ(result.failure, std::nullopt);
  run_record record;
  std::move(kept).hand_over(record, result.completed);
  outcome seen;
  seen.stages.resize(run.times.size());
  for (std::size_t f = 0; f < run.times.size(); ++f) {
    seen.frames.push_back({record.frames[f].begin, record.frames[f].end});
    for (const auto& stage : record.stages) {
      const bool on_cpu = stage.on == side::cpu;
      seen.stages[f].push_back(on_cpu ? span{stage.cpu[f].begin, stage.cpu[f].end}
                                      : span{0, stage.device[f].end});
    }
  }
  return seen;
}

template <template <class> class Executor>
void expect_same(const drawn_run& run, std::uint64_t seed) {
  const outcome expected = list_scheduling(run).carry_out();
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

TEST(virtual_host, runs_overlap_as_list_scheduling_says_to_the_nanosecond) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const std::size_t in_flight : {1, 2, 4}) {
      expect_same<ready_executor>(draw(seed, strategy::overlap, in_flight), seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(virtual_host, runs_one_host_thread_as_its_steps_say_to_the_nanosecond) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const auto how : {strategy::serial, strategy::async}) {
      expect_same<sequential_executor>(draw(seed, how, 1), seed);
      if (HasFatalFailure()) return;
    }
  }
}

/// A device stage of 1000 ns, whose result a CPU stage of 100 ns waits for, then a device stage of
/// 10 ns behind that.
drawn_run three_in_a_row(strategy how) {
  drawn_run made;
  made.planned = plan_of({side::device, side::cpu, side::device}, {{0, 1}, {1, 2}}, streams);
  made.times = {{1000, 100, 10}};
  finish(made.planned, how, graph_mode::stage, 1);
  return made;
}

TEST(virtual_host, takes_the_time_of_each_overhead) {
  const overheads of{.issue = 7, .wake_up = 20, .completion_delay = 300};
  // One host thread: it issues, sees the end late, runs the CPU stage itself, issues, sees the end.
  const outcome async = executed<sequential_executor>(three_in_a_row(strategy::async), of);
  EXPECT_EQ(async.stages[0][0].end, 1000);
  EXPECT_EQ(async.stages[0][1], (span{1300, 1400}));
  EXPECT_EQ(async.stages[0][2].end, 1410);
  EXPECT_EQ(async.frames[0], (span{0, 1710}));
  // The watcher sees the end late and wakes up a worker, which issues the last stage.
  const outcome overlap = executed<ready_executor>(three_in_a_row(strategy::overlap), of);
  EXPECT_EQ(overlap.stages[0][0].end, 1000);
  EXPECT_EQ(overlap.stages[0][1], (span{1320, 1420}));
  EXPECT_EQ(overlap.stages[0][2].end, 1430);
  EXPECT_EQ(overlap.frames[0], (span{0, 1730}));
}

/// A frame has ended when its last stage has, however many are in flight.
TEST(virtual_host, ends_frames_of_one_cpu_stage_with_it) {
  constexpr nanoseconds stage = 10'000'000;
  for (const std::size_t in_flight : {1, 2, 4}) {
    for (const auto how : {strategy::async, strategy::overlap}) {
      drawn_run run;
      run.planned = plan_of({side::cpu}, {}, streams);
      run.times.assign(20, {stage});
      finish(run.planned, how, graph_mode::stage, in_flight);
      const outcome seen = how == strategy::async ? executed<sequential_executor>(run)
                                                  : executed<ready_executor>(run);
      nanoseconds begin = 0;
      for (std::size_t f = 0; f < run.times.size(); ++f) {
        EXPECT_EQ(seen.stages[f][0], (span{begin, begin + stage}));
        EXPECT_EQ(seen.frames[f].end, begin + stage);
        // One host thread takes a frame up when it can; elsewhere it begins when a slot is free.
        if (how == strategy::async) {
          EXPECT_EQ(seen.frames[f].begin, begin);
        }
        begin += stage;
      }
    }
  }
}

TEST(virtual_host, does_the_same_every_time) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const drawn_run run = draw(seed, strategy::overlap, 3);
    const overheads of{.issue = 700, .wake_up = 20'000, .completion_delay = 30'000};
    const outcome once = executed<ready_executor>(run, of);
    const outcome again = executed<ready_executor>(run, of);
    ASSERT_EQ(once.stages, again.stages);
    ASSERT_EQ(once.frames, again.frames);
  }
}

}  // namespace
}  // namespace graphline
