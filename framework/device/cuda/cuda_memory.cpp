#include <cstring>

#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_engine.hpp"

namespace graphline {
namespace {

/// A size beyond all that there could be is an invalid value to some drivers.
bool is_too_much(cudaError_t status) noexcept {
  return status == cudaErrorMemoryAllocation || status == cudaErrorInvalidValue;
}

}  // namespace

memory cuda_memory::allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  engine_.failed.throw_if_set();
  const cuda_subject subject{"device", engine_.name};
  engine_.require_current(subject);
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (is_too_much(status)) {
    static_cast<void>(cudaGetLastError());
    std::size_t free = 0;
    std::size_t total = 0;
    engine_.check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", subject);
    throw run_error(fmt::format(
        "cannot allocate {} of device memory on {}: {} of its {} is available; use smaller tensors "
        "or fewer frames in flight, or end other programs that use the GPU",
        format_bytes(bytes), engine_.name, format_bytes(free), format_bytes(total)));
  }
  engine_.check(status, "cudaMalloc", subject);
  memory block(data, bytes, this, &cuda_memory::release_device);
  device_.add(bytes);
  engine_.check(cudaMemsetAsync(data, unwritten, bytes, engine_.setup.get()), "cudaMemsetAsync",
                subject);
  // On a stream that no other waits for: the block must be ready when it is handed out.
  engine_.check(cudaStreamSynchronize(engine_.setup.get()), "cudaStreamSynchronize", subject);
  return block;
}

memory cuda_memory::allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return {};
  engine_.failed.throw_if_set();
  const cuda_subject subject{"device", engine_.name};
  engine_.require_current(subject);
  void* data = nullptr;
  const cudaError_t status = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
  if (is_too_much(status)) {
    static_cast<void>(cudaGetLastError());
    throw run_error(fmt::format(
        "cannot allocate {} of pinned memory on {}: the system has not that much to pin; use "
        "smaller tensors or fewer frames in flight",
        format_bytes(bytes), engine_.name));
  }
  engine_.check(status, "cudaHostAlloc", subject);
  std::memset(data, unwritten, bytes);
  pinned_.add(bytes);
  return memory(data, bytes, this, &cuda_memory::release_pinned);
}

// A failure to free tells of an earlier one, which a wait has told, or of the end of the process.
void cuda_memory::release_device(void* from, void* data, std::size_t bytes) noexcept {
  auto& owner = *static_cast<cuda_memory*>(from);
  owner.device_.bytes.fetch_sub(bytes);
  owner.engine_.make_current();
  static_cast<void>(cudaFree(data));
}

void cuda_memory::release_pinned(void* from, void* data, std::size_t bytes) noexcept {
  auto& owner = *static_cast<cuda_memory*>(from);
  owner.pinned_.bytes.fetch_sub(bytes);
  owner.engine_.make_current();
  static_cast<void>(cudaFreeHost(data));
}

}  // namespace graphline
