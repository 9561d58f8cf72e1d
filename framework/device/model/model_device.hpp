#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "framework/base/virtual_clock.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// What a `model` device is like. Times are in nanoseconds of its clock, none negative.
struct model_settings {
  std::string name = "virtual time";
  std::uint64_t memory_bytes = 0;  ///< as its properties state; 0: what this machine has
  int operations_at_once = 1;

  /// Copies and fills have an engine of their own, which carries out one at a time; without it they
  /// are carried out in place of operations.
  bool copies_apart = false;
  nanoseconds copy_latency = 0;  ///< of each copy and fill
  double copy_bandwidth = 0;     ///< in bytes per second; 0: bytes take no time

  /// Between the moment a stream, or a branch of a graph, reaches an operation, copy or fill and
  /// the moment it is ready. Nothing is occupied meanwhile.
  nanoseconds operation_overhead = 0;
  /// Likewise between the moment a stream reaches a launch and the start of the graph.
  nanoseconds graph_overhead = 0;

  nanoseconds clock_tick = 1;  ///< times of events are whole multiples of it, rounded down
};

/// Opens a device without hardware in the time of `clock`, which is the host's clock to it and must
/// outlive it. Operations take the time they are told; copies, fills and calls are carried out, so
/// that their results are those of any other device. Its memory is this machine's.
///
/// - Nothing happens before the clock goes on. `event::wait`, `device::synchronize` and the
///   destructors of streams, events and executables let it go on until they are satisfied.
/// - A stream's operation, copy, fill or call is ready when everything before it in the stream is
///   done; a graph's, when the nodes it depends on are done. Waits, recordings, stamps and
///   launches take no time.
/// - At each time, after everything else that happens at it, what is ready is started: first calls
///   (one at a time), then copies on their engine, then operations, while an engine is free. The
///   highest priority of a stream goes first, and what was ready first where that is the same; a
///   graph has the priority of the stream that launched it. What takes no time is finished, and
///   what follows it is ready, before anything else starts. Nothing is interrupted.
/// - What becomes ready at one time does so in this order: streams as they were given something to
///   do, streams that an event frees as they came to wait, nodes of a graph that one end frees as
///   they were captured. What was started first ends first where that is at one time.
/// - A copy takes its latency and its bytes over the bandwidth, and happens when it ends.
///
/// Host functions and functions that tell a duration are called by the thread that lets the clock
/// go on. Throws `input_error` for settings that have no meaning.
std::unique_ptr<device> open_model_device(virtual_clock& clock, const model_settings& settings);

/// A second base of a host function that takes time on a `model` device, which calls the function
/// at the end of that time. Other host functions take none.
class model_timed_call {
 public:
  /// Asked when it is the function's turn. An exception is as that of an operation's duration.
  virtual nanoseconds call_time() = 0;

 protected:
  ~model_timed_call() = default;
};

/// Tells how long an operation takes. An exception puts the device in the failed state, as that of
/// an operation on `host` does.
using model_duration = std::function<nanoseconds()>;

/// Enqueues an operation on a stream of a `model` device. `duration` is asked when the operation
/// starts, in a graph at every launch. Throws `run_error` when the stream is another device's.
void model_operate(stream& s, std::string_view name, model_duration duration);
void model_operate(stream& s, std::string_view name, nanoseconds duration);

}  // namespace graphline
