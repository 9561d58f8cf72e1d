// Copies and fills.

#include <cstring>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/memory.hpp"
#include "tests/device/cuda/fake/objects.hpp"

using namespace fake_cuda;

namespace {

/// The device other than the stream's that one of two addresses belongs to.
std::optional<int> peer_of(const void* to, const void* from, const CUstream_st& s) {
  for (const void* data : {to, from}) {
    const std::optional<int> device = device_of(data);
    if (device && device != s.device) return device;
  }
  return std::nullopt;
}

std::shared_ptr<operation> copy_of(void* to, const void* from, std::size_t bytes,
                                   const CUstream_st& s) {
  auto what = std::make_shared<operation>();
  what->type = cudaGraphNodeTypeMemcpy;
  what->device = s.device;
  what->priority = s.priority;
  what->copy.dstPtr = {to, bytes, bytes, 1};
  what->copy.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  what->copy.extent = {bytes, 1, 1};
  what->copy.kind = cudaMemcpyDefault;
  const int peer = peer_of(to, from, s).value_or(s.device);
  what->run = [=] {
    const memory_access access(peer);
    std::memmove(to, from, bytes);
    return cudaSuccess;
  };
  return what;
}

/// Why a copy between two devices is refused, or cudaSuccess.
cudaError_t refuse_between(void* to, const void* from, CUstream_st& s) {
  const std::optional<int> peer = peer_of(to, from, s);
  if (!peer) return cudaSuccess;
  const auto& devices = the_machine().devices;
  const bool open =
      devices[s.device].peers.contains(*peer) && devices[*peer].peers.contains(s.device);
  const bool from_one_to_other = device_of(to) != device_of(from);
  if (!open || !from_one_to_other) return cudaErrorNotSupported;
  if (s.capture == nullptr) return cudaSuccess;
  s.capture->invalidated = true;
  return cudaErrorStreamCaptureUnsupported;
}

/// A copy from or to memory that is not pinned, which CUDA takes through memory of its own: what is
/// to be read is read at once, and what is written on the host is there when the call returns.
cudaError_t copy_pageable(locked& lock, cudaStream_t s, const std::shared_ptr<operation>& what,
                          place to, place from) {
  const std::size_t bytes = what->copy.extent.width;
  if (from == place::elsewhere) {
    const auto* const begin = static_cast<const std::byte*>(what->copy.srcPtr.ptr);
    what->run = [target = what->copy.dstPtr.ptr,
                 staged = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(target, staged.data(), staged.size());
      return cudaSuccess;
    };
  }
  const int device = s->device;
  const task_ref t = submit(s, what);
  if (to == place::device) return cudaSuccess;
  the_machine().wait_for(lock, t);
  return the_machine().devices[device].failure;
}

}  // namespace

// A copy may be enqueued while another device is current, unlike a launch.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return api("cudaMemcpyAsync", [&](locked& lock) {
    wait_for_room(lock, stream);
    if (const cudaError_t status = usable(stream); status != cudaSuccess) return status;
    if (bytes == 0) return cudaSuccess;
    if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
    if (kind != cudaMemcpyDefault) return cudaErrorNotSupported;  // this project uses no other
    const place target = place_of(to, bytes);
    const place source = place_of(from, bytes);
    if (target == place::out_of_range || source == place::out_of_range) {
      return cudaErrorInvalidValue;
    }
    if (const auto refused = refuse_between(to, from, *stream); refused != cudaSuccess) {
      return refused;
    }
    auto what = copy_of(to, from, bytes, *stream);
    if (target != place::elsewhere && source != place::elsewhere) {
      const task_ref t = submit(stream, what);
      // Between two places on the host CUDA copies before it returns.
      if (target == place::device || source == place::device) return cudaSuccess;
      const int device = stream->device;
      the_machine().wait_for(lock, t);
      return the_machine().devices[device].failure;
    }
    // Only pinned memory stays where it is until the graph is launched.
    if (stream->capture != nullptr) return cudaErrorInvalidValue;
    return copy_pageable(lock, stream, what, target, source);
  });
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  return api("cudaMemsetAsync", [&](locked& lock) {
    wait_for_room(lock, stream);
    if (const cudaError_t status = usable_for_launch(stream); status != cudaSuccess) return status;
    if (bytes == 0) return cudaSuccess;
    const place where = place_of(data, bytes);
    if (where != place::device && where != place::pinned) return cudaErrorInvalidValue;
    auto what = std::make_shared<operation>();
    what->type = cudaGraphNodeTypeMemset;
    what->device = stream->device;
    what->priority = stream->priority;
    what->fill.dst = data;
    what->fill.elementSize = 1;
    what->fill.width = bytes;
    what->fill.height = 1;
    what->fill.value = static_cast<unsigned>(value) & 0xffU;
    what->run = [=] {
      std::memset(data, value, bytes);
      return cudaSuccess;
    };
    submit(stream, what);
    return cudaSuccess;
  });
}
