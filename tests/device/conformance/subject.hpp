#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/device/device.hpp"

namespace graphline::conformance {

/// Blocks a device until it is opened, so that a test can check that calls are asynchronous and can
/// enqueue work before anything runs. Opens on destruction, in case a test fails early.
class gate {
 public:
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  virtual ~gate() = default;

  virtual void open() = 0;

  /// Whether the device waits at the gate.
  virtual bool reached() const = 0;
};

/// Adapts a backend to the suite: opens a device and provides four operations. A test program
/// defines `make_subject` and links the suite.
class subject {
 public:
  subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;

  virtual device& dev() = 0;

  /// Enqueues an atomic increment of an int32 in device memory.
  virtual void enqueue_add_one(stream& s, void* counter) = 0;

  /// Enqueues an operation of about this duration.
  virtual void enqueue_busy(stream& s, std::int64_t microseconds) = 0;

  /// Enqueues an operation that occupies the whole device until the gate is opened.
  virtual std::unique_ptr<gate> enqueue_gate(stream& s) = 0;

  /// Enqueues an operation that fails. Every wait that reports it contains `failure_text()`.
  virtual void enqueue_failure(stream& s) = 0;
  virtual std::string failure_text() const = 0;

  /// Whether operations of different streams never overlap, so that their results show their order.
  /// A gate blocks kernels in any case; a device with overlap may copy meanwhile.
  virtual bool does_one_thing_at_a_time() const { return true; }

  /// Current time of the device's host clock.
  virtual nanoseconds host_now() const { return now(); }

  /// Whether work progresses without a waiting host thread.
  virtual bool goes_on_by_itself() const { return true; }

  /// Whether `enqueue_*` operations appear in traces.
  virtual bool can_be_traced() const { return true; }
};

/// A device to test; null if this machine has none: all tests are then skipped.
std::unique_ptr<subject> make_subject();

}  // namespace graphline::conformance
