#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/frame_progress.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/phase_state.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/ready_queue.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// Executes each stage when `frame_progress` reports it ready. The thread that made a device stage
/// ready issues it. CPU stages are posted to workers.
///
/// Workers take the ready stage that the policy ranks first. Without a policy, that is the oldest:
/// of the oldest frame, in planned order within the frame. Each queued stage has one host task,
/// which takes the first stage when it starts. A worker that made a CPU stage ready takes the first
/// ready stage at once, without a task, unless it also has device stages to issue.
///
/// A stage that the policy holds back leaves its turn; the host puts it in another when its time
/// has come.
///
/// A slot begins the next frame when its frame ends. With a schedule, the driver thread begins
/// frames.
template <class Host>
class ready_executor final : public executor {
 public:
  template <class... World>
  requires(!std::same_as<std::remove_cvref_t<World>, shared_resources<Host>> &&
           ...) explicit ready_executor(prepared_pipeline& pipeline, World&&... world)
      : ready_executor(pipeline, shared_resources<Host>{}, std::forward<World>(world)...) {}

  /// @param share Resources that outlive no running phase of the pipelines that share them.
  template <class... World>
  ready_executor(prepared_pipeline& pipeline, const shared_resources<Host>& share, World&&... world)
      : pipeline_(pipeline),
        number_(share.pipeline),
        shares_(share.cpu != nullptr || share.device != nullptr),
        progress_(pipeline.planned(), pipeline.slots().size()),
        live_(pipeline.slots().size()),
        state_(host_, [this] { cancel_waits(); }),
        host_(pipeline, std::forward<World>(world)...) {
    const plan& p = pipeline.planned();
    for (const auto& stage : pipeline.slots().front().stages) {
      on_cpu_.push_back(stage.cpu == nullptr ? 0 : stage.awaits == nullptr ? 1 : awaits);
      if (stage.awaits != nullptr) awaiting_.resize(p.stages.size() * live_.size());
    }
    if (p.policy.kind != nullptr) ranks_.resize(p.stages.size() * live_.size());
    const bool holds = p.policy.kind != nullptr && p.policy.kind->holds;
    if (holds) held_.resize(p.stages.size() * live_.size());
    const auto window = has_window(p) ? p.run.window : 0;
    auto own = std::make_shared<ready_resources<Host>>(window, p.devices.size());
    cpu_ = share.cpu ? share.cpu : own;
    device_ = share.device ? share.device : own;
    peers_ = share.cpu ? share.cpu.get() : device_.get();
    peers_->executors.resize(std::max<std::size_t>(peers_->executors.size(), number_ + 1));
    peers_->executors[number_] = this;
    cpu_->queue.reserve(p.stages.size() * live_.size());
    for (auto& each : device_->windows) each.reserve(p.stages.size() * live_.size());
    host_.start_workers(
        cpu_->workers, [this](turn& own_turn, std::uint64_t token, std::exception_ptr problem) {
          seen_complete(slot_of(token), stage_of(token), std::move(problem), own_turn);
        });
    if (holds) {
      host_.start_timer([this](turn& own_turn, std::uint64_t token) {
        state_.acquire();
        put(held_[slot_of(token) * on_cpu_.size() + stage_of(token)].ready, own_turn);
        finish(own_turn, *this);
      });
    }
  }

  phase_result run(phase& b) override {
    const scoped_cpu_affinity kept(pipeline_.devices().host_cpus());
    phase_ = &b;
    runner_ = &host_.begin(*b.into);
    causes_ = b.into->keeps_causes();
    state_.begin(b);
    policy_ = b.policy;
    if (!shares_) {  // a failed phase may leave entries
      cpu_->queue.begin();
      peers_->ready_count = 0;
      for (auto& each : device_->windows) each.begin();
    }
    if (causes_ && policy_ != nullptr) {
      cpu_->queue.note_oldest();
      for (auto& each : device_->windows) each.note_oldest();
    }
    for (held_stage& held : held_) held.sum = 0;
    progress_.reset();
    failed_pass_ = INT64_MAX;
    for (auto& slot : live_) slot.busy = false;

    turn first(turn::of::driver);
    progress_meter meter(b);
    if (b.on_schedule()) {
      begin_frames_on_schedule(b, meter, first);
    } else {
      for (std::uint32_t slot = 0; slot < live_.size(); ++slot) {
        begin_next(slot, slot, first);
      }
      drain(first);
    }
    state_.finish_pending();
    phase_result result = state_.wait_for_end(meter);
    if (result.failure) {
      // Device stages that nothing waits for may still be running.
      try {
        pipeline_.devices().synchronize(wait_mode::block);
      } catch (const std::exception&) {
      }
    }
    return result;
  }

 private:
  /// A worker's task: runs the first ready stage, perhaps of another pipeline, and its successors.
  struct run_first {
    ready_executor* executor;
    void operator()(turn& own) const {
      executor->state_.acquire();
      ready_stage oldest;
      const ready_stage first = executor->cpu_->queue.pop(oldest);
      ready_executor& of = executor->keeping_alive(executor->owner_of(first));
      if (of.held_back(first) || of.execute(first, oldest, own, *executor)) {
        executor->finish(own, of);
      }
    }
  };

  static constexpr char awaits = 2;

  struct held_stage {
    ready_stage ready;
    nanoseconds sum = 0;  ///< of the times for which the policy held it back
  };

  struct live_slot {
    std::atomic<bool> busy{false};  ///< holds a scheduled frame
    frame_position frame;
    nanoseconds due = 0;  ///< of the first frame, on the host's clock
  };

  /// Runs until the schedule ends, a stop is requested or a frame fails.
  void begin_frames_on_schedule(phase& b, progress_meter& meter, turn& into) {
    const typename Host::waits waits = host_.make_waits();
    const auto look = [&]() -> std::optional<nanoseconds> {
      meter.frame_done(runner_->into().frames_complete(), host_.now());
      if (!state_.may_begin_frame()) return std::nullopt;
      return stop_poll_interval;
    };
    const auto depth = static_cast<std::int64_t>(live_.size());
    frame_position next;
    next.number = b.first_number;
    for (;; ++next.index) {
      const auto slot = static_cast<std::uint32_t>(next.index % depth);
      live_slot& live = live_[slot];
      while (live.busy.load(std::memory_order_acquire)) {
        if (!look()) return;
        if (runner_->how() == wait_mode::block) {
          state_.wait_for_change(stop_poll_interval, [&] { return !live.busy; });
        } else {
          waits.pause(0);
        }
      }
      begun_frames begun;
      try {
        begun = b.await_next(waits, look);
      } catch (...) {  // the queue ran out of memory
        state_.fail(pipeline_.planned(), std::nullopt, next.number);
      }
      next.count = std::ssize(begun.due);
      if (next.count == 0) return;
      live.busy.store(true, std::memory_order_relaxed);
      begin(slot, next, begun, into);
      drain(into);
      next.first += next.count;
      next.number += next.count;
    }
  }

  /// Begins a pass without a schedule, if frames are left.
  void begin_next(std::uint32_t slot, std::int64_t pass, turn& into) {
    const frame_position next = phase_->position_of(pass);
    if (next.count == 0 || !state_.may_begin_frame()) return;
    begin(slot, next, {}, into);
  }

  void begin(std::uint32_t slot, const frame_position& frame, const begun_frames& begun,
             turn& into) {
    live_[slot].frame = frame;
    const nanoseconds at = host_.now();
    live_[slot].due = begun.due.empty() ? at : begun.due.front();
    live_[slot].frame.cut_at = phase_->cut_at(begun, at);
    try {
      runner_->into().make_room(frame.last());
    } catch (...) {
      state_.fail(pipeline_.planned(), std::nullopt, frame.number);
      return;
    }
    const profiler_range range(runner_->ranges(), "frame");
    runner_->into().pass_begun(frame.index, frame.first, frame.count, begun, at);
    progress_.begun(slot, collecting(frame.index, slot, into));
  }

  /// Returns a callback that collects ready stages of this frame and of the next, in another slot.
  auto collecting(std::int64_t frame, std::uint32_t slot, turn& into) {
    return [this, frame, slot, &into](std::uint32_t in_slot, std::uint32_t stage, ready_cause by) {
      const ready_stage ready{in_slot == slot ? frame : frame + 1, stage, number_,
                              static_cast<std::uint16_t>(in_slot)};
      if (causes_) runner_->into().caused(stage, ready.frame, recorded(by));
      if (policy_ == nullptr || ranked(ready)) put(ready, into);
    };
  }

  /// Asks the policy for the stage's rank. Returns false if the policy failed.
  bool ranked(const ready_stage& ready) {
    const live_slot& live = live_[ready.slot];
    try {
      ranks_[index_of(ready)] =
          policy_->rank(ready.stage, live.frame.number, live.due,
                        peers_->ready_count.fetch_add(1, std::memory_order_relaxed));
      return true;
    } catch (...) {
      state_.fail(pipeline_.planned(), ready.stage, live.frame.number);
      return false;
    }
  }

  static std::int32_t recorded(const ready_cause& by) noexcept {
    switch (by.what) {
      case ready_cause::kind::frame_begun:
        return cause::frame_begun;
      case ready_cause::kind::previous_frame:
        return cause::previous_frame;
      default:
        return static_cast<std::int32_t>(by.stage);
    }
  }

  // Inlined, like `take`: they run for each stage, and the compiler judges them too long.
  [[gnu::always_inline]] void put(const ready_stage& r, turn& into) {
    const bool on_cpu = on_cpu_[r.stage] != 0;
    if (on_cpu_[r.stage] == awaits && !is_ready(r)) return;
    // A stage may wait where other pipelines' turns find it, so it keeps the phase alive itself.
    if (shares_) state_.add_pending();
    if (device_window* const window = window_of(r.stage)) {
      window->push(ordered(r));
    } else if (!on_cpu && into.device_count < turn::room) {
      into.device_stages[into.device_count++] = r;
    } else if (on_cpu && into.whose == turn::of::worker && !into.cpu_stage) {
      into.cpu_stage = r;
    } else {
      post(r, into);
    }
  }

  /// Ends the waits for other ranks, which may wait for the stage that failed.
  void cancel_waits() noexcept {
    if (awaiting_.empty()) return;
    for (const bound_stage& stage : pipeline_.slots().front().stages) {
      if (stage.awaits != nullptr) stage.awaits->cancel();
    }
  }

  /// Returns true if a stage that waits for another rank can run. Otherwise, that rank's data put
  /// it into a turn later.
  [[gnu::noinline]] bool is_ready(const ready_stage& r) {
    awaiting_[index_of(r)] = r;
    state_.add_pending();  // before the data arrive
    const auto arrived = [this, at = index_of(r)] {
      turn own(turn::of::timer);
      state_.acquire();
      const ready_stage& stage = awaiting_[at];
      if (causes_) runner_->into().caused(stage.stage, stage.frame, cause::other_rank);
      put(stage, own);
      finish(own, *this);
    };
    if (!pipeline_.slots()[r.slot].stages[r.stage].awaits->is_ready(arrived)) return false;
    state_.finish_pending();
    return true;
  }

  /// Queues a CPU stage for any worker.
  void post(const ready_stage& r, turn& from) {
    state_.add_pending();
    try {
      cpu_->queue.push(ordered(r));
      host_.post(run_first{this}, from);
    } catch (...) {
      state_.fail(pipeline_.planned(), r.stage, live_[r.slot].frame.number);
      state_.finish_pending();
      release();
    }
  }

  /// Queues the CPU stage that a turn kept: it must not wait until the turn has issued device
  /// stages.
  void post_kept(turn& own) {
    if (!own.cpu_stage) return;
    const ready_stage ready = *own.cpu_stage;
    own.cpu_stage.reset();
    owner_of(ready).post(ready, own);
  }

  ready_executor& owner_of(const ready_stage& ready) {
    return ready.pipeline == number_ ? *this : *peers_->executors[ready.pipeline];
  }

  ordered_stage ordered(const ready_stage& ready) const {
    return {policy_ != nullptr ? ranks_[index_of(ready)] : policy_rank{}, live_[ready.slot].due,
            ready};
  }

  std::size_t index_of(const ready_stage& ready) const noexcept {
    return ready.slot * on_cpu_.size() + ready.stage;
  }

  /// Returns the window that the stage counts in; null if there is none.
  device_window* window_of(std::uint32_t stage) const {
    if (device_->windows.empty()) return nullptr;
    const planned_stage& of = pipeline_.planned().stages[stage];
    return in_window(of) ? &device_->windows[of.device] : nullptr;
  }

  void leave_window(std::uint32_t stage) const {
    if (device_window* const window = window_of(stage)) window->completed();
  }

  /// A stage has been executed, has failed or is held back.
  void release() {
    if (shares_) state_.finish_pending();
  }

  /// Lets a turn keep the phase of `next` alive instead of this one, which can then end although
  /// other pipelines keep the worker busy.
  /// @pre A stage of `next` is ready.
  ready_executor& keeping_alive(ready_executor& next) {
    if (&next != this) {
      next.state_.add_pending();
      state_.finish_pending();
    }
    return next;
  }

  /// Executes the stages in a worker's or watcher's turn, then ends the turn.
  /// @param kept Pipeline whose phase the turn keeps alive.
  void finish(turn& own, ready_executor& kept) {
    ready_executor* alive = &kept;
    ready_stage oldest;
    for (ready_stage next; take(own, *alive, next, oldest);) {
      alive = &alive->keeping_alive(owner_of(next));
      if (!alive->execute(next, oldest, own, *this)) return;
    }
    host_.over(own);
    alive->state_.finish_pending();
  }

  /// Executes the stages in the driver's turn.
  void drain(turn& own) {
    ready_stage oldest;
    for (ready_stage next; take(own, *this, next, oldest);) {
      owner_of(next).execute(next, oldest, own, *this);
    }
  }

  /// Takes the next stage of a turn or of a window that is not held back; returns false if there is
  /// none.
  /// @param latest Pipeline that has the windows: of the stage that the turn executed last.
  [[gnu::always_inline]] bool take(turn& own, const ready_executor& latest, ready_stage& next,
                                   ready_stage& oldest) {
    auto& windows = latest.device_->windows;
    const auto takes = [&](device_window& window) { return window.take(next, oldest); };
    do {
      if (own.device_count > 0) {
        next = first_device_stage(own, oldest);
      } else if (std::ranges::any_of(windows, takes)) {
        post_kept(own);
      } else if (own.cpu_stage) {
        const ready_stage ready = *own.cpu_stage;
        own.cpu_stage.reset();
        next = cpu_->queue.exchange(
            ready, [&] { return owner_of(ready).ordered(ready); }, oldest);
      } else {
        return false;
      }
    } while (owner_of(next).held_back(next));
    return true;
  }

  // Kept out of line so that its callers are inlined.
  [[gnu::noinline]] ready_stage first_device_stage(turn& own, ready_stage& oldest) {
    post_kept(own);
    const auto all = std::span(own.device_stages).first(own.device_count);
    const auto placed = [this](const ready_stage& ready) { return owner_of(ready).ordered(ready); };
    oldest = *std::ranges::min_element(all, is_older, placed);
    std::swap(*std::ranges::min_element(all, {}, placed), all.back());
    return own.device_stages[--own.device_count];
  }

  /// Returns true if the policy holds the stage back, or failed; the host then has the stage.
  bool held_back(const ready_stage& ready) {
    return !held_.empty() && policy_ != nullptr && hold(ready);
  }

  bool hold(const ready_stage& ready) {
    const live_slot& live = live_[ready.slot];
    held_stage& held = held_[index_of(ready)];
    held.ready = ready;
    const nanoseconds now = host_.now();
    try {
      const nanoseconds until =
          std::min(live.frame.cut_at,
                   policy_->hold_until(ready.stage, live.frame.number, live.due, now, held.sum));
      if (until <= now) {
        held.sum = 0;
        return false;
      }
      runner_->into().preferred(ready.stage, ready.frame, choice::held_back);
      state_.add_pending();
      host_.post_at(until, token_of(ready));  // does not throw
    } catch (...) {
      state_.fail(pipeline_.planned(), ready.stage, live.frame.number);
    }
    leave_window(ready.stage);
    release();
    return true;
  }

  // A token names a stage of a slot to the host.
  static std::uint64_t token_of(const ready_stage& ready) noexcept {
    return (std::uint64_t{ready.slot} << 32) | ready.stage;
  }
  static std::uint32_t slot_of(std::uint64_t token) noexcept {
    return static_cast<std::uint32_t>(token >> 32);
  }
  static std::uint32_t stage_of(std::uint64_t token) noexcept {
    return static_cast<std::uint32_t>(token);
  }

  /// Records that the policy preferred a stage to the oldest.
  void note_choice(const ready_stage& first, const ready_stage& oldest) {
    if (!causes_ || oldest == first) return;
    const bool own = oldest.pipeline == number_;
    runner_->into().preferred(
        first.stage, first.frame,
        own ? static_cast<std::int32_t>(oldest.stage) + 1 : choice::other_pipeline);
  }

  /// Executes a stage that was chosen although `oldest` was ready.
  bool execute(const ready_stage& first, const ready_stage& oldest, turn& own,
               ready_executor& whose) {
    if (policy_ != nullptr) note_choice(first, oldest);
    return execute(first, own, whose);
  }

  /// Executes a stage in a turn that belongs to `whose`. Returns false if it is not done yet; the
  /// host then continues the turn later.
  bool execute(const ready_stage& ready, turn& own, ready_executor& whose) {
    bound_stage& stage = pipeline_.slots()[ready.slot].stages[ready.stage];
    const frame_position frame = live_[ready.slot].frame;
    const bool watched = stage.cpu == nullptr && host_.watches(ready.stage);
    const auto go_on = [this, ready, &own, &whose, watched](std::exception_ptr problem) {
      if (problem) {
        fail(ready, watched, problem);
      } else {
        done(ready, own);
      }
      whose.finish(own, *this);
    };
    try {
      if (stage.cpu != nullptr) {
        if (!host_.run(stage, frame, own, go_on)) return false;
      } else {
        if (watched) state_.add_pending();
        if (!host_.issue(stage, frame, token_of(ready), own, go_on)) return false;
      }
    } catch (...) {
      fail(ready, watched, std::current_exception());
      return true;
    }
    done(ready, own);
    return true;
  }

  void fail(const ready_stage& at, bool watched, const std::exception_ptr& problem) {
    fail(at.stage, live_[at.slot].frame, problem);
    leave_window(at.stage);
    if (watched) state_.finish_pending();
    release();
  }

  void fail(std::uint32_t stage, frame_position frame, const std::exception_ptr& problem) {
    try {
      std::rethrow_exception(problem);
    } catch (...) {
      state_.fail(pipeline_.planned(), stage, frame.number);
    }
  }

  /// The host ran a CPU stage or issued a device stage.
  void done(const ready_stage& ready, turn& own) {
    const bool ended =
        progress_.returned(ready.slot, ready.stage, collecting(ready.frame, ready.slot, own));
    if (ended) end_frame(ready.slot, ready.stage, own);
    release();
  }

  /// @param by Stage that returned or completed last.
  void end_frame(std::uint32_t slot, std::uint32_t by, turn& into) {
    live_slot& live = live_[slot];
    const frame_position frame = live.frame;
    runner_->into().pass_ended(frame.first, frame.count, host_.now());
    if (causes_) runner_->into().ended_by(frame.index, by);
    try {
      runner_->check_values(pipeline_.slots()[slot], frame);
      runner_->read_stamps(pipeline_.slots()[slot], frame);
      if (phase_->on_pass_end) phase_->on_pass_end(slot, frame);
    } catch (...) {
      failed_pass_ = frame.index;
      state_.fail(pipeline_.planned(), std::nullopt, frame.number);
      return;
    }
    if (frame.index > failed_pass_) return;  // the record holds the passes before it
    runner_->into().pass_complete(frame.count);
    if (phase_->on_schedule()) {
      free_slot(live);
      return;
    }
    const auto depth = static_cast<std::int64_t>(live_.size());
    begin_next(slot, frame.index + depth, into);
  }

  /// Makes the slot available to the next scheduled frame.
  void free_slot(live_slot& slot) {
    if (runner_->how() != wait_mode::block) {
      slot.busy.store(false, std::memory_order_release);
      return;
    }
    state_.change([&] { slot.busy.store(false, std::memory_order_release); });
  }

  void seen_complete(std::uint32_t slot, std::uint32_t stage, std::exception_ptr problem,
                     turn& own) {
    const frame_position frame = live_[slot].frame;
    leave_window(stage);
    if (problem) {
      fail(stage, frame, problem);
      return finish(own, *this);
    }
    if (causes_) runner_->into().seen(stage, frame.index, host_.now());
    if (progress_.completed(slot, stage, collecting(frame.index, slot, own))) {
      end_frame(slot, stage, own);
    }
    finish(own, *this);
  }

  prepared_pipeline& pipeline_;
  std::uint16_t number_;  ///< among the pipelines that share resources
  bool shares_;
  std::vector<char> on_cpu_;  ///< by stage: 0 on a device, 1 on the CPU, or `awaits`
  frame_progress progress_;
  std::vector<live_slot> live_;
  std::vector<policy_rank> ranks_;     ///< by slot, then stage; empty without a policy
  std::vector<held_stage> held_;       ///< by slot, then stage; empty if the policy never holds
  std::vector<ready_stage> awaiting_;  ///< by slot, then stage; empty without a stage that awaits

  // State of the current phase.
  const phase* phase_ = nullptr;
  const stage_runner* runner_ = nullptr;
  const pipeline_policy* policy_ = nullptr;            ///< null: the oldest stage first
  bool causes_ = false;                                ///< whether causes are recorded
  std::atomic<std::int64_t> failed_pass_ = INT64_MAX;  ///< a pass that failed when it had ended
  phase_state<Host> state_;

  // Last members, because their threads use the others.
  Host host_;
  std::shared_ptr<ready_resources<Host>> cpu_;     ///< queue and workers
  std::shared_ptr<ready_resources<Host>> device_;  ///< windows
  ready_resources<Host>* peers_;                   ///< `cpu_` or `device_`: has all executors
};

}  // namespace graphline
