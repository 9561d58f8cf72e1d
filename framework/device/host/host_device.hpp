#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "framework/device/device.hpp"
#include "framework/device/devices.hpp"

namespace graphline {

/// A piece of work for the `host` device, as a kernel is for a GPU. It runs on the device's worker
/// thread, whose OpenMP team has the device's number of compute threads.
class host_operation {
 public:
  virtual ~host_operation() = default;

  /// Shown in graph listings and error messages.
  virtual std::string_view name() const noexcept = 0;

  /// An exception puts the device in the failed state: nothing after it is carried out, and every
  /// wait throws a `run_error` that names this operation.
  virtual void run() = 0;

  /// Whether the compute threads take denormal numbers for 0 while it runs, in operands and
  /// results: many processors compute with them many times slower.
  virtual bool flushes_denormals() const noexcept { return false; }
};

/// A stream of a `host` device, as far as stages need to know it. Virtual, so that a plug-in, which
/// has a copy of this library of its own, reaches the program's.
class host_queue : public stream {
 public:
  virtual void enqueue(host_operation& operation) = 0;
};

/// A `host` device, likewise.
class host_runner : public device {
 public:
  virtual void call(const std::function<void()>& work) = 0;
};

/// Enqueues an operation on a stream of a `host` device. The operation must stay until it is done,
/// or as long as a graph that captured it.
void host_enqueue(stream& s, host_operation& operation);

/// Runs `work` on the worker thread of a `host` device, between operations, and returns when it is
/// done; exceptions pass through to the caller. For preparation (oneDNN plans its threads where a
/// primitive is made), not for frames.
void host_call(device& d, const std::function<void()>& work);

/// Opens the `host` device with a number of compute threads, at least 1.
std::unique_ptr<device> open_host_device(int compute_threads);

/// The entry for a `device_list`.
backend host_backend();

}  // namespace graphline
