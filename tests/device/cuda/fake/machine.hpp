#pragma once

// The machine under the fake: tasks that wait for each other, and two threads for each device that
// carry out those which wait for nothing any more. A stream is no more than the task that was
// enqueued last in it, an event the task that was recorded, and the launch of a graph a set of
// tasks; so destroying any of them leaves its work alone.

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace fake_cuda {

/// The range of stream priorities; lower is more urgent.
inline constexpr int least_urgent = 0;
inline constexpr int most_urgent = -5;

/// One operation, as it is enqueued in a stream or kept as a node of a graph.
struct operation;
using operation_ref = std::shared_ptr<const operation>;

/// The nodes of an instantiated graph, in an order that satisfies every dependency.
struct plan_node {
  operation_ref what;
  std::vector<std::size_t> after;
};
using plan = std::vector<plan_node>;

/// What decides which body of a switch runs.
struct condition {
  unsigned initial = 0;  ///< its value when a launch begins
  unsigned value = 0;
  unsigned selected = 0;  ///< its value when the launch reached the switch
  bool is_used = false;   ///< by a node
};

struct operation {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  int device = 0;
  int priority = 0;
  std::function<cudaError_t()> run;  ///< of kernels, copies, fills and host functions
  cudaKernelNodeParams kernel{};
  bool by_driver = false;  ///< a kernel that the runtime knows nothing of
  cudaMemcpy3DParms copy{};
  cudaMemsetParams fill{};
  cudaHostNodeParams host{};
  cudaEvent_t event = nullptr;
  std::shared_ptr<struct condition> condition = {};  ///< of a conditional node
};

/// The operation that does nothing, of tasks that only wait.
const operation_ref& nothing();

/// An operation that was enqueued.
struct task {
  operation_ref what;
  int device = 0;
  int priority = 0;
  std::uint64_t number = 0;  ///< in the order of enqueueing
  int awaited = 0;           ///< how many tasks it still waits for
  std::vector<std::shared_ptr<task>> then;
  std::shared_ptr<std::size_t> queue;  ///< of its stream: how many are not done yet
  bool done = false;
  std::int64_t at = 0;  ///< when it was done, in ns of the device's clock
};
using task_ref = std::shared_ptr<task>;

/// Tasks that can start: the most urgent first (lower is more urgent), then in order. Shuffled:
/// those that may start at once, then those held back, each by chance.
using ready_tasks = std::map<std::pair<int, std::uint64_t>, task_ref>;

struct device_state {
  ready_tasks ready;
  ready_tasks ready_calls;  ///< host functions, which hold no other stream up
  std::set<std::uint64_t> unfinished;
  cudaError_t failure = cudaSuccess;  ///< what every call returns once it is set
  std::set<int> peers;                ///< devices whose memory this one can access
  std::size_t allocated = 0;
  bool has_threads = false;
  bool has_context = false;
};

/// Everything there is. One mutex guards it and all objects behind handles. Never destroyed, since
/// the program may call CUDA until its very end.
struct machine {
  static constexpr int most_devices = 8;
  static constexpr std::size_t longest_queue = 1024;  ///< tasks of a stream, then it is full

  std::mutex mutex;
  std::condition_variable work;      ///< something can start, or a task was added
  std::condition_variable progress;  ///< a task was done
  device_state devices[most_devices];
  std::uint64_t enqueued = 0;
  std::optional<std::uint64_t> seed;                  ///< of the order, where chance decides it
  std::chrono::steady_clock::time_point enqueued_at;  ///< the latest
  double clock_speed = 1;                             ///< of the devices', by the host's
  std::size_t busy_waits = 0;
  std::int64_t clock_ahead = 0;  ///< of the devices' clocks, in ns
  std::int64_t clock_tick = 1;   ///< of the devices' clocks, in ns

  /// Adds a task after others, of which those that are done or null do not count.
  task_ref add(operation_ref what, int device, int priority, const std::vector<task_ref>& after);

  /// Waits until a stream's queue has room, as what enqueues does first of all.
  void wait_for_room(std::unique_lock<std::mutex>& lock, std::shared_ptr<std::size_t> queue);

  /// Waits until a task is done; null is.
  void wait_for(std::unique_lock<std::mutex>& lock, const task_ref& t);

  /// Waits until everything is done that a device has been given so far.
  void wait_for_device(std::unique_lock<std::mutex>& lock, int device);

 private:
  ready_tasks::key_type key_of(const task& t) const;
  bool is_held_back(const ready_tasks& queue) const;
  void make_ready(const task_ref& t);
  void finish(task& t);
  [[noreturn]] void serve(device_state& d, ready_tasks& queue);
};

machine& the_machine();

/// Whether this thread is one that calls host functions.
bool in_host_function() noexcept;

}  // namespace fake_cuda
