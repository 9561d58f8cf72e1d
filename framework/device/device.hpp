#pragma once

// The device interface. The backends are host (CPU threads), cuda and model (virtual time).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/words.hpp"

namespace graphline {

class device;

/// An owned memory block, freed on destruction. Move-only.
class memory {
 public:
  using release_function = void (*)(void* context, void* data, std::size_t bytes) noexcept;

  memory() = default;
  memory(void* data, std::size_t bytes, void* context, release_function release) noexcept
      : data_(data), bytes_(bytes), context_(context), release_(release) {}
  memory(memory&& other) noexcept { swap(other); }
  memory& operator=(memory&& other) noexcept {
    memory(std::move(other)).swap(*this);
    return *this;
  }
  ~memory() {
    if (release_ != nullptr) release_(context_, data_, bytes_);
  }

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  std::byte* at(std::size_t offset) const noexcept {
    return static_cast<std::byte*>(data_) + offset;
  }

 private:
  void swap(memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(context_, other.context_);
    std::swap(release_, other.release_);
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  void* context_ = nullptr;
  release_function release_ = nullptr;
};

/// A point in a stream. Queries and waits refer to its latest recording.
class event {
 public:
  virtual ~event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Returns true if the work before the latest recording is complete, or if there is no recording.
  /// @throws run_error once the device has failed
  virtual bool done() const = 0;

  /// Waits until `done()`.
  /// @throws run_error naming the failed operation once the device has failed
  virtual void wait(wait_mode how) const = 0;

 protected:
  event() = default;
};

/// A time on the host's clock, exact to +- `error`.
struct host_point {
  nanoseconds at = 0;
  nanoseconds error = 0;
};

/// An event with a device time stamp.
class timed_event : public event {
 public:
  /// Returns the device time from `earlier` to this event.
  /// @pre both were recorded on the same device and are complete
  virtual nanoseconds since(const timed_event& earlier) const = 0;

  virtual host_point on_host_clock() const = 0;

  /// Returns the time that the device spent on operations of one stream between `earlier` and this
  /// event. Empty unless `device_properties::reports_busy_time`.
  /// @pre both were recorded in that stream, or stamped in it by the same graph launch
  virtual std::optional<nanoseconds> busy_since(const timed_event& /*earlier*/) const {
    return std::nullopt;
  }
};

/// A host function that the device calls in stream order.
class host_function {
 public:
  virtual ~host_function() = default;
  host_function(const host_function&) = delete;
  host_function& operator=(const host_function&) = delete;

  virtual std::string_view name() const noexcept = 0;

  /// Called from a thread of the device or from a thread that waits for the device. Host functions
  /// never run concurrently. Must not call the device.
  virtual void call() noexcept = 0;

 protected:
  host_function() = default;
};

/// A node of a captured graph.
struct graph_node {
  std::string name;  ///< operation or kernel
  std::string type;  ///< "operation", "copy", "fill", "call", "stamp", "switch", "empty"
  std::vector<std::size_t> after;  ///< indices of the nodes it depends on
  /// Index of the body that contains the node. Bodies follow their switch in the list.
  std::optional<std::size_t> body = {};
};

/// An executable graph. Its launches never overlap, so each frame in flight needs its own
/// executable.
class graph_exec {
 public:
  virtual ~graph_exec() = default;
  graph_exec(const graph_exec&) = delete;
  graph_exec& operator=(const graph_exec&) = delete;

 protected:
  graph_exec() = default;
};

/// A captured graph. It can be listed and instantiated, but not launched.
class graph {
 public:
  virtual ~graph() = default;
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  /// Returns the nodes in topological order.
  virtual std::vector<graph_node> nodes() const = 0;

  /// A graph with a switch can have one executable at a time.
  virtual std::unique_ptr<graph_exec> instantiate() const = 0;

 protected:
  graph() = default;
};

/// An in-order queue of asynchronous device operations. Two threads must not use the same stream
/// concurrently, but may use different streams. During a capture, the same calls add graph nodes
/// instead. Outside a capture no call allocates.
class stream {
 public:
  virtual ~stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  virtual const std::string& name() const noexcept = 0;

  /// Copies between device and pinned memory in any direction. Both blocks must outlive the copy.
  /// Outside a capture one may be on another device that this one exchanges with.
  /// Outside a capture one block may be pageable memory; the call may then block.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;

  /// Records `e`, which is complete when all earlier work in this stream is. In a capture, `e` gets
  /// no time stamp, and a stream that waits for `e` joins the capture.
  virtual void record(event& e) = 0;

  /// Makes later work in this stream wait for the latest recording of `e`, if there is one. Outside
  /// a capture `e` may be of another device that this one exchanges with.
  virtual void wait(const event& e) = 0;

  /// Calls `f` when all earlier work in this stream is complete. Later work in this stream waits
  /// until `f` returns. `f` must outlive the call and graphs that captured it.
  virtual void call(host_function& f) = 0;

  /// Same as `record`, but in a capture it adds a node that stamps `e` at each graph launch. The
  /// stamp is available once a launch is complete. `e` must outlive the executable. Streams cannot
  /// wait for a stamp in a graph; record another event for that.
  virtual void stamp(timed_event& e) = 0;

  /// Adds a switch to the captured graph. Each launch reads `*selector` when it reaches the switch
  /// and executes that body, or none if `*selector >= bodies.size()`. Later work waits for the
  /// switch.
  ///
  /// Calls each body once. A body only enqueues operations, copies and fills, on this stream.
  /// `selector` is pinned memory that outlives the executable. The host writes it before the
  /// launch, or an earlier node of the graph does, such as a host function.
  /// @pre there is a body, and `device_properties::selects` is true
  /// @throws run_error outside a capture, within a body, or if a body enqueues something else
  virtual void select(const std::uint32_t* selector,
                      std::span<const std::function<void()>> bodies) = 0;

  /// Launches a graph in this stream.
  /// @throws run_error during a capture
  virtual void launch(graph_exec& g) = 0;

  /// Returns the native handle: a cudaStream_t on `cuda`, null on other backends.
  virtual void* native() const noexcept { return nullptr; }

 protected:
  stream() = default;
};

/// Static device properties.
struct device_properties {
  std::string backend;                        ///< "host", "cuda" or "model"
  std::string name;                           ///< the vendor's name
  std::optional<std::uint64_t> memory_bytes;  ///< device memory; empty if unknown
  int compute_threads = 0;                    ///< threads of the `host` device; 0 on other backends
  int priority_levels = 1;                    ///< distinct levels among high, normal and low
  bool one_at_a_time = false;                 ///< operations of all streams execute one at a time
  bool reports_busy_time = false;             ///< timed events support `busy_since`
  /// CPUs for the host's compute threads; the device has the others. Empty if all may be used. Not
  /// part of results.
  cpu_set host_cpus;
  /// More properties for reports (versions, compute capability), as names and values.
  std::vector<std::pair<std::string, std::string>> details;
  nanoseconds warm_up = 0;  ///< time under load before measurements
  bool selects = false;     ///< supports `stream::select`; not part of results
};

/// A snapshot of a device. Empty values are unknown.
struct device_state {
  std::optional<double> clock = {};         ///< core clock in MHz
  std::optional<double> memory_clock = {};  ///< memory clock in MHz
  std::vector<std::string> slowed_by = {};  ///< reasons for reduced clocks: "the power limit"
  std::optional<int> other_processes = {};  ///< number of other processes with work on it
};

/// Name of the compute threads of the `host` device.
inline constexpr const char* device_thread_name = "host device";

/// Memory in use in bytes, and the number of allocations.
struct memory_usage {
  std::size_t device_bytes = 0;
  std::size_t device_peak_bytes = 0;
  std::size_t pinned_bytes = 0;
  std::size_t pinned_peak_bytes = 0;
  std::uint64_t allocations = 0;  ///< of both kinds of memory, since the device was opened
};

/// How a device's clock relates to the host's clock.
struct clock_check {
  nanoseconds at = 0;     ///< host time of the check
  nanoseconds error = 0;  ///< maximum error of later device stamps on the host's clock
  nanoseconds drift = 0;  ///< device time minus host time since the previous check
  /// Maximum rounding error that stamps since the previous check keep after drift correction. It
  /// adds to `error`, and grows with the time between checks if long times have a coarser
  /// resolution.
  nanoseconds rounding = 0;
};

/// An executed operation.
struct operation_time {
  std::string name;  ///< kernel name as in the vendor's tools, or operation name
  nanoseconds duration = 0;
};

/// Records the operations executed during this object's lifetime. Slows the device down. Operations
/// of graphs that were instantiated earlier may be missing.
class operation_trace {
 public:
  virtual ~operation_trace() = default;
  operation_trace(const operation_trace&) = delete;
  operation_trace& operator=(const operation_trace&) = delete;

  /// Returns the operations since the previous call, in order of their start.
  /// @pre the device is idle
  virtual std::vector<operation_time> take() = 0;

 protected:
  operation_trace() = default;
};

/// A GPU or a set of CPU threads that executes stages. Must outlive all objects it creates.
///
/// Members of `device`, `event::done` and `event::wait` are thread-safe, so that several pipelines
/// can run concurrently. `synchronize` waits for the work of all threads and throws during any
/// capture. `check_clock` reports the drift since the last check by any thread. Prepare a pipeline
/// only while no other pipeline runs, because preparation captures, allocates and synchronizes.
class device {
 public:
  virtual ~device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  virtual const device_properties& properties() const noexcept = 0;

  /// Allocates device memory aligned to 256 bytes.
  /// @throws run_error with the requested and the available size
  virtual memory allocate(std::size_t bytes) = 0;

  /// Allocates pinned host memory, for asynchronous copies, aligned to 256 bytes.
  virtual memory allocate_pinned(std::size_t bytes) = 0;

  virtual memory_usage usage() const noexcept = 0;

  virtual std::unique_ptr<stream> make_stream(std::string name, priority level) = 0;
  /// Makes an event for `event::wait(how)`; in mode `block`, other events may poll.
  virtual std::unique_ptr<event> make_event(std::string name, wait_mode how = wait_mode::block) = 0;

  /// Makes a timed event; a wait in mode `block` may poll.
  virtual std::unique_ptr<timed_event> make_timed_event(std::string name) = 0;

  /// Captures the operations that `body` enqueues on `origin` and on streams that join. `origin`
  /// must wait for each joined stream before `body` returns. Joined streams must outlive the
  /// capture. An exception from `body` ends the capture and propagates.
  virtual std::unique_ptr<graph> capture(stream& origin, const std::function<void()>& body) = 0;

  virtual void synchronize(wait_mode how) = 0;

  /// Lets this device and `peer` copy from each other's memory, and their streams wait for each
  /// other's events. From then on, a failure of one also fails waits for the other. Neither may be
  /// destroyed while the other is in use.
  /// @throws run_error if they cannot
  virtual void exchange_with(device& peer);

  /// Compares the device's clock with the host's. The device should be idle.
  virtual clock_check check_clock() = 0;

  /// @throws run_error if a trace exists already or the required library is missing
  virtual std::unique_ptr<operation_trace> trace_operations() = 0;

  // Annotations for the vendor's profilers. They cost almost nothing if no profiler runs.

  virtual bool shows_ranges() const noexcept { return false; }

  /// Opens and closes a named range on the calling thread's timeline. Ranges nest. Host functions
  /// may call these.
  virtual void begin_range(const char* /*name*/) noexcept {}
  virtual void end_range() noexcept {}

  /// Starts and stops a profiler's collection around the measured frames.
  virtual void profile(bool /*on*/) noexcept {}

  /// Returns the current state; empty if the device reports none. May take a millisecond, so do not
  /// call it while frames run.
  virtual std::optional<device_state> state() noexcept { return std::nullopt; }

 protected:
  device() = default;
};

inline void device::exchange_with(device& peer) {
  throw run_error("a '" + properties().backend +
                  "' device cannot exchange tensors directly with '" + peer.properties().backend +
                  "'");
}

}  // namespace graphline
