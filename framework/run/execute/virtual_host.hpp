#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/thread_number.hpp"
#include "framework/base/virtual_clock.hpp"
#include "framework/run/execute/frame_graph.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/ready_queue.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// Settings of a virtual host. Times are in nanoseconds.
struct virtual_world {
  virtual_clock& clock;  ///< also used by the device
  int workers = 1;       ///< workers that run CPU stages

  /// Duration of a CPU stage, by index in the plan.
  std::function<nanoseconds(std::size_t stage, const frame_position& frame)> cpu_time;

  /// Writes the outputs of a CPU stage; unset: they keep their values.
  std::function<void(std::size_t stage, const frame_position& frame,
                     std::span<const tensor_view> outputs)>
      cpu_result = {};

  // Overheads.

  /// Time to issue a device stage, on the issuing thread; of a frame's graph, with the number of
  /// stages as index. Unset: 0.
  std::function<nanoseconds(std::size_t stage, const frame_position& frame)> issue_time = {};
  nanoseconds wake_up = 0;           ///< from posting a task to its start on an idle worker
  nanoseconds completion_delay = 0;  ///< from device completion to its observation
  nanoseconds oversleep = 0;         ///< from the time to which a thread sleeps to its wake-up

  // For several executors on one clock, each with a driver thread; unset: the driver advances the
  // clock itself.

  std::function<void(nanoseconds when)> wait_until = {};  ///< waits for a time
  std::function<void()> wait_for_call = {};               ///< waits for the clock's next call
};

/// Host port in virtual time, with the interface of `real_host`. Single-threaded and deterministic.
/// CPU stages take their given durations and compute nothing.
///
/// - The device receives a stage when the issuing thread has finished issuing it. Threads that
///   issue to the same stream take turns.
/// - There are as many watchers as on `real_host`. A watcher is busy while it issues stages.
/// - Submitted frames and stop requests raised by time are not supported. `begin` throws
///   `run_error` for `timing: callback`, and for `timing: sync` if several threads issue stages.
class virtual_host {
 public:
  class waits {
   public:
    explicit waits(virtual_host& host) noexcept : host_(host) {}

    nanoseconds now() const noexcept { return host_.now(); }

    /// Advances to `at`; with `spin` and `yield`, to the next event if it is earlier. If `at` is
    /// not in the future, advances to the next event. A sleeping thread wakes up late.
    void pause(nanoseconds at) const {
      const auto next = host_.clock_.next();
      const bool polls = host_.runner_->how() != wait_mode::block;
      if (at <= now() || (polls && next && *next <= at)) {
        host_.go_on();
      } else {
        host_.pass_until(polls ? at : at + host_.world_.oversleep);
      }
    }

   private:
    virtual_host& host_;
  };

  /// Workers and their tasks.
  struct workers {
    struct worker {
      explicit worker(std::uint32_t number) : thread(number) {}

      turn own{turn::of::worker};
      std::uint32_t thread;
    };

    std::deque<worker> all;
    std::deque<std::function<void(turn&)>> tasks;
    std::vector<turn*> idle;
    bool shared = false;  ///< by several hosts
  };

  virtual_host(prepared_pipeline& pipeline, const virtual_world& world)
      : pipeline_(pipeline), world_(world), clock_(world.clock) {}

  nanoseconds now() const noexcept { return clock_.now(); }

  const stage_runner& begin(recording& into) {
    const bool refused = into.method() == timing_method::callback ||
                         (into.method() == timing_method::sync && workers_ != nullptr);
    if (refused) throw run_error("this timing method has no meaning in virtual time");
    phase_ = std::make_shared<char>();
    awaited_.clear();
    if (workers_ != nullptr && !workers_->shared) {
      workers_->tasks.clear();
      workers_->idle.clear();
      for (auto& w : workers_->all) {
        w.own.clear();
        workers_->idle.push_back(&w.own);
      }
    }
    for (watcher& w : watchers_) w.clear();
    std::ranges::fill(stream_free_, nanoseconds{0});
    return runner_.emplace(pipeline_.devices(), pipeline_.planned().run.wait, into);
  }

  waits make_waits() noexcept { return waits(*this); }

  template <class Function>
  void change(const Function& f) {
    f();
  }

  /// Advances until `reached()` returns true. Throws `run_error` if no event is left.
  template <class Condition>
  bool wait_for(nanoseconds /*at_most*/, const Condition& reached) {
    while (!reached()) go_on();
    return true;
  }

  void await(const event& e) {
    if (e.done()) return;
    e.wait(runner_->how());
    take(world_.completion_delay);
  }

  void run(bound_stage& s, const frame_position& frame) {
    if (!decided(s, frame, thread_number())) return;
    const nanoseconds begin = now();
    pass_until(begin + time_of(s, frame));
    keep(s, frame, begin, now(), thread_number());
  }

  void issue(bound_stage& s, const frame_position& frame) {
    const nanoseconds begin = now();
    take(time_to_issue(s.index, frame));
    runner_->enqueue(s, frame, launch_clock{clock_, begin, thread_number()});
  }

  /// Runs the graph's CPU stages one at a time, on a thread of the device.
  void launch(frame_graph& graph, const frame_position& frame, std::atomic<bool>& abandoned) {
    take(time_to_issue(pipeline_.planned().stages.size(), frame));
    graph.current() = {.runner = &*runner_,
                       .in_virtual_time = &in_graph_,
                       .clock = &clock_,
                       .frame = frame,
                       .abandoned = &abandoned};
    graph.launch(runner_->into().method());
  }

  using seen_function = std::function<void(turn& own, std::uint64_t token, std::exception_ptr)>;

  /// @param of Gets its workers from the first host that calls this.
  void start_workers(workers& of, seen_function seen) {
    seen_ = std::move(seen);
    const plan& p = pipeline_.planned();
    workers_ = &of;
    of.shared = !of.all.empty();
    for (int i = 1; !of.shared && i <= world_.workers; ++i) {
      of.all.emplace_back(new_thread_number("worker " + std::to_string(i)));
      of.all.back().own.clear();
      of.idle.push_back(&of.all.back().own);
    }
    const std::size_t watchers = p.run.wait == wait_mode::block ? p.streams.size() : 1;
    for (std::size_t i = 1; i <= watchers; ++i) {
      watchers_.emplace_back(new_thread_number("watcher " + std::to_string(i)));
    }
    stream_free_.resize(p.streams.size());
    for (std::uint64_t slot = 0; slot < pipeline_.slots().size(); ++slot) {
      for (std::uint64_t stage = 0; stage < p.stages.size(); ++stage) {
        ends_.emplace_back(*this, (slot << 32) | stage);
      }
    }
  }

  bool watches(std::size_t stage) const {
    const auto& planned = pipeline_.planned().stages[stage];
    return planned.on == side::device && planned.host_waits;
  }

  template <class GoOn>
  bool run(bound_stage& s, const frame_position& frame, turn& own, const GoOn& go_on) {
    if (!decided(s, frame, thread_of(own))) return true;
    at(now() + time_of(s, frame), [this, &s, frame, &own, go_on, begin = now()] {
      keep(s, frame, begin, now(), thread_of(own));
      go_on(nullptr);
    });
    return false;
  }

  template <class GoOn>
  bool issue(bound_stage& s, const frame_position& frame, std::uint64_t token, turn& own,
             const GoOn& go_on) {
    const nanoseconds begin = now();
    nanoseconds& free = stream_free_[pipeline_.planned().stages[s.index].stream];
    const nanoseconds end = std::max(begin, free) + time_to_issue(s.index, frame);
    if (end == begin) {
      hand_in(s, frame, token, begin, own);
      return true;
    }
    free = end;
    if (own.whose == turn::of::driver) {
      pass_until(end);
      hand_in(s, frame, token, begin, own);
      return true;
    }
    at(end, [this, &s, frame, token, &own, go_on, begin] {
      std::exception_ptr problem;
      try {
        hand_in(s, frame, token, begin, own);
      } catch (...) {
        problem = std::current_exception();
      }
      go_on(problem);
    });
    return false;
  }

  template <class Task>
  void post(const Task& task, const turn& /*own*/) {
    workers_->tasks.push_back(task);
    if (workers_->idle.empty()) return;
    turn& own = *workers_->idle.back();
    workers_->idle.pop_back();
    at(now() + world_.wake_up, [this, &own] { take_task(own); });
  }

  using due_function = std::function<void(turn& own, std::uint64_t token)>;

  void start_timer(due_function due) {
    due_ = std::move(due);
    const std::size_t stages = pipeline_.planned().stages.size();
    for (std::size_t i = 0; i < stages * pipeline_.slots().size(); ++i) {
      timer_turns_.emplace_back(turn::of::timer);
    }
    timer_thread_ = new_thread_number("timer");
  }

  /// Calls do not wait for each other, unlike those of `real_host`.
  void post_at(nanoseconds when, std::uint64_t token) {
    turn& own = timer_turns_[index_of(token)];
    at(when + world_.oversleep, [this, &own, token] {
      own.clear();
      due_(own, token);
    });
  }

  void over(turn& own) {
    if (own.whose == turn::of::watcher) {
      watcher& w = *std::ranges::find(watchers_, &own, [](watcher& each) { return &each.own; });
      w.busy = false;
      if (!w.seen.empty()) at(now(), [this, &w] { look(w); });
    } else if (own.whose == turn::of::worker) {
      at(now(), [this, &own] { take_task(own); });
    }
  }

 private:
  /// A thread that observes completions, one at a time.
  struct watcher {
    explicit watcher(std::uint32_t number) : thread(number) {}

    void clear() {
      own.clear();
      busy = false;
      seen.clear();
    }

    turn own{turn::of::watcher};
    std::uint32_t thread;
    bool busy = false;
    std::deque<std::pair<std::uint64_t, std::exception_ptr>> seen = {};
  };

  /// A device stage whose completion has not been observed.
  struct awaited_stage {
    std::uint64_t token;
    const event* complete;
  };

  /// Clock for a launch; its first reading is `begin`, before the device received the stage.
  struct launch_clock {
    virtual_clock& clock;
    nanoseconds begin;
    std::uint32_t number;
    bool asked = false;

    nanoseconds now() noexcept { return std::exchange(asked, true) ? clock.now() : begin; }
    std::uint32_t thread() const noexcept { return number; }
  };

  class stage_end final : public host_function {
   public:
    stage_end(virtual_host& host, std::uint64_t token) : host_(host), token_(token) {}
    std::string_view name() const noexcept override { return "stage end"; }
    void call() noexcept override { host_.complete(token_, nullptr); }

   private:
    virtual_host& host_;
    std::uint64_t token_;
  };

  /// Schedules a call on the clock; drops it if the phase has ended by then.
  template <class Call>
  void at(nanoseconds when, Call call) {
    clock_.at(when, [phase = std::weak_ptr(phase_), call = std::move(call)] {
      if (!phase.expired()) call();
    });
  }

  /// Advances to the next event. If none is left and the device has failed, reports the failure to
  /// all stages waiting for the device.
  void go_on() {
    if (world_.wait_for_call) return world_.wait_for_call();
    if (clock_.step()) return;
    const auto left = std::exchange(awaited_, {});
    for (const awaited_stage& each : left) {
      try {
        static_cast<void>(each.complete->done());
      } catch (...) {
        complete(each.token, std::current_exception());
      }
    }
    clock_.run_until([asked = false]() mutable { return std::exchange(asked, true); });
  }

  /// Waits on the driver's thread.
  void pass_until(nanoseconds when) {
    if (world_.wait_until) {
      world_.wait_until(when);
    } else {
      clock_.advance_to(when);
    }
  }

  /// Decides whether a CPU stage runs, then writes what it gives.
  bool decided(bound_stage& s, const frame_position& frame, std::uint32_t thread) const {
    if (!runner_->runs(s, frame, launch_clock{clock_, now(), thread})) return false;
    if (world_.cpu_result) world_.cpu_result(s.index, frame, s.outputs);
    return true;
  }

  /// Passes time on the only thread. Without time, does not let other calls of this time run.
  void take(nanoseconds time) {
    if (time > 0) pass_until(now() + time);
  }

  nanoseconds time_to_issue(std::size_t stage, const frame_position& frame) const {
    return world_.issue_time ? world_.issue_time(stage, frame) : 0;
  }

  nanoseconds time_of(const bound_stage& s, const frame_position& frame) const {
    return world_.cpu_time(s.index, frame);
  }

  void keep(const bound_stage& s, const frame_position& frame, nanoseconds begin, nanoseconds end,
            std::uint32_t thread) const {
    if (runner_->into().method() == timing_method::none) return;
    runner_->into().on_cpu(s.index, frame.index, begin, end, thread);
  }

  std::uint32_t thread_of(const turn& own) const {
    for (const auto& w : workers_->all) {
      if (&w.own == &own) return w.thread;
    }
    for (const watcher& w : watchers_) {
      if (&w.own == &own) return w.thread;
    }
    return own.whose == turn::of::timer ? timer_thread_ : thread_number();
  }

  /// Returns the index of a token's stage among those of all slots.
  std::size_t index_of(std::uint64_t token) const {
    return (token >> 32) * pipeline_.planned().stages.size() + (token & 0xffffffffU);
  }

  /// Submits a device stage at the end of its launch.
  void hand_in(bound_stage& s, const frame_position& frame, std::uint64_t token, nanoseconds begin,
               const turn& own) {
    runner_->enqueue(s, frame, launch_clock{clock_, begin, thread_of(own)});
    if (!watches(s.index)) return;
    awaited_.push_back({token, s.complete.get()});
    s.on->call(ends_[index_of(token)]);
  }

  void complete(std::uint64_t token, std::exception_ptr problem) {
    std::erase_if(awaited_, [&](const awaited_stage& each) { return each.token == token; });
    const auto stream = pipeline_.planned().stages[token & 0xffffffffU].stream;
    watcher& w = watchers_[watchers_.size() == 1 ? 0 : stream];
    at(now() + world_.completion_delay, [this, &w, token, problem] {
      w.seen.emplace_back(token, problem);
      if (!w.busy) look(w);
    });
  }

  void look(watcher& w) {
    if (w.busy || w.seen.empty()) return;
    const auto [token, problem] = w.seen.front();
    w.seen.pop_front();
    w.busy = true;
    seen_(w.own, token, problem);
  }

  void take_task(turn& own) {
    auto& tasks = workers_->tasks;
    if (tasks.empty()) {
      workers_->idle.push_back(&own);
      return;
    }
    const auto task = std::move(tasks.front());
    tasks.pop_front();
    task(own);
  }

  prepared_pipeline& pipeline_;
  virtual_world world_;
  virtual_clock& clock_;
  std::optional<stage_runner> runner_;
  const virtual_cpu_stage in_graph_ = [this, thread = new_thread_number("host functions")](
                                          bound_stage& s, const frame_position& frame) {
    if (!decided(s, frame, thread)) return nanoseconds{0};
    const nanoseconds time = time_of(s, frame);
    keep(s, frame, now(), now() + time, thread);
    return time;
  };
  std::shared_ptr<char> phase_;  ///< replaced for each phase
  seen_function seen_;
  workers* workers_ = nullptr;
  std::deque<watcher> watchers_;  ///< one per stream, or one for all
  std::deque<stage_end> ends_;    ///< by slot, then stage
  due_function due_;
  std::deque<turn> timer_turns_;  ///< by slot, then stage; empty without a timer
  std::uint32_t timer_thread_ = 0;
  std::vector<nanoseconds> stream_free_;

  // State of the current phase.
  std::vector<awaited_stage> awaited_;
};

}  // namespace graphline
