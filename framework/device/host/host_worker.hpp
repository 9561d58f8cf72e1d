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
#include "framework/device/host/lane.hpp"
#include "framework/device/operation_log.hpp"

namespace graphline {

class host_worker;

/// A thread that calls host functions in order of submission, so that the worker can execute other
/// operations meanwhile.
class host_caller {
 public:
  /// Does not start the thread. The thread will run on `cpus` and notify `worker` each time a call
  /// returns.
  host_caller(const device_failure& failed, host_worker& worker, cpu_set cpus)
      : failed_(failed), worker_(worker), cpus_(std::move(cpus)) {}

  ~host_caller();
  host_caller(const host_caller&) = delete;
  host_caller& operator=(const host_caller&) = delete;

  /// Starts the thread unless it runs.
  /// @throws run_error if that fails
  void start();

  /// Submits `f`. After a device failure, `f` is not called but counts as returned. Used only by
  /// the worker, after `start`.
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

/// The thread that executes the commands of all lanes, one operation at a time.
///
/// Before each operation or graph node, it goes through every lane: it completes recordings, checks
/// waits and submits host functions. Then it executes the next operation of the highest priority.
/// Lanes of equal priority alternate.
class host_worker {
 public:
  /// Time to poll for commands before sleeping. It is longer than the gap between two submissions
  /// and short compared with stages.
  static constexpr nanoseconds idle_polling = 30'000;

  /// Starts the thread. Its OpenMP regions have `compute_threads` threads, on `cpus.device`; host
  /// functions run on `cpus.others`.
  host_worker(lane_table& lanes, device_failure& failed, operation_log& log, int compute_threads,
              cpu_split cpus);

  /// Completes all commands that can complete and joins the thread.
  ~host_worker();
  host_worker(const host_worker&) = delete;
  host_worker& operator=(const host_worker&) = delete;

  /// Wakes the worker if it sleeps. Call it after each `lane::publish` and after adding other work.
  void notice() noexcept {
    if (parked_.load(std::memory_order_seq_cst) != 0) unpark();
  }

  /// Lets workers wake the others until the next wait for another device has passed. Call it before
  /// submitting that wait.
  static void expect_peer() noexcept { peer_waits_.fetch_add(1, std::memory_order_seq_cst); }

  /// Runs `work` on the worker between two operations and waits for it. Exceptions propagate.
  void call(const std::function<void()>& work);

  /// Starts the caller thread. Call it before submitting host functions.
  /// @throws run_error if the thread cannot be started
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
  void execute_front(lane& l) noexcept;
  void flush_denormals(bool flush) noexcept;
  nanoseconds execute(const command& c) noexcept;
  void fail(const command& c, std::string_view reason) noexcept;
  void idle();
  void unpark() noexcept;
  void wake_peers() noexcept;

  // Every worker in this process, and the number of pending waits for other devices.
  static inline std::mutex workers_mutex_;
  static inline std::vector<host_worker*> workers_;
  static inline std::atomic<int> peer_waits_{0};

  lane_table& lanes_;
  device_failure& failed_;
  operation_log& log_;

  // Used only by the worker thread.
  lane_table::roster roster_;
  std::array<std::size_t, 3> turn_{};  // per priority: index of the first lane to try
  std::uint64_t roster_version_ = 0;
  std::uint64_t points_passed_ = 0;  // count of completed points that other lanes may wait for
  bool flushes_denormals_ = false;

  alignas(64) std::atomic<std::uint32_t> parked_{0};
  std::atomic<bool> stop_{false};

  std::mutex calls_mutex_;
  std::vector<std::packaged_task<void()>> calls_;
  std::atomic<bool> has_calls_{false};

  host_caller caller_;  // last, because its thread calls `notice`, which uses earlier members
  std::thread thread_;
};

/// State that the streams, events and graphs of a `host` device share. The worker is the last
/// member, so that it is destroyed first.
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
