#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "framework/run/execute/batch_state.hpp"
#include "framework/run/execute/completion_watcher.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/stage_runner.hpp"
#include "framework/run/execute/task_rules.hpp"

namespace graphline {

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
