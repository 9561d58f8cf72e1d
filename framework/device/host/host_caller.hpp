#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "framework/base/cpu_sets.hpp"
#include "framework/device/host/failure.hpp"
#include "framework/device/host/handed_call.hpp"

namespace graphline {

class host_worker;

/// The thread that calls host functions, one after another in the order they were handed over, so
/// that the worker goes on with other operations meanwhile.
class host_caller {
 public:
  /// `worker` is told of every return; the thread keeps to `cpus`.
  host_caller(const failure& failed, host_worker& worker, cpu_set cpus)
      : failed_(failed), worker_(worker), cpus_(std::move(cpus)) {}

  /// Finishes what was handed over and ends the thread.
  ~host_caller();
  host_caller(const host_caller&) = delete;
  host_caller& operator=(const host_caller&) = delete;

  /// Starts the thread unless it runs; before the first call is submitted, since most devices never
  /// see one. Throws `run_error` when it cannot be started.
  void start();

  /// Has `f` called, or once the device has failed, only counts it as returned. The worker's to
  /// call, after `start`.
  void hand_over(handed_call& call, host_function& f) noexcept;

 private:
  void serve();

  const failure& failed_;
  host_worker& worker_;
  const cpu_set cpus_;

  std::mutex mutex_;
  std::condition_variable handed_over_;
  handed_call* first_ = nullptr;
  handed_call* last_ = nullptr;
  bool stop_ = false;

  std::once_flag started_;
  std::thread thread_;
};

}  // namespace graphline
