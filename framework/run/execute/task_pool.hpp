#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/base/machine.hpp"

namespace graphline {

/// Of the oneTBB that this program runs with: "2021.8".
std::string onetbb_version();

/// oneTBB's scheduling of CPU stages in threads of the pool's own, so that no task of another pool
/// keeps one of them. oneTBB's workers go from arena to arena, and one whose task waits or takes
/// long counts as free for the other pools: they only take the places that are left, which a stage
/// that is itself parallel can use.
class task_pool {
 public:
  /// `threads` of its own, at least 1, and `places` for these and for workers together, at least
  /// as many; they keep to `cpus`. Throws `run_error` with the remedy when a thread cannot be had.
  task_pool(int threads, int places, const cpu_set& cpus = {});

  task_pool(const task_pool&) = delete;
  task_pool& operator=(const task_pool&) = delete;

  /// From a thread of the pool: another of its threads may take the work.
  template <class Function>
  void spawn(Function&& f) {
    group_.run(std::forward<Function>(f));
  }

  /// From any other thread.
  template <class Function>
  void enqueue(Function&& f) {
    arena_.enqueue(group_.defer(std::forward<Function>(f)));
  }

 private:
  void add_thread(const cpu_set& cpus);

  // In this order: the last goes first, which ends the threads' wait once all work is done.
  tbb::global_control permitted_;
  tbb::task_arena arena_;
  tbb::task_group group_;
  std::vector<std::jthread> threads_;
  tbb::task_handle open_;  ///< never run: while it is there, the threads wait for work
};

}  // namespace graphline
