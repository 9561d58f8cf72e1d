#pragma once

// A CUDA runtime for tests, made of threads: link it instead of libcudart, and code that calls the
// runtime runs without a GPU, asynchronously, and is told of its mistakes. It defines the runtime's
// own functions (see machine.hpp for how it works); this file is what a test controls it by.
//
// Where CUDA leaves behavior undefined, or lets something pass that is a mistake in this project,
// the fake refuses: a handle that was destroyed is cudaErrorInvalidResourceHandle, and so are the
// null stream and memset on a stream of another than the current device; a stream that is not
// non-blocking is cudaErrorInvalidValue. A copy between devices without peer access, which CUDA
// takes through the host, is cudaErrorNotSupported, and in a capture any is
// cudaErrorStreamCaptureUnsupported. A device's memory is out of reach but for its kernels,
// copies and fills: who touches it otherwise ends the process, unless the device works just then.
// What is enqueued in a stream with a thousand operations before it has to wait for room.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fake_cuda {

/// A new process, as it were: waits until all work is done, then lets go of every object and
/// allocation and restores all settings. Whoever still has a handle must not use it.
void reset();

/// What was made and not given back.
struct live_objects {
  int streams = 0;
  int events = 0;
  int graphs = 0;
  int executables = 0;
  int device_allocations = 0;
  int pinned_allocations = 0;

  bool operator==(const live_objects&) const = default;
};
live_objects live();

/// Whether a device has a context: it was chosen, or it was current, as device 0 is for a thread
/// that has chosen none, when that thread made a call that takes one.
bool has_context(int device);

// What was called since `reset`. Functions that cannot fail (cudaGetErrorName, cudaGetErrorString,
// cudaGetLastError, cudaPeekAtLastError) are not counted.

/// The names of the calls, in order; only those of `name` when it is not empty. Calls beyond the
/// first million are counted and not listed.
std::vector<std::string> calls(const std::string& name = "");

/// How often `name` was called; any function when it is empty.
std::size_t call_count(const std::string& name = "");

/// How often memory was asked for.
std::size_t allocation_calls();

/// How many events there are that a thread can sleep on (cudaEventBlockingSync).
int events_to_sleep_on();

/// How often cudaEventSynchronize was called for any other, which keeps the core busy.
std::size_t busy_waits();

/// The n-th call of `name` from now, counted from 1, returns `status` and does nothing. One at a
/// time: the latest setting holds.
void fail_call(const std::string& name, std::size_t n, cudaError_t status);

/// Every call of these names, from now on.
void fail_calls(const std::vector<std::string>& names, cudaError_t status);

// What the machine is. To be set before the first device is used.

/// How many devices there are: 2 unless set, at most 8. With none every call is cudaErrorNoDevice.
void set_device_count(int count);

/// `device` cannot access the memory of `peer`; any other can unless so told.
void refuse_peer_access(int device, int peer);

/// Of each device: 256 MiB unless set.
void set_device_capacity(std::size_t bytes);

/// The newest CUDA that the driver is for: the runtime's own unless set. With an older one, 0 for
/// no driver at all, every call is cudaErrorInsufficientDriver.
void set_driver_version(int version);

/// From now on the devices take what is ready by chance, with no regard for priority, and leave
/// half of it until the host has enqueued nothing for a while: any order that streams and events
/// allow. What chance does follows from the seed and the order of the calls that enqueue. `reset`
/// sets the seed that the environment variable GRAPHLINE_FAKE_SEED names; without one, priority
/// decides.
///
/// One operation still runs at a time. Of two that nothing orders, one of the two orders shows what
/// is wrong; that they overlap would add those only of which either order is right.
void shuffle(std::uint64_t seed);

/// The seed, where chance decides.
std::optional<std::uint64_t> seed();

/// How many nanoseconds the devices' clocks count in one of the host's: 1 unless set.
void set_clock_speed(double speed);
/// The steps in which the devices' clocks count, in nanoseconds: 1 unless set.
void set_clock_tick(std::int64_t nanoseconds);
/// Puts the devices' clocks forward against the host's; what is done later is stamped with that.
void put_clocks_forward(std::int64_t nanoseconds);

/// Enqueues, or captures as a kernel node, work for the device that `stream` belongs to, which must
/// be the calling thread's current one. Anything but cudaSuccess from `work` is what every later
/// call on this device returns, and nothing is carried out there any more. Where one of `operands`
/// lies in memory that is neither a device's nor pinned when the kernel begins, that is
/// cudaErrorIllegalAddress.
cudaError_t launch_kernel(cudaStream_t stream, const std::string& name,
                          std::function<cudaError_t()> work,
                          std::vector<const void*> operands = {});

/// As above, as libraries do it: by the driver, so that the runtime does not know the kernel.
cudaError_t launch_library_kernel(cudaStream_t stream, const std::string& name,
                                  std::function<cudaError_t()> work);

}  // namespace fake_cuda
