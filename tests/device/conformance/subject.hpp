#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/device/device.hpp"

namespace graphline::conformance {

/// Holds a device up until it is opened, so that a test can show that calls return while the device
/// is busy, and decide what is enqueued before anything runs. Opens itself at the end of a test
/// that fails half way.
class gate {
 public:
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  virtual ~gate() = default;

  virtual void open() = 0;

  /// Whether the device has arrived at it.
  virtual bool reached() const = 0;
};

/// All that the suite needs to know of a backend: how to open it, and four operations. A backend is
/// put through the suite by defining `make_subject` and linking it.
class subject {
 public:
  subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;

  virtual device& dev() = 0;

  /// Makes an operation that adds 1 to an int32 in device memory, atomically.
  virtual void enqueue_add_one(stream& s, void* counter) = 0;

  /// Keeps the device busy for about that long.
  virtual void enqueue_busy(stream& s, std::int64_t microseconds) = 0;

  /// Occupies the whole device until the gate is opened.
  virtual std::unique_ptr<gate> enqueue_gate(stream& s) = 0;

  /// Fails while it runs. Every wait that reports it contains `failure_text()`.
  virtual void enqueue_failure(stream& s) = 0;
  virtual std::string failure_text() const = 0;

  /// Whether operations of different streams never overlap, so that what ran first can be told from
  /// what it saw. A gate holds kernels up either way; a device that overlaps may copy meanwhile.
  virtual bool does_one_thing_at_a_time() const { return true; }

  /// The time by the clock that the device takes for the host's.
  virtual nanoseconds host_now() const { return now(); }

  /// Whether it goes on while nobody waits for it, on threads of its own.
  virtual bool goes_on_by_itself() const { return true; }

  /// Whether a trace can be had of what is enqueued.
  virtual bool can_be_traced() const { return true; }
};

/// A device to test, or null when this machine has none, whereupon every test is skipped.
std::unique_ptr<subject> make_subject();

}  // namespace graphline::conformance
