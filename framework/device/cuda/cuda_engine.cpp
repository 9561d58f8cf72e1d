#include "framework/device/cuda/cuda_engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/base/units.hpp"

namespace graphline {
namespace {

/// This thread's current device, as last set by an engine; -1 if unknown.
thread_local int current_device = -1;

int make_ready(int index) {
  const std::string subject = fmt::format("device cuda:{}", index);
  // This also creates the context, so that an unusable device fails here.
  check_cuda(cudaSetDevice(index), "cudaSetDevice", subject);
  current_device = index;
  return index;
}

unique_cuda<cudaStream_t> make_setup_stream(const std::string& device) {
  cudaStream_t made = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
             "device " + device);
  return unique_cuda<cudaStream_t>(made);
}

}  // namespace

cuda_engine::cuda_engine(int device)
    : index(make_ready(device)),
      name(fmt::format("cuda:{}", device)),
      setup(make_setup_stream(name)),
      memory(*this),
      clock(*this) {
  check(cudaDeviceGetStreamPriorityRange(&least_urgent_, &most_urgent_),
        "cudaDeviceGetStreamPriorityRange", {"device", name});
}

cuda_engine::~cuda_engine() {
  for (cuda_engine* peer : peers_) std::erase(peer->peers_, this);
  make_current();
}

void cuda_engine::connect(cuda_engine& peer) {
  if (&peer == this || is_peer(peer)) return;
  if (const std::string why = why_no_peer_access(index, peer.index); !why.empty()) {
    throw run_error(
        fmt::format("{} and {} cannot exchange tensors directly: {}", name, peer.name, why));
  }
  if (index != peer.index) {
    enable_access_to(peer);
    peer.enable_access_to(*this);
  }
  peers_.push_back(&peer);
  peer.peers_.push_back(this);
}

void cuda_engine::enable_access_to(const cuda_engine& peer) {
  const cuda_subject subject{"device", name};
  require_current(subject);
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer.index, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());  // clears it, so that the next launch does not report it
    return;
  }
  check(status, "cudaDeviceEnablePeerAccess", subject);
}

void cuda_engine::ask_peers() {
  for (cuda_engine* peer : peers_) {
    peer->failed.throw_if_set();
    peer->make_current();
    const cudaError_t status = cudaStreamQuery(peer->setup.get());
    if (status == cudaErrorNotReady) {
      static_cast<void>(cudaGetLastError());
    } else {
      peer->check(status, "cudaStreamQuery", {"device", peer->name});
    }
  }
  make_current();
}

std::string why_no_peer_access(int index, int other) {
  if (index == other) return "";
  for (const auto& [from, to] : {std::pair(index, other), std::pair(other, index)}) {
    int can = 0;
    check_cuda(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer",
               fmt::format("device cuda:{}", from));
    if (can == 0) return "the GPUs have no peer access to each other";
  }
  return "";
}

cudaError_t cuda_engine::make_current() noexcept {
  if (current_device == index) return cudaSuccess;
  const cudaError_t status = cudaSetDevice(index);
  current_device = status == cudaSuccess ? index : -1;
  return status;
}

int cuda_engine::stream_priority(priority level) const noexcept {
  switch (level) {
    case priority::high:
      return most_urgent_;
    case priority::normal:
      return (most_urgent_ + least_urgent_) / 2;
    case priority::low:
      break;
  }
  return least_urgent_;
}

int cuda_engine::priority_levels() const noexcept {
  return std::min(least_urgent_ - most_urgent_ + 1, 3);
}

void cuda_engine::fail(cudaError_t status, const char* call, cuda_subject of) {
  failed.throw_if_set();
  const cuda_error problem(status, call, of.text());
  if (is_sticky(status)) failed.set([&] { return problem.what(); });
  throw problem;
}

void cuda_engine::fail_enqueued(cudaError_t status, const char* call, cuda_subject of) {
  if (failed.is_set()) return;
  const cuda_error problem(status, call, of.text());
  if (!is_sticky(status)) throw problem;
  failed.set([&] { return problem.what(); });
}

namespace {

/// Some drivers report cudaErrorInvalidValue for a size that exceeds the total memory.
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
  // No other stream waits for `setup`, so the block must be filled on return.
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
        "cannot allocate {} of pinned memory on {}: the system cannot pin that much; use "
        "smaller tensors or fewer frames in flight",
        format_bytes(bytes), engine_.name));
  }
  engine_.check(status, "cudaHostAlloc", subject);
  std::memset(data, unwritten, bytes);
  pinned_.add(bytes);
  return memory(data, bytes, this, &cuda_memory::release_pinned);
}

// An error here comes from process exit, or from an earlier failure that a wait has reported.
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
