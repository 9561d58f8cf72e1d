#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "framework/device/device.hpp"
#include "framework/device/devices.hpp"

namespace graphline {

/// An operation of the `host` device, the counterpart of a GPU kernel. Runs on the device's worker
/// thread, whose OpenMP team has the device's compute threads.
class host_operation {
 public:
  virtual ~host_operation() = default;

  /// Returns the name in graph listings and error messages.
  virtual std::string_view name() const noexcept = 0;

  /// Executes the operation. An exception puts the device in the failed state: later operations are
  /// skipped, and every wait throws a `run_error` that names this operation.
  virtual void run() = 0;

  /// Returns true if the compute threads flush denormal operands and results to zero. Many
  /// processors are many times slower with denormals.
  virtual bool flushes_denormals() const noexcept { return false; }
};

/// A stream of a `host` device, for stages. Its functions are virtual, so that a plug-in with its
/// own copy of this library calls the program's functions.
class host_queue : public stream {
 public:
  virtual void enqueue(host_operation& operation) = 0;
};

class host_runner : public device {
 public:
  virtual void call(const std::function<void()>& work) = 0;
};

/// Enqueues an operation on a stream of a `host` device. The operation must outlive its execution
/// and all graphs that captured it.
void host_enqueue(stream& s, host_operation& operation);

/// Runs `work` on the worker thread of a `host` device between operations and waits for it.
/// Rethrows exceptions. Used to create oneDNN primitives, which plan for the calling thread's team.
void host_call(device& d, const std::function<void()>& work);

/// Opens a `host` device with 1 to 1024 compute threads. Streams of several such devices can wait
/// for each other's events; a device must outlive these waits.
/// @param taken CPUs of other devices that it avoids if there are enough
std::unique_ptr<device> open_host_device(int compute_threads, const cpu_set& taken = {});

backend host_backend();

}  // namespace graphline
