#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/virtual_clock.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/ready_queue.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// What the host of a run in virtual time is like. Times are in nanoseconds.
struct virtual_world {
  virtual_clock& clock;  ///< of the device too
  int workers = 1;       ///< that run the CPU stages which a schedule leaves to workers

  /// How long a CPU stage takes, by its index in the plan and the frame's number.
  std::function<nanoseconds(std::size_t stage, std::int64_t frame)> cpu_time;

  // Overheads.
  nanoseconds issue = 0;             ///< of a device stage, for the thread that issues it
  nanoseconds wake_up = 0;           ///< between a task for an idle worker and its begin
  nanoseconds completion_delay = 0;  ///< between the end of a device stage and the host's seeing it
};

/// Waits of the thread that drives the frames.
class virtual_waits {
 public:
  explicit virtual_waits(virtual_clock& clock) noexcept : clock_(clock) {}

  nanoseconds now() const noexcept { return clock_.now(); }

  /// Lets time pass up to `at`; up to the next thing that happens where that is not later.
  void pause(nanoseconds at) const {
    if (at > clock_.now()) return clock_.advance_to(at);
    const nanoseconds before = clock_.now();
    bool stepped = false;
    clock_.run_until([&] { return std::exchange(stepped, true) || clock_.now() > before; });
  }

 private:
  virtual_clock& clock_;
};

/// The host port of executors in virtual time, with what `real_host` offers: no CPU stage computes,
/// each takes the time it is told. One thread carries all of it out, so that a run is the same
/// every time.
class virtual_host {
 public:
  using waits = virtual_waits;

  virtual_host(prepared_pipeline& pipeline, const virtual_world& world)
      : pipeline_(pipeline), world_(world), clock_(world.clock) {}

  nanoseconds now() const noexcept { return clock_.now(); }

  const stage_runner& begin(recording& into) {
    return runner_.emplace(pipeline_.device(), pipeline_.planned().run.wait, into);
  }

  waits make_waits() const noexcept { return waits(clock_); }

  template <class Function>
  void change(const Function& f) {
    f();
  }

  /// Until `reached()`, which comes about as time passes. Throws `run_error` where nothing is left
  /// that could bring it about.
  template <class Condition>
  bool wait_for(nanoseconds /*at_most*/, const Condition& reached) {
    clock_.run_until(reached);
    return true;
  }

  void await(const event& e) {
    if (e.done()) return;
    e.wait(runner_->how());
    if (world_.completion_delay > 0) clock_.advance_to(now() + world_.completion_delay);
  }

  void run(bound_stage& s, frame_position frame) {
    const nanoseconds begin = now();
    clock_.advance_to(begin + time_of(s, frame));
    keep(s, frame, begin);
  }

  void issue(bound_stage& s, frame_position frame) {
    const nanoseconds begin = now();
    runner_->enqueue(s, frame, launch_clock{clock_, world_.issue});
    // Without an overhead the next step belongs to the same moment.
    if (world_.issue > 0) clock_.advance_to(begin + world_.issue);
  }

  template <class Seen>
  void start_workers(const Seen& seen) {
    const auto& stages = pipeline_.planned().stages;
    for (int i = 0; i < world_.workers; ++i) {
      idle_.push_back(&workers_.emplace_back(turn::of::worker));
    }
    for (std::uint64_t slot = 0; slot < pipeline_.slots().size(); ++slot) {
      for (std::uint64_t stage = 0; stage < stages.size(); ++stage) {
        const auto token = (slot << 32) | stage;
        const auto tell = [this, seen, token] { seen(watcher_turn(), token, nullptr); };
        ends_.emplace_back(clock_, world_.completion_delay, tell);
      }
    }
  }

  bool watches(std::size_t stage) const {
    const auto& planned = pipeline_.planned().stages[stage];
    return planned.on == side::device && planned.host_waits;
  }

  template <class GoOn>
  bool run(bound_stage& s, frame_position frame, turn& /*own*/, const GoOn& go_on) {
    clock_.at(now() + time_of(s, frame), [this, &s, frame, go_on, begin = now()] {
      keep(s, frame, begin);
      go_on();
    });
    return false;
  }

  template <class GoOn>
  bool issue(bound_stage& s, frame_position frame, std::uint64_t token, turn& own,
             const GoOn& go_on) {
    runner_->enqueue(s, frame, launch_clock{clock_, world_.issue});
    if (watches(s.index)) {
      s.on->call(ends_[(token >> 32) * pipeline_.planned().stages.size() + s.index]);
    }
    if (world_.issue == 0) return true;
    if (own.whose == turn::of::driver) {
      clock_.advance_to(now() + world_.issue);
      return true;
    }
    clock_.at(now() + world_.issue, go_on);
    return false;
  }

  template <class Task>
  void post(const Task& task, const turn& /*own*/) {
    tasks_.push_back(task);
    if (idle_.empty()) return;
    turn& worker = *idle_.back();
    idle_.pop_back();
    clock_.at(now() + world_.wake_up, [this, &worker] { take_task(worker); });
  }

  void over(turn& own) {
    if (own.whose == turn::of::watcher) {
      free_watchers_.push_back(&own);
    } else if (tasks_.empty()) {
      idle_.push_back(&own);
    } else {
      clock_.at(now(), [this, &own] { take_task(own); });
    }
  }

 private:
  /// Times a launch that takes so long, in which the clock stands still.
  struct launch_clock {
    virtual_clock& clock;
    nanoseconds overhead;
    std::optional<nanoseconds> begin = {};

    nanoseconds now() {
      if (begin) return std::max(clock.now(), *begin + overhead);
      begin = clock.now();
      return *begin;
    }
  };

  /// The device calls it where a stage has ended.
  class stage_end final : public host_function {
   public:
    stage_end(virtual_clock& clock, nanoseconds delay, std::function<void()> tell)
        : clock_(clock), delay_(delay), tell_(std::move(tell)) {}
    std::string_view name() const noexcept override { return "stage end"; }
    void call() noexcept override { clock_.at(clock_.now() + delay_, tell_); }

   private:
    virtual_clock& clock_;
    nanoseconds delay_;
    std::function<void()> tell_;
  };

  nanoseconds time_of(const bound_stage& s, frame_position frame) const {
    return world_.cpu_time(s.index, frame.number);
  }

  void keep(const bound_stage& s, frame_position frame, nanoseconds begin) const {
    if (runner_->into().method() == timing_method::none) return;
    runner_->into().on_cpu(s.index, frame.index, begin, now());
  }

  turn& watcher_turn() {
    if (free_watchers_.empty()) return watchers_.emplace_back(turn::of::watcher);
    turn& own = *free_watchers_.back();
    free_watchers_.pop_back();
    return own;
  }

  void take_task(turn& worker) {
    if (tasks_.empty()) {
      idle_.push_back(&worker);
      return;
    }
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    task(worker);
  }

  prepared_pipeline& pipeline_;
  virtual_world world_;
  virtual_clock& clock_;
  std::optional<stage_runner> runner_;
  std::deque<std::function<void(turn&)>> tasks_;
  std::deque<turn> workers_;
  std::vector<turn*> idle_;
  std::deque<turn> watchers_;
  std::vector<turn*> free_watchers_;
  std::deque<stage_end> ends_;  ///< by slot, then stage
};

}  // namespace graphline
