// Which devices there are, and what each says of itself.

#include <cuda_profiler_api.h>

#include <cstdio>
#include <map>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/memory.hpp"
#include "tests/device/cuda/fake/objects.hpp"

using namespace fake_cuda;

namespace {

bool exists(int device) {
  return device >= 0 && device < device_count();
}

const std::map<cudaDeviceAttr, int> attributes = {
    {cudaDevAttrClockRate, 1'980'000},        {cudaDevAttrMemoryClockRate, 3'201'000},
    {cudaDevAttrGlobalMemoryBusWidth, 6'144}, {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0},   {cudaDevAttrMultiProcessorCount, 4}};

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  return api("cudaGetDeviceCount", call_kind::detached, [&](locked&) {
    if (const cudaError_t status = absence(); status != cudaSuccess) return status;
    *count = device_count();
    return cudaSuccess;
  });
}

// Choosing a device makes its context, or tells that this has failed.
cudaError_t cudaSetDevice(int device) {
  return api("cudaSetDevice", call_kind::detached, [&](locked&) {
    if (const cudaError_t status = absence(); status != cudaSuccess) return status;
    if (!exists(device)) return cudaErrorInvalidDevice;
    device_state& chosen = the_machine().devices[device];
    if (chosen.failure != cudaSuccess) return chosen.failure;
    current_device() = device;
    chosen.has_context = true;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api("cudaSetDeviceFlags", [&](locked&) {
    const bool known = (flags & ~static_cast<unsigned>(cudaDeviceMask)) == 0;
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  return api("cudaGetDeviceProperties", call_kind::detached, [&](locked&) {
    if (const cudaError_t status = absence(); status != cudaSuccess) return status;
    if (!exists(device)) return cudaErrorInvalidDevice;
    *prop = {};
    std::snprintf(prop->name, sizeof prop->name, "Fake GPU %d", device);
    prop->totalGlobalMem = device_capacity();
    prop->major = 9;
    prop->multiProcessorCount = 4;
    prop->l2CacheSize = 4 << 20;
    prop->streamPrioritiesSupported = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  return api("cudaDeviceGetAttribute", call_kind::detached, [&](locked&) {
    if (const cudaError_t status = absence(); status != cudaSuccess) return status;
    if (!exists(device)) return cudaErrorInvalidDevice;
    const auto found = attributes.find(attr);
    if (found == attributes.end()) return cudaErrorInvalidValue;
    *value = found->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api("cudaDeviceGetStreamPriorityRange", [&](locked&) {
    if (least != nullptr) *least = least_urgent;
    if (greatest != nullptr) *greatest = most_urgent;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api("cudaDeviceCanAccessPeer", call_kind::detached, [&](locked&) {
    if (const cudaError_t status = absence(); status != cudaSuccess) return status;
    if (!exists(device) || !exists(peer)) return cudaErrorInvalidDevice;
    *can = can_access_peer(device, peer) ? 1 : 0;
    return cudaSuccess;
  });
}

// In one direction: from the current device to the memory of the other, whose context it makes.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api("cudaDeviceEnablePeerAccess", [&](locked&) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (!exists(peer) || !can_access_peer(current_device(), peer)) return cudaErrorInvalidDevice;
    if (const auto refused = refuse_unsafe(); refused != cudaSuccess) return refused;
    the_machine().devices[peer].has_context = true;
    const bool added = the_machine().devices[current_device()].peers.insert(peer).second;
    return added ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return api("cudaDeviceSynchronize", [](locked& lock) {
    if (const auto refused = refuse_while_captured(current_device()); refused != cudaSuccess) {
      return refused;
    }
    the_machine().wait_for_device(lock, current_device());
    return cudaSuccess;
  });
}

cudaError_t cudaProfilerStart() {
  return api("cudaProfilerStart", [](locked&) { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
  return api("cudaProfilerStop", [](locked&) { return cudaSuccess; });
}
