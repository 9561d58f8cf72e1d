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

/// Parameters of a `model` device. No time may be negative.
struct model_settings {
  std::string name = "virtual time";
  std::optional<std::uint64_t> memory_bytes = {};  ///< empty for the machine's memory
  int operations_at_once = 1;

  /// If true, copies and fills have their own engine, which executes one at a time. Otherwise they
  /// use the engines of operations.
  bool copies_apart = false;
  nanoseconds copy_latency = 0;  ///< of each copy and fill
  double copy_bandwidth = 0;     ///< in bytes per second; 0 if unlimited

  /// Delay before an operation, copy or fill becomes ready once its stream or graph branch has
  /// reached it. Occupies no engine.
  nanoseconds operation_overhead = 0;
  /// Delay before an idle device begins to serve its streams again: one after it was idle for
  /// `long_idle` or longer, as if it had fallen asleep, and one after less.
  nanoseconds idle_start = 0;
  nanoseconds short_idle_start = 0;
  nanoseconds long_idle = 0;
  /// Delay before a graph starts once its stream has reached the launch.
  nanoseconds graph_overhead = 0;

  nanoseconds clock_tick = 1;  ///< resolution of event times, which round down
};

/// Opens a simulated device. `clock` is the clock of both the device and the host, and must outlive
/// the device. Each operation takes the duration that it was enqueued with. Copies, fills and calls
/// take effect as on any device. Device memory is host memory.
///
/// - Nothing happens until the clock advances. `event::wait`, `device::synchronize` and the
///   destructors of streams, events and executables advance it far enough.
/// - An operation, copy, fill or call of a stream is ready when all earlier work of the stream is
///   complete. In a graph it is ready when its dependencies are complete. Waits, recordings,
///   stamps, launches and switches take no time.
/// - Ready work starts after all other clock events of the same time, in this order: calls (one at
///   a time), copies on their engine, operations while an engine is free. Work on streams of higher
///   priority starts first, then work that became ready first. A graph has the priority of its
///   launching stream. Work without duration completes, and its successors become ready, before
///   other work starts. Work is never preempted.
/// - Work that becomes ready at the same time starts in a fixed order: on streams, in order of
///   submission; on streams that an event releases, in order of the start of their waits; in a
///   graph, in capture order. Work that ends at the same time ends in order of its start.
/// - A copy takes its latency plus bytes / bandwidth, and moves its data at the end.
///
/// Devices with one clock can exchange tensors and wait for each other's events. One thread then
/// uses all of them.
///
/// Host functions and duration functions run on the thread that advances the clock.
/// @throws input_error for invalid settings
std::unique_ptr<device> open_model_device(virtual_clock& clock, const model_settings& settings);

/// Second base class of a host function that takes time on a `model` device. The device calls the
/// function at the end of that time. Other host functions take no time.
class model_timed_call {
 public:
  /// Returns the duration. Called when the function's turn begins. An exception fails the device.
  virtual nanoseconds call_time() = 0;

 protected:
  ~model_timed_call() = default;
};

/// Returns the duration of an operation. An exception puts the device in the failed state.
using model_duration = std::function<nanoseconds()>;

/// Enqueues an operation on a stream of a `model` device. Calls `duration` whenever the operation
/// starts; in a graph, once per launch.
/// @throws run_error if the stream belongs to another backend
void model_operate(stream& s, std::string_view name, model_duration duration);
void model_operate(stream& s, std::string_view name, nanoseconds duration);

}  // namespace graphline
