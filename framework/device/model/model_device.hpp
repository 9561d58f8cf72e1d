#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/virtual_clock.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// Parameters of a `model` device. Times must not be negative.
struct model_settings {
  std::string name = "virtual time";
  std::optional<std::uint64_t> memory_bytes = {};  ///< empty: the machine's
  int operations_at_once = 1;

  /// Copies and fills have their own engine, which executes one at a time; else they use the
  /// engines of operations.
  bool copies_apart = false;
  nanoseconds copy_latency = 0;  ///< of each copy and fill
  double copy_bandwidth = 0;     ///< in bytes per second; 0: unlimited

  /// Delay before an operation, copy or fill that a stream or graph branch reaches is ready.
  /// Occupies no engine.
  nanoseconds operation_overhead = 0;
  /// Delay between the time a stream reaches a graph launch and the start of the graph.
  nanoseconds graph_overhead = 0;

  nanoseconds clock_tick = 1;  ///< resolution of event times, which round down
};

/// Opens a simulated device that runs in the time of `clock`, which is also its host clock and must
/// outlive it. Operations take the durations they state. Copies, fills and calls are performed, so
/// their results are those of any device. Device memory is host memory.
///
/// - Nothing happens until the clock advances. `event::wait`, `device::synchronize` and the
///   destructors of streams, events and executables advance it as far as they need.
/// - An operation, copy, fill or call of a stream is ready when all earlier work of the stream is
///   complete; that of a graph, when its dependencies are complete. Waits, recordings, stamps and
///   launches take no time.
/// - At each time, after all other events of that time, ready work starts: first calls (one at a
///   time), then copies on their engine, then operations while an engine is free. Higher stream
///   priority goes first, then earlier readiness; a graph has the priority of its launching stream.
///   Work without duration completes, and its successors become ready, before other work starts.
///   Work is never preempted.
/// - Work that becomes ready at the same time is ordered: streams by submission, streams that an
///   event releases by the start of their waits, graph nodes that one completion releases by
///   capture order. Work that ends at the same time ends in order of its start.
/// - A copy takes its latency plus bytes / bandwidth, and moves its data at the end.
///
/// Host functions and duration functions run on the thread that advances the clock.
/// @throws input_error for invalid settings
std::unique_ptr<device> open_model_device(virtual_clock& clock, const model_settings& settings);

/// Second base class of a host function that takes time on a `model` device, which calls it at the
/// end of that time. Other host functions take no time.
class model_timed_call {
 public:
  /// Called when the function's turn begins. An exception fails the device, as in `model_duration`.
  virtual nanoseconds call_time() = 0;

 protected:
  ~model_timed_call() = default;
};

/// Returns the duration of an operation. An exception puts the device in the failed state.
using model_duration = std::function<nanoseconds()>;

/// Enqueues an operation on a stream of a `model` device. Calls `duration` when the operation
/// starts, in a graph at each launch.
/// @throws run_error if the stream belongs to another backend
void model_operate(stream& s, std::string_view name, model_duration duration);
void model_operate(stream& s, std::string_view name, nanoseconds duration);

}  // namespace graphline
