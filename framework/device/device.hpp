#pragma once

// The device interface: what a backend offers, and nothing of how. Owners are unique pointers;
// functions take references. Backends: host (CPU threads), cuda, model (virtual time).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/words.hpp"

namespace graphline {

class device;

/// A block of memory that gives itself back. Move-only.
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

/// A point that a stream passes. Recorded again, it stands for the latest recording.
class event {
 public:
  virtual ~event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Whether the stream has passed the latest recording; true when there was none.
  /// Throws `run_error` once the device has failed.
  virtual bool done() const = 0;

  /// Returns when `done()`. Throws `run_error` that names the failed operation once the device has
  /// failed.
  virtual void wait(wait_mode how) const = 0;

 protected:
  event() = default;
};

/// A point on the host's clock, known to within +- `error` nanoseconds.
struct host_point {
  nanoseconds at = 0;
  nanoseconds error = 0;
};

/// An event that keeps the device's time of passing.
class timed_event : public event {
 public:
  /// Device time from `earlier` to this one, both recorded, passed and of the same device.
  virtual nanoseconds since(const timed_event& earlier) const = 0;

  /// The time of passing on the host's clock.
  virtual host_point on_host_clock() const = 0;

  /// How long the device was at work, from `earlier` to this one, on what was enqueued between the
  /// two in their stream: less than `since` where it did other streams' work meanwhile. Both
  /// recorded in one stream, or stamped in one by the same launch of a graph. Nothing where
  /// `device_properties::reports_busy_time` is false.
  virtual std::optional<nanoseconds> busy_since(const timed_event& /*earlier*/) const {
    return std::nullopt;
  }
};

/// Host code that a device calls in stream order.
class host_function {
 public:
  virtual ~host_function() = default;
  host_function(const host_function&) = delete;
  host_function& operator=(const host_function&) = delete;

  /// Shown in graph listings.
  virtual std::string_view name() const noexcept = 0;

  /// On a thread of the device's or one that waits for it; one at a time. Must not call the device.
  virtual void call() noexcept = 0;

 protected:
  host_function() = default;
};

/// One operation of a captured graph.
struct graph_node {
  std::string name;                ///< of the operation or kernel
  std::string type;                ///< "operation", "copy", "fill", "call", "stamp", "empty"
  std::vector<std::size_t> after;  ///< indices of the nodes it depends on
};

/// An instantiated graph. Never overlaps itself: frames in flight need one each.
class graph_exec {
 public:
  virtual ~graph_exec() = default;
  graph_exec(const graph_exec&) = delete;
  graph_exec& operator=(const graph_exec&) = delete;

 protected:
  graph_exec() = default;
};

/// A captured graph: can be listed and instantiated, not launched.
class graph {
 public:
  virtual ~graph() = default;
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  /// In an order that satisfies every dependency.
  virtual std::vector<graph_node> nodes() const = 0;
  virtual std::unique_ptr<graph_exec> instantiate() const = 0;

 protected:
  graph() = default;
};

/// A queue of operations carried out in order, asynchronously to the host. Calls on one stream must
/// not be made from two threads at once; different streams may be used from different threads.
/// During a capture the same calls build the graph instead. No call allocates outside a capture.
class stream {
 public:
  virtual ~stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  virtual const std::string& name() const noexcept = 0;

  /// Copies between any two of device and pinned memory; both must stay until it is done. Outside a
  /// capture one of them may be ordinary memory; then the call itself may wait for the device.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  /// Sets every byte.
  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;

  /// The event passes when everything before it in this stream is done. In a capture: marks the
  /// point for a `wait` of another stream, which thereby joins the capture; nothing is stamped.
  virtual void record(event& e) = 0;

  /// What follows in this stream starts after the latest recording of `e` so far has passed; no
  /// effect when there was none.
  virtual void wait(const event& e) = 0;

  /// The device calls `f` once everything before it in this stream is done; what follows starts
  /// when it has returned. Work of other streams goes on meanwhile. `f` must stay until it has been
  /// called, or as long as a graph that captured it.
  virtual void call(host_function& f) = 0;

  /// As `record`, but in a capture a node that stamps the event at every launch of the graph. Its
  /// time may be asked for once such a launch is complete; the event must outlive the executable.
  /// Such a stamp is nothing to wait for, neither here nor by `event::done` and `event::wait`:
  /// record another event for that.
  virtual void stamp(timed_event& e) = 0;

  /// Carries out every node of an instantiated graph in this stream. Throws `run_error` in a
  /// capture: enqueue what the graph holds instead.
  virtual void launch(graph_exec& g) = 0;

  /// The backend's own handle, for stages written against it: a cudaStream_t on `cuda`, null on
  /// the others.
  virtual void* native() const noexcept { return nullptr; }

 protected:
  stream() = default;
};

/// What is known of a device before anything runs on it.
struct device_properties {
  std::string backend;  ///< "host", "cuda" or "model"
  std::string name;     ///< as the vendor calls it
  std::uint64_t memory_bytes = 0;
  int compute_threads = 0;         ///< of `host`; 0 elsewhere
  int priority_levels = 1;         ///< how many of high, normal, low it tells apart
  bool one_at_a_time = false;      ///< carries out one operation at a time, whatever its streams
  bool reports_busy_time = false;  ///< its timed events tell `busy_since`
  /// Which the host's threads that compute should keep to, so that the device has its own; empty:
  /// any. Of this machine only: not in results.
  cpu_set host_cpus;
  /// Further facts for reports (versions, compute capability), as name and value.
  std::vector<std::pair<std::string, std::string>> details;
  nanoseconds warm_up = 0;  ///< how long it is to work before what is measured
};

/// How a device is at a moment. Nothing where it does not tell.
struct device_state {
  std::optional<double> clock = {};         ///< of its cores, in MHz
  std::optional<double> memory_clock = {};  ///< in MHz
  std::vector<std::string> slowed_by = {};  ///< what holds its clocks down: "the power limit"
  std::optional<int> other_processes = {};  ///< that have work on it
};

/// The name of the threads that a device of CPU threads computes on.
inline constexpr const char* device_thread_name = "host device";

/// Memory in use, in bytes, and how often any was asked for.
struct memory_usage {
  std::size_t device_bytes = 0;
  std::size_t device_peak_bytes = 0;
  std::size_t pinned_bytes = 0;
  std::size_t pinned_peak_bytes = 0;
  std::uint64_t allocations = 0;  ///< device and pinned, since the device was opened
};

/// How a device's clock stands to the host's.
struct clock_check {
  nanoseconds at = 0;     ///< when, on the host's clock
  nanoseconds error = 0;  ///< of points on the host's clock from now on, at most
  nanoseconds drift = 0;  ///< by how much they were late by now since the check before
  /// Of points since the check before once the drift is taken out, at most, beside `error`: these
  /// and the drift are rounded, the more the longer that check was ago where a device tells long
  /// times less finely than short ones.
  nanoseconds rounding = 0;
};

/// An operation that a device carried out.
struct operation_time {
  std::string name;  ///< of the kernel, as the vendor's tools show it, or of the operation
  nanoseconds duration = 0;
};

/// Notes each operation that the device carries out while it exists, but for those of graphs that
/// were instantiated before: these may be missing, and should not be launched. Slows the device
/// down.
class operation_trace {
 public:
  virtual ~operation_trace() = default;
  operation_trace(const operation_trace&) = delete;
  operation_trace& operator=(const operation_trace&) = delete;

  /// What was carried out since the beginning or the last call, in order of their begin. The device
  /// must be idle.
  virtual std::vector<operation_time> take() = 0;

 protected:
  operation_trace() = default;
};

/// Something that runs stages: a GPU or CPU threads. Must outlive all it has made.
///
/// Its members may be called from several threads at once, and so may `done` and `wait` of an
/// event, so that pipelines may run at once, each from threads of its own. Three things
/// concern all of them: `synchronize` waits for what every thread has enqueued and is refused while
/// any of them captures; there is one clock, whose error and drift are those since whoever checked
/// it last; and host functions are called one at a time. So pipelines should be made ready, which
/// captures, allocates and synchronizes, while no other runs.
class device {
 public:
  virtual ~device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  virtual const device_properties& properties() const noexcept = 0;

  /// Device memory aligned to 256 bytes. Throws `run_error` with the size asked for and the size
  /// that is free when there is not enough.
  virtual memory allocate(std::size_t bytes) = 0;

  /// Host memory that the device can copy from and to asynchronously, aligned to 256 bytes.
  virtual memory allocate_pinned(std::size_t bytes) = 0;

  virtual memory_usage usage() const noexcept = 0;

  virtual std::unique_ptr<stream> make_stream(std::string name, priority level) = 0;
  /// `how` is the way in which the host will wait for it: an event to sleep on may cost the device
  /// more. Other ways work too, but where it was made for another, `block` may keep the core busy.
  virtual std::unique_ptr<event> make_event(std::string name, wait_mode how = wait_mode::block) = 0;

  /// To be read; waiting for it by `block` may keep the core busy.
  virtual std::unique_ptr<timed_event> make_timed_event(std::string name) = 0;

  /// Runs `body` with `origin` in capture mode and returns what it enqueued on it and on streams
  /// that joined it. Every joined stream must be waited for by `origin` again before `body`
  /// returns, and stay until the capture has ended. An exception from `body` ends the capture and
  /// passes through.
  virtual std::unique_ptr<graph> capture(stream& origin, const std::function<void()>& body) = 0;

  /// Returns when nothing is left to do on any stream.
  virtual void synchronize(wait_mode how) = 0;

  /// Compares the device's clock with the host's anew. The device should be idle.
  virtual clock_check check_clock() = 0;

  /// Begins to note operations; one trace at a time. Throws `run_error` when there is one already
  /// or the library that it takes cannot be had.
  virtual std::unique_ptr<operation_trace> trace_operations() = 0;

  // For the vendor's tools, which show them; without such a tool next to nothing.

  /// Whether ranges may be shown, so that it is worth to say where they are.
  virtual bool shows_ranges() const noexcept { return false; }

  /// A named range of the calling thread, shown on its timeline; ranges nest. From any thread, a
  /// host function's among them.
  virtual void begin_range(const char* /*name*/) noexcept {}
  virtual void end_range() noexcept {}

  /// Tells a waiting profiler where the frames worth a look begin and end.
  virtual void profile(bool /*on*/) noexcept {}

  /// How it is now; nothing of a device that has no such state of its own. Not for use while frames
  /// run: asking may take a millisecond.
  virtual std::optional<device_state> state() noexcept { return std::nullopt; }

 protected:
  device() = default;
};

}  // namespace graphline
