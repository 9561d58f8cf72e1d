#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/execute/completion_watcher.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// How far a batch of `overlap` is, as its threads tell each other: the frames that are complete,
/// what ends the batch early, and how much is in hand. Nothing in hand is the end.
class batch_state {
 public:
  /// Begins anew, with one thing in hand, which the caller lets go of when it begins no more
  /// frames. Only while nobody else looks.
  void begin(const stop_request* stop) {
    stop_ = stop;
    completed_ = 0;
    stopping_ = false;
    interrupted_ = false;
    failure_.reset();
    ended_ = false;
    in_hand_ = 1;
  }

  /// One more thing in hand. Whatever was done before it is seen after `taken_over`: oneTBB orders
  /// the two anyhow, but the thread sanitizer, for which it is not built, cannot know.
  void one_more() noexcept { in_hand_.fetch_add(1, std::memory_order_release); }
  void taken_over() const noexcept { static_cast<void>(in_hand_.load(std::memory_order_acquire)); }
  void one_less() noexcept;

  void frame_completed() noexcept { completed_.fetch_add(1, std::memory_order_relaxed); }
  std::int64_t completed() const noexcept { return completed_.load(std::memory_order_relaxed); }

  /// From within a catch block. No frame begins after this; those under way go on as far as they
  /// can. The first failure is the one told.
  void fail(const plan& p, std::optional<std::size_t> stage, std::int64_t frame) noexcept;
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

  /// False after a failure, and once a stop is requested, which ends the batch too.
  bool may_begin_frame() noexcept;

  /// Changes what a thread in `wait_for_change` may wait for.
  template <class Function>
  void change(Function&& f) {
    const std::lock_guard lock(lock_);
    f();
    changed_.notify_all();
  }

  /// Until `reached`, a failure or some time has passed.
  template <class Condition>
  void wait_for_change(nanoseconds at_most, Condition&& reached) {
    std::unique_lock lock(lock_);
    changed_.wait_for(lock, std::chrono::nanoseconds(at_most),
                      [&] { return reached() || stopping_; });
  }

  /// Waits until nothing is in hand; tells the meter meanwhile.
  batch_result wait_for_end(progress_meter& meter);

 private:
  const stop_request* stop_ = nullptr;
  std::atomic<std::int64_t> completed_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> interrupted_{false};
  std::atomic<std::int64_t> in_hand_{0};
  std::mutex lock_;
  std::condition_variable changed_;
  bool ended_ = false;                  ///< under `lock_`
  std::optional<std::string> failure_;  ///< under `lock_`
};

/// What `overlap` knows of a stage before any frame.
struct task_rule {
  bool on_cpu = false;
  bool awaited = false;                      ///< its completion goes through the watcher
  bool ends_frame = false;                   ///< nothing follows it
  std::uint32_t missing = 0;                 ///< what a frame of it waits for
  std::size_t stream = 0;                    ///< of a device stage
  std::size_t queue = 0;                     ///< of the watcher, for an awaited stage
  std::vector<std::uint32_t> at_return;      ///< followers freed when the host is done with it
  std::vector<std::uint32_t> at_completion;  ///< followers freed when it is complete
};

/// The same of all stages of a plan, in its order.
struct task_rules {
  std::vector<task_rule> stages;
  std::vector<std::uint32_t> sources;  ///< wait for the frame to begin only
  std::uint32_t ends = 0;              ///< stages that nothing follows
  std::size_t awaited_streams = 0;     ///< with a stage whose completion the host must see
};

/// `slots`: frames in flight; with several a stage also waits for itself in the frame before.
task_rules make_task_rules(const plan& p, std::size_t slots);

class task_pool;

/// The `overlap` strategy: every stage starts when what it waits for allows. A stage holds a count
/// of what is missing; whoever brings the last piece carries it on: a device stage is enqueued
/// there and then, one CPU stage goes on in the same thread, further ones go to oneTBB. Device
/// stages are followed at enqueue time by device stages and at completion, seen by the watcher, by
/// CPU stages.
///
/// No stage overlaps itself: with several frames in flight, frame n + 1 of a stage also waits for
/// frame n of it. So frames complete in order, and each slot begins its next frame itself; where
/// frames are due on a schedule, the thread that runs the batch begins them.
class task_graph final : public executor {
 public:
  explicit task_graph(prepared_pipeline& pipeline);
  ~task_graph() override;

  batch_result run(const batch& b) override;

 private:
  /// A stage of a slot, ready to be carried out.
  struct item {
    std::uint32_t slot = 0;
    std::uint32_t stage = 0;
  };

  /// What a thread of the pool is given to do.
  struct hand_over {
    task_graph* graph;
    item next;
    void operator()() const;
  };

  /// A slot while frames run.
  struct live_slot {
    std::unique_ptr<std::atomic<std::uint32_t>[]> missing;  ///< per stage
    std::atomic<std::uint32_t> ends_left{0};
    std::atomic<bool> busy{false};  ///< with a frame of a schedule
    frame_position frame;
  };

  /// Ready stages that the current thread will carry out itself.
  struct pile {
    static constexpr std::size_t room = 32;
    bool in_pool = false;  ///< the thread is one of oneTBB's, so CPU stages may run in it
    std::array<item, room> device_stages{};
    std::size_t device_count = 0;
    std::optional<item> cpu_stage;
  };

  void begin_frames_on_schedule(const batch& b, progress_meter& meter, pile& into);
  void begin_next_frame(std::uint32_t slot, frame_position frame, pile& into);
  void begin_frame(std::uint32_t slot, frame_position frame, std::optional<nanoseconds> due,
                   pile& into);
  void release(item i, pile& into);
  void put(item i, pile& into);
  void work_off(pile& p);
  void carry_out(item i, pile& into);
  void end_of_branch(std::uint32_t slot, pile& into);
  void free_slot(live_slot& slot);
  void seen_complete(item i, std::exception_ptr problem);

  prepared_pipeline& pipeline_;
  task_rules rules_;
  std::vector<live_slot> live_;
  std::vector<std::unique_ptr<std::mutex>> stream_locks_;

  // Of the batch under way.
  const batch* batch_ = nullptr;
  std::optional<stage_runner> runner_;
  batch_state state_;

  std::unique_ptr<task_pool> pool_;
  std::unique_ptr<completion_watcher> watcher_;  ///< last: its threads call into the rest
};

}  // namespace graphline
