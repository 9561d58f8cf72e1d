#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/device.hpp"
#include "framework/device/host/host_capture.hpp"
#include "framework/device/host/lane.hpp"
#include "framework/device/operation_log.hpp"

namespace graphline {

class host_worker;

/// The thread that calls host functions, one after another in the order they were handed over, so
/// that the worker goes on with other operations meanwhile.
class host_caller {
 public:
  /// `worker` is told of every return; the thread keeps to `cpus`.
  host_caller(const device_failure& failed, host_worker& worker, cpu_set cpus)
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
  void submit(handed_call& call, host_function& f) noexcept;

 private:
  void serve();

  const device_failure& failed_;
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

/// The thread that carries out what the lanes hold, one operation at a time.
///
/// Between two operations, and between two nodes of a graph, it first settles every lane (passes
/// recordings, checks waits, hands calls over to the caller thread) and then takes the next
/// operation from the lane of the highest priority that has one; lanes of the same priority take
/// turns.
class host_worker {
 public:
  /// How long the worker polls for new commands before it sleeps. Long enough to bridge the gap
  /// between two submissions, short against the stages of a pipeline.
  static constexpr nanoseconds idle_polling = 30'000;

  /// Starts the thread; OpenMP regions that it opens have `compute_threads` threads. It and they
  /// keep to the CPUs of the device, host functions to the others.
  host_worker(lane_table& lanes, device_failure& failed, operation_log& log, int compute_threads,
              cpu_split cpus);

  /// Finishes what can be finished and ends the thread.
  ~host_worker();
  host_worker(const host_worker&) = delete;
  host_worker& operator=(const host_worker&) = delete;

  /// To be called after every `lane::publish`, and whatever else gives the worker something to do.
  /// A system call only when the worker sleeps.
  void notice() noexcept {
    if (parked_.load(std::memory_order_seq_cst) != 0) unpark();
  }

  /// Runs `work` on the worker between two operations and returns when it is done; what it throws
  /// is thrown here.
  void call(const std::function<void()>& work);

  /// To be called before host functions are submitted. Throws `run_error` when the thread that
  /// calls them cannot be started.
  void prepare_calls() { caller_.start(); }

 private:
  enum class state { idle, blocked, ready, passed };

  void serve(int compute_threads, const cpu_set& cpus);
  bool serve_one();
  void serve_calls();
  lane* choose();
  state settle(lane& l) noexcept;
  state settle_front(lane& l) noexcept;
  state settle_call(lane& l, host_function& f) noexcept;
  state settle_run(graph_run& run) noexcept;
  void carry_out(lane& l) noexcept;
  void flush_denormals(bool flush) noexcept;
  nanoseconds execute(const command& c) noexcept;
  void fail(const command& c, std::string_view reason) noexcept;
  void idle();
  void unpark() noexcept;

  lane_table& lanes_;
  device_failure& failed_;
  operation_log& log_;

  // The worker's own.
  lane_table::roster roster_;
  std::array<std::size_t, 3> turn_{};  // per priority, which lane is asked first
  std::uint64_t roster_version_ = 0;
  std::uint64_t points_passed_ = 0;  // counts what another lane may have been waiting for
  bool flushes_denormals_ = false;

  alignas(64) std::atomic<std::uint32_t> parked_{0};
  std::atomic<bool> stop_{false};

  std::mutex calls_mutex_;
  std::vector<std::packaged_task<void()>> calls_;
  std::atomic<bool> has_calls_{false};

  host_caller caller_;  // ends before what it touches in `notice` goes
  std::thread thread_;
};

/// What the streams, events and graphs of one `host` device share. The worker stands last, so that
/// it stops before what it serves goes.
struct host_engine {
  host_engine(int compute_threads, cpu_split cpus)
      : worker(lanes, failed, log, compute_threads, std::move(cpus)) {}

  device_failure failed;
  lane_table lanes;
  host_captures captures;
  operation_log log;
  host_worker worker;
};

}  // namespace graphline
