#include "framework/device/cuda/cuda_engine.hpp"

#include <algorithm>

namespace graphline {
namespace {

/// The device that this thread was last given by any engine; -1 before the first.
thread_local int current_device = -1;

int make_ready(int index) {
  const std::string subject = fmt::format("device cuda:{}", index);
  // Makes the context too, so that a device that cannot be used is found out here.
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

cudaError_t cuda_engine::make_current() noexcept {
  if (current_device == index) return cudaSuccess;
  const cudaError_t status = cudaSetDevice(index);
  current_device = status == cudaSuccess ? index : -1;  // CUDA does not say which it is then
  if (is_sticky(status) && !failed.is_set()) note_failure(status);
  return status;
}

/// Later calls may return another code, which tells less. What cudaSetDevice returns may be of the
/// device that was current before.
void cuda_engine::note_failure(cudaError_t status) noexcept {
  const cudaError_t own = cudaStreamQuery(setup.get());
  if (own == cudaSuccess || own == cudaErrorNotReady) return;
  failed.set([&] {
    return std::string(
        cuda_error(status, "cudaSetDevice", cuda_subject{"device", name}.text()).what());
  });
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

}  // namespace graphline
