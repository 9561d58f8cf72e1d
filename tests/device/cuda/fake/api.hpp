#pragma once

// What all calls have in common: they are noted, may be made to fail by the test, are refused where
// there is no device or it has failed, and leave their status for cudaGetLastError.

#include <cuda_runtime_api.h>

#include <mutex>
#include <optional>

#include "tests/device/cuda/fake/machine.hpp"

namespace fake_cuda {

enum class call_kind {
  ordinary,   ///< makes the current device's context; refused once that has failed
  releasing,  ///< gives something back, which it does on a failed device too, and tells of it
  detached,   ///< has nothing to do with the state of a device
};

/// The lock under which a call works.
using locked = std::unique_lock<std::mutex>;

/// The device that is current for the calling thread.
int& current_device() noexcept;

/// Notes a call. The status with which it ends before it has begun, if any.
std::optional<cudaError_t> begin_call(const char* name, call_kind kind);

/// The status for the caller, which is kept as the thread's last error.
cudaError_t end_call(cudaError_t status, call_kind kind);

/// Why there are no devices, or cudaSuccess.
cudaError_t absence();
int device_count();
bool can_access_peer(int device, int peer);

/// A whole call: `body` takes the lock and returns a status.
template <class Body>
cudaError_t api(const char* name, call_kind kind, const Body& body) {
  locked lock(the_machine().mutex);
  if (const auto refused = begin_call(name, kind)) return end_call(*refused, call_kind::detached);
  return end_call(body(lock), kind);
}

template <class Body>
cudaError_t api(const char* name, const Body& body) {
  return api(name, call_kind::ordinary, body);
}

}  // namespace fake_cuda
