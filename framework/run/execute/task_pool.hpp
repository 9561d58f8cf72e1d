#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/base/machine.hpp"

namespace graphline {

/// Version of oneTBB at run time, such as "2021.8".
std::string onetbb_version();

/// Runs CPU stages as oneTBB tasks on threads that the pool owns. oneTBB's own workers get the
/// remaining places, for CPU stages that are themselves parallel. They do not run whole stages,
/// because they migrate between arenas and count as available even during a long or waiting task.
class task_pool {
 public:
  /// @param threads Number of threads that the pool owns, at least 1.
  /// @param places Number of places for these threads and oneTBB's workers, at least `threads`.
  /// @param cpus CPUs to which the threads are bound.
  /// @param realtime Priority for `scoped_realtime`, which the caller may use.
  /// @throws run_error with a remedy if a thread cannot be started
  task_pool(int threads, int places, const cpu_set& cpus = {}, std::int64_t realtime = 0);

  task_pool(const task_pool&) = delete;
  task_pool& operator=(const task_pool&) = delete;

  /// Adds work, for any thread of the pool. Call on a thread of the pool.
  template <class Function>
  void spawn(Function&& f) {
    group_.run(std::forward<Function>(f));
  }

  /// Adds work. Call on a thread outside the pool.
  template <class Function>
  void enqueue(Function&& f) {
    arena_.enqueue(group_.defer(std::forward<Function>(f)));
  }

 private:
  void add_thread(const cpu_set& cpus, std::int64_t realtime);

  // Destroyed in reverse order. Once `open_` is gone, the threads end when all work is done.
  tbb::global_control permitted_;
  tbb::task_arena arena_;
  tbb::task_group group_;
  std::vector<std::jthread> threads_;
  tbb::task_handle open_;  ///< never run; while it exists, the threads wait for work
};

}  // namespace graphline
