#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/run/execute/completion_watcher.hpp"
#include "framework/run/execute/frame_graph.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/ready_queue.hpp"
#include "framework/run/execute/stage_runner.hpp"
#include "framework/run/execute/task_pool.hpp"
#include "framework/run/execute/task_timer.hpp"

namespace graphline {

/// Host port for this machine: reads the system clock, watches device completions, and runs CPU
/// stages on a `task_pool` if the schedule leaves them to workers.
///
/// A host port is an executor's interface to the host: it reads the time, waits, runs CPU stages,
/// issues device stages, posts tasks to workers and reports completions. `run` and `issue` return
/// true if the stage is done, which is always the case in `real_host`. Otherwise the host later
/// calls `go_on` with null or with the exception thrown.
class real_host {
 public:
  using waits = due_wait;

  /// Threads that run CPU stages; made by the first host that starts workers.
  struct workers {
    std::unique_ptr<task_pool> pool;

    /// @param plans Pipelines whose CPU stages they run.
    void start(const device_group& on, std::span<const plan* const> plans);
  };

  explicit real_host(prepared_pipeline& pipeline) : pipeline_(pipeline) {}

  static nanoseconds now() noexcept { return graphline::now(); }

  const stage_runner& begin(recording& into) {
    return runner_.emplace(pipeline_.devices(), pipeline_.planned().run.wait, into);
  }

  waits make_waits() const { return waits(pipeline_.planned().run.wait); }

  // For executors with one driver thread.
  void run(bound_stage& s, const frame_position& frame) const { runner_->run_on_cpu(s, frame); }
  void issue(bound_stage& s, const frame_position& frame) const { runner_->enqueue(s, frame); }

  void launch(frame_graph& graph, const frame_position& frame, std::atomic<bool>& abandoned) const {
    graph.current() = {.runner = &*runner_, .frame = frame, .abandoned = &abandoned};
    graph.launch(runner_->into().method());
  }

  void await(const event& e) const { e.wait(runner_->how()); }

  // For executors with workers.

  /// Runs `f` under the lock and notifies waiters.
  template <class Function>
  void change(const Function& f) {
    const std::lock_guard lock(lock_);
    f();
    changed_.notify_all();
  }

  /// Waits until `reached()` returns true; returns false if the time is up before.
  template <class Condition>
  bool wait_for(nanoseconds at_most, const Condition& reached) {
    std::unique_lock lock(lock_);
    return changed_.wait_for(lock, std::chrono::nanoseconds(at_most), reached);
  }

  /// Called on a watcher thread when the token's stage is complete or the wait for it threw.
  using seen_function = std::function<void(turn& own, std::uint64_t token, std::exception_ptr)>;

  /// Starts this host's watchers, and the workers unless another host has.
  /// @param of Outlives this host's tasks.
  void start_workers(workers& of, seen_function seen);

  /// Returns true if `seen` is called when the stage completes.
  bool watches(std::size_t stage) const { return places_[stage].queue.has_value(); }

  template <class GoOn>
  bool run(bound_stage& s, const frame_position& frame, turn& /*own*/,
           const GoOn& /*go_on*/) const {
    run(s, frame);
    return true;
  }

  template <class GoOn>
  bool issue(bound_stage& s, const frame_position& frame, std::uint64_t token, turn& /*own*/,
             const GoOn& /*go_on*/) const {
    const stage_place& place = places_[s.index];
    std::unique_lock<std::mutex> alone;
    if (runner_->into().apart()) {
      alone = std::unique_lock(issuing_);
      pipeline_.devices().synchronize(runner_->how());
    }
    const std::lock_guard lock(*stream_locks_[place.stream]);
    issue(s, frame);
    if (place.queue) watcher_->expect(*place.queue, *s.complete, token);
    return true;
  }

  /// Calls `task` on a worker, with that worker's turn.
  /// @param own The calling thread's turn.
  template <class Task>
  void post(const Task& task, const turn& own) {
    const auto work = [task] {
      turn of_worker(turn::of::worker);
      task(of_worker);
    };
    if (own.whose == turn::of::worker) {
      pool_->spawn(work);
    } else {
      pool_->enqueue(work);
    }
  }

  /// Called on a thread of its own when the time of a `post_at` has come.
  using due_function = std::function<void(turn& own, std::uint64_t token)>;

  void start_timer(const due_function& due) {
    timer_ = std::make_unique<task_timer>(
        places_.size() * pipeline_.slots().size(),
        [due](std::uint64_t token) {
          turn own(turn::of::timer);
          due(own, token);
        },
        pipeline_.planned().run.realtime);
  }

  void post_at(nanoseconds when, std::uint64_t token) { timer_->at(when, token); }

  /// Ends the turn of a worker or watcher.
  void over(turn& /*own*/) const noexcept {}

 private:
  struct stage_place {
    std::size_t stream = 0;
    std::optional<std::size_t> queue;  ///< watcher queue; empty if the host does not wait
  };

  /// Held by the thread that issues a stage on an idle device; of all pipelines.
  static inline std::mutex issuing_;

  prepared_pipeline& pipeline_;
  std::optional<stage_runner> runner_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<stage_place> places_;  ///< by stage
  std::vector<std::unique_ptr<std::mutex>> stream_locks_;
  task_pool* pool_ = nullptr;
  // Last, because their threads use the other members.
  std::unique_ptr<completion_watcher> watcher_;
  std::unique_ptr<task_timer> timer_;
};

}  // namespace graphline
