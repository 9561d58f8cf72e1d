#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/execute/batch_state.hpp"
#include "framework/run/execute/completion_watcher.hpp"
#include "framework/run/execute/environment.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/frame_progress.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/ready_queue.hpp"
#include "framework/run/execute/stage_runner.hpp"
#include "framework/run/execute/task_pool.hpp"

namespace graphline {
namespace {

/// Carries out each stage as soon as `frame_progress` says that it is ready. The thread whose event
/// made it ready issues a device stage there and then, and gives a CPU stage to the workers; the
/// watcher sees device stages complete.
///
/// A worker that is free takes the least of the ready stages, so that no newer frame overtakes an
/// older one that is ready. Each stage in the queue has a task of oneTBB, which takes whichever is
/// the least then; a worker with a ready stage of its own goes on without one. Stages become ready
/// in ascending order, so that none is taken before a lesser one of the same moment is in the
/// queue.
///
/// Each slot begins its next frame itself; where frames are due on a schedule, the thread that runs
/// the batch begins them.
class task_graph final : public executor {
 public:
  explicit task_graph(prepared_pipeline& pipeline);

  batch_result run(const batch& b) override;

 private:
  /// What a thread of the pool is given to do: the least ready stage, and what follows.
  struct take_least {
    task_graph* graph;
    void operator()() const;
  };

  /// A slot while frames run.
  struct live_slot {
    std::atomic<bool> busy{false};  ///< with a frame of a schedule
    frame_position frame;
  };

  /// Ready stages that the current thread will carry out itself.
  struct pile {
    static constexpr std::size_t room = 32;
    bool in_pool = false;  ///< the thread is one of oneTBB's, so CPU stages may run in it
    std::array<ready_stage, room> device_stages;  ///< the first `device_count`
    std::size_t device_count = 0;
    std::optional<ready_stage> cpu_stage;
  };

  void begin_frames_on_schedule(const batch& b, progress_meter& meter, pile& into);
  void begin_next_frame(std::uint32_t slot, frame_position frame, pile& into);
  void begin_frame(std::uint32_t slot, frame_position frame, std::optional<nanoseconds> due,
                   pile& into);
  /// For `frame_progress`: puts the ready stages of a frame, and of the next one in its own slot.
  auto putting(std::int64_t frame, std::uint32_t slot, pile& into) {
    return [this, frame, slot, &into](std::uint32_t in_slot, std::uint32_t stage, ready_cause) {
      put({in_slot == slot ? frame : frame + 1, stage, in_slot}, into);
    };
  }
  void put(const ready_stage& r, pile& into);
  void work_off(pile& p);
  void carry_out(const ready_stage& ready, pile& into);
  void end_frame(std::uint32_t slot, pile& into);
  void free_slot(live_slot& slot);
  void seen_complete(std::uint32_t slot, std::uint32_t stage, std::exception_ptr problem);

  /// What the executor knows of a stage.
  struct stage_place {
    bool on_cpu = false;
    std::size_t stream = 0;            ///< of a device stage
    std::optional<std::size_t> queue;  ///< of the watcher, where its completion is awaited
  };

  prepared_pipeline& pipeline_;
  std::vector<stage_place> stages_;
  frame_progress progress_;
  std::vector<live_slot> live_;
  std::vector<std::unique_ptr<std::mutex>> stream_locks_;
  ready_queue queue_;

  // Of the batch under way.
  const batch* batch_ = nullptr;
  std::optional<stage_runner> runner_;
  batch_state state_;

  std::unique_ptr<task_pool> pool_;
  std::unique_ptr<completion_watcher> watcher_;  ///< last: its threads call into the rest
};

/// As many threads as `workers` says may have a part; as many as can have a stage at once are the
/// pool's own, since no stage overlaps itself: each further one would wake up at every hand-over
/// for nothing.
std::unique_ptr<task_pool> make_pool(const device& d, const plan& p) {
  const auto cpu_stages = static_cast<int>(
      std::ranges::count(p.stages, side::cpu, [](const auto& stage) { return stage.on; }));
  const bool device_stages = cpu_stages < static_cast<int>(p.stages.size());
  const int workers = cores_for_cpu_stages(p, d.properties());
  const int threads = std::clamp(cpu_stages, 1, workers);
  // oneTBB has no workers of its own beyond the cores, and says so when asked for more.
  const int places = std::max(threads, std::min(workers, usable_cores()));
  return std::make_unique<task_pool>(threads, places,
                                     device_stages ? d.properties().cpus_of_host : cpu_set());
}

task_graph::task_graph(prepared_pipeline& pipeline)
    : pipeline_(pipeline),
      progress_(pipeline.planned(), pipeline.slots().size()),
      live_(pipeline.slots().size()),
      queue_(pipeline.planned().stages.size() * live_.size()) {
  const auto& p = pipeline_.planned();
  std::map<std::size_t, std::size_t> queues;  // of the watcher, by stream
  for (const auto& stage : p.stages) {
    stage_place& place = stages_.emplace_back();
    place.on_cpu = stage.on == side::cpu;
    place.stream = stage.stream;
    if (place.on_cpu || !stage.host_waits) continue;
    place.queue = queues.try_emplace(stage.stream, queues.size()).first->second;
  }
  for (std::size_t i = 0; i < pipeline_.stream_count(); ++i) {
    stream_locks_.push_back(std::make_unique<std::mutex>());
  }
  pool_ = make_pool(pipeline_.device(), p);
  if (queues.empty()) return;
  watcher_ = std::make_unique<completion_watcher>(
      queues.size(), stages_.size() * live_.size(), p.run.wait,
      [this](std::uint64_t token, std::exception_ptr problem) {
        seen_complete(static_cast<std::uint32_t>(token >> 32),
                      static_cast<std::uint32_t>(token & 0xffffffffU), std::move(problem));
      });
}

batch_result task_graph::run(const batch& b) {
  const kept_to_cpus kept(pipeline_.device().properties().cpus_of_host);
  batch_ = &b;
  runner_.emplace(pipeline_.device(), pipeline_.planned().run.wait, *b.into);
  state_.begin(b);
  queue_.clear();  // a batch that failed may have left some
  progress_.reset();
  for (auto& slot : live_) slot.busy = false;

  pile first;
  progress_meter meter(b);
  if (b.on_schedule()) {
    begin_frames_on_schedule(b, meter, first);
  } else {
    const auto slots = std::min(static_cast<std::int64_t>(live_.size()), b.frames);
    for (std::int64_t i = 0; i < slots; ++i) {
      begin_next_frame(static_cast<std::uint32_t>(i), {i, b.first_number + i}, first);
      work_off(first);
    }
  }
  state_.one_less();
  batch_result result = state_.wait_for_end(meter);
  if (result.failure) {
    // Device stages that nobody awaits may still run.
    try {
      pipeline_.device().synchronize(wait_mode::block);
    } catch (const std::exception&) {
    }
  }
  return result;
}

/// Until none is left, a stop is asked for or a frame has failed.
void task_graph::begin_frames_on_schedule(const batch& b, progress_meter& meter, pile& into) {
  const due_wait wait(runner_->how());
  const auto look = [&]() -> std::optional<nanoseconds> {
    meter.frame_done(runner_->into().complete(), now());
    if (!state_.may_begin_frame()) return std::nullopt;
    return glance_at_stop;
  };
  const auto depth = static_cast<std::int64_t>(live_.size());
  for (std::int64_t i = 0;; ++i) {
    const auto slot = static_cast<std::uint32_t>(i % depth);
    live_slot& live = live_[slot];
    while (live.busy.load(std::memory_order_acquire)) {
      if (!look()) return;
      if (runner_->how() == wait_mode::block) {
        state_.wait_for_change(glance_at_stop, [&] { return !live.busy; });
      } else {
        wait.pause(0);
      }
    }
    std::optional<nanoseconds> due;
    try {
      due = b.await_next(wait, look);
    } catch (...) {  // no memory for those that wait
      state_.fail(pipeline_.planned(), std::nullopt, b.first_number + i);
    }
    if (!due) return;
    live.busy.store(true, std::memory_order_relaxed);
    begin_frame(slot, {i, b.first_number + i}, due, into);
    work_off(into);
  }
}

void task_graph::begin_next_frame(std::uint32_t slot, frame_position frame, pile& into) {
  if (frame.index >= batch_->frames || !state_.may_begin_frame()) return;
  begin_frame(slot, frame, std::nullopt, into);
}

void task_graph::begin_frame(std::uint32_t slot, frame_position frame,
                             std::optional<nanoseconds> due, pile& into) {
  live_slot& live = live_[slot];
  live.frame = frame;
  try {
    runner_->into().make_room(frame.index);
  } catch (...) {
    state_.fail(pipeline_.planned(), std::nullopt, frame.number);
    return;
  }
  const shown_range shown(pipeline_.device(), "frame");
  runner_->into().frame_begun(frame.index, due, now());
  progress_.begun(slot, putting(frame.index, slot, into));
}

void task_graph::put(const ready_stage& r, pile& into) {
  const bool on_cpu = stages_[r.stage].on_cpu;
  if (!on_cpu && into.device_count < pile::room) {
    into.device_stages[into.device_count++] = r;
  } else if (on_cpu && into.in_pool && !into.cpu_stage) {
    into.cpu_stage = r;
  } else {
    state_.one_more();
    try {
      queue_.push(r);
      if (into.in_pool) {
        pool_->spawn(take_least{this});
      } else {
        pool_->enqueue(take_least{this});
      }
    } catch (...) {
      state_.fail(pipeline_.planned(), r.stage, live_[r.slot].frame.number);
      state_.one_less();
    }
  }
}

void task_graph::take_least::operator()() const {
  graph->state_.taken_over();
  pile own;
  own.in_pool = true;
  graph->carry_out(graph->queue_.pop(), own);
  graph->work_off(own);
  graph->state_.one_less();
}

/// Device stages first: the device should have its work before this thread is busy with its own.
void task_graph::work_off(pile& p) {
  while (true) {
    if (p.device_count > 0) {
      const auto all = std::span(p.device_stages).first(p.device_count);
      std::swap(*std::ranges::min_element(all), all.back());
      const ready_stage next = p.device_stages[--p.device_count];
      carry_out(next, p);
    } else if (p.cpu_stage) {
      const ready_stage next = queue_.exchange(*p.cpu_stage);
      p.cpu_stage.reset();
      carry_out(next, p);
    } else {
      return;
    }
  }
}

void task_graph::carry_out(const ready_stage& ready, pile& into) {
  const stage_place& place = stages_[ready.stage];
  bound_stage& stage = pipeline_.slots()[ready.slot].stages[ready.stage];
  try {
    if (place.on_cpu) {
      runner_->run_on_cpu(stage, live_[ready.slot].frame);
    } else {
      const std::lock_guard lock(*stream_locks_[place.stream]);
      runner_->enqueue(stage, live_[ready.slot].frame);
      if (place.queue) {
        state_.one_more();
        watcher_->expect(*place.queue, *stage.complete,
                         (std::uint64_t{ready.slot} << 32) | std::uint64_t{ready.stage});
      }
    }
  } catch (...) {
    state_.fail(pipeline_.planned(), ready.stage, live_[ready.slot].frame.number);
    return;
  }
  const bool ended =
      progress_.returned(ready.slot, ready.stage, putting(ready.frame, ready.slot, into));
  if (ended) end_frame(ready.slot, into);
}

void task_graph::end_frame(std::uint32_t slot, pile& into) {
  live_slot& live = live_[slot];
  const frame_position frame = live.frame;
  runner_->into().frame_ended(frame.index, now());
  try {
    runner_->read_stamps(pipeline_.slots()[slot], frame);
  } catch (...) {
    state_.fail(pipeline_.planned(), std::nullopt, frame.number);
    return;
  }
  runner_->into().frame_complete();
  if (batch_->on_schedule()) {
    free_slot(live);
    return;
  }
  const auto depth = static_cast<std::int64_t>(live_.size());
  begin_next_frame(slot, {frame.index + depth, frame.number + depth}, into);
}

/// For the next frame of a schedule.
void task_graph::free_slot(live_slot& slot) {
  if (runner_->how() != wait_mode::block) {
    slot.busy.store(false, std::memory_order_release);
    return;
  }
  state_.change([&] { slot.busy.store(false, std::memory_order_release); });
}

/// In a thread of the watcher.
void task_graph::seen_complete(std::uint32_t slot, std::uint32_t stage,
                               std::exception_ptr problem) {
  const frame_position frame = live_[slot].frame;
  if (problem) {
    try {
      std::rethrow_exception(problem);
    } catch (...) {
      state_.fail(pipeline_.planned(), stage, frame.number);
    }
  } else {
    pile own;
    if (progress_.completed(slot, stage, putting(frame.index, slot, own))) end_frame(slot, own);
    work_off(own);
  }
  state_.one_less();
}

}  // namespace

std::unique_ptr<executor> make_overlap_executor(prepared_pipeline& pipeline) {
  return std::make_unique<task_graph>(pipeline);
}

}  // namespace graphline
