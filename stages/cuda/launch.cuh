#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "framework/device/cuda/cuda_status.hpp"

namespace graphline {

template <class Work>
__global__ void __launch_bounds__(256) run_items(const Work work, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    work(i);
  }
}

/// The phases of one block from `phase` on, all its threads in step between them.
template <int phase, class Work>
__device__ void run_phases(const Work& work, std::int64_t block, float* shared) {
  work.template run<phase>(block, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                           shared);
  __syncthreads();
  if constexpr (phase + 1 < Work::phases) run_phases<phase + 1>(work, block, shared);
}

template <class Work>
__global__ void __launch_bounds__(256) run_blocks(const Work work, std::int64_t count) {
  __shared__ float shared[Work::shared_floats];
  for (std::int64_t block = blockIdx.x; block < count; block += gridDim.x) {
    run_phases<0>(work, block, shared);
  }
}

/// Launches a kernel's work on a stream.
class kernel_launcher {
 public:
  kernel_launcher(cudaStream_t s, const char* kernel, const std::string& owner)
      : stream_(s), kernel_(kernel), owner_(owner) {}

  /// work(i) for every item, a thread each.
  template <class Work>
  void items(const Work& work, std::int64_t count) const {
    if (count == 0) return;
    constexpr unsigned threads = 256;
    run_items<<<grid((count + threads - 1) / threads), threads, 0, stream_>>>(work, count);
    check();
  }

  /// work.run<phase>(block, thread, ...) for every block, 256 threads at most each.
  template <class Work>
  void blocks(const Work& work, std::int64_t count, int threads) const {
    if (count == 0) return;
    run_blocks<<<grid(count), static_cast<unsigned>(threads), 0, stream_>>>(work, count);
    check();
  }

 private:
  /// Many times what any GPU holds at once; what is left is for each block's loop.
  static unsigned grid(std::int64_t blocks) {
    return static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 18));
  }

  void check() const {
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
      check_cuda(status, std::string("the launch of kernel '") + kernel_ + "'", owner_);
    }
  }

  cudaStream_t stream_;
  const char* kernel_;
  const std::string& owner_;
};

}  // namespace graphline
