#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <variant>

#include "framework/device/cuda/cuda_calls.hpp"
#include "stages/nn/cuda/convert.cuh"
#include "stages/nn/cuda/gemv.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/cuda/layer_norm.cuh"
#include "stages/nn/cuda/lines.cuh"
#include "stages/nn/cuda/pictures.cuh"
#include "stages/nn/cuda/pointwise.cuh"
#include "stages/nn/cuda/pool.cuh"
#include "stages/nn/cuda/recurrent.cuh"
#include "stages/nn/cuda/reduce.cuh"
#include "stages/nn/cuda/softmax.cuh"
#include "stages/nn/cuda/spin.cuh"
#include "stages/nn/cuda/sum.cuh"
#include "stages/nn/cuda/tables.cuh"
#include "stages/nn/cuda/transposed_sum.cuh"

namespace graphline::nn {

// `__grid_constant__` keeps arguments in constant memory even if they are indexed dynamically.

template <class Work>
__global__ void __launch_bounds__(256)
    run_items(const __grid_constant__ Work work, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    work(i);
  }
}

/// Runs the phases of a block, starting with `phase`, with barriers between them.
template <int phase, class Work>
__device__ void run_phases(const Work& work, std::int64_t block, float* shared) {
  work.template run<phase>(block, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                           shared);
  __syncthreads();
  if constexpr (phase + 1 < Work::phases) run_phases<phase + 1>(work, block, shared);
}

template <class Work>
__global__ void __launch_bounds__(256)
    run_blocks(const __grid_constant__ Work work, std::int64_t count) {
  __shared__ float shared[Work::shared_floats];
  for (std::int64_t block = blockIdx.x; block < count; block += gridDim.x) {
    run_phases<0>(work, block, shared);
  }
}

/// A team of `work.lanes` adjacent threads of a warp computes each item. Each thread accumulates a
/// part of each sum; then threads exchange parts. While a thread holds several sums, it gives half
/// of them to another thread and gets its part of the other half, so that in the end each sum is in
/// one thread, or in several adjacent ones if there are more threads than sums.
template <class Work>
__global__ void __launch_bounds__(256, Work::blocks)
    run_teams(const Work work, std::uint32_t count) {
  // A power of two: divisions would take longer than the work on short rows.
  const int lane_bits = __ffs(work.lanes) - 1;
  const int lane = static_cast<int>(threadIdx.x) & (work.lanes - 1);
  const std::uint32_t step = gridDim.x * (blockDim.x >> lane_bits);
  std::uint32_t item = blockIdx.x * (blockDim.x >> lane_bits) + (threadIdx.x >> lane_bits);
  // All threads of a warp loop as often as its first thread, because they shuffle together.
  for (std::uint32_t first = item - (threadIdx.x % 32 >> lane_bits); first < count;
       first += step, item += step) {
    float sums[Work::sums];
    const auto at = work.place_of(item < count ? item : count - 1);
    work.gather(at, lane, sums);
    int apart = work.lanes / 2;
    int held = Work::sums;
#pragma unroll
    for (int half = Work::sums / 2; half > 0; half /= 2) {
      if (apart == 0) break;
      const bool upper = (lane & apart) != 0;
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const float given = upper ? sums[i] : sums[i + half];
        sums[i] = (upper ? sums[i + half] : sums[i]) + __shfl_xor_sync(0xffffffffU, given, apart);
      }
      held = half;
      apart /= 2;
    }
    const int sharing = apart > 0 ? 2 * apart : 1;  // threads with the same sum
    for (; apart > 0; apart /= 2) sums[0] += __shfl_xor_sync(0xffffffffU, sums[0], apart);
    if (item >= count || lane % sharing != 0) continue;
    const int begin = lane / sharing * held;
#pragma unroll
    for (int i = 0; i < Work::sums; ++i) {
      if (i < held) work.keep(at, begin + i, sums[i]);
    }
  }
}

class kernel_launcher {
 public:
  kernel_launcher(cudaStream_t s, const char* kernel, const std::string& owner)
      : stream_(s), kernel_(kernel), owner_(owner) {}

  /// Runs work(i) in a thread for each item.
  template <class Work>
  void items(const Work& work, std::int64_t count) const {
    if (count == 0) return;
    constexpr unsigned threads = 256;
    run_items<<<grid((count + threads - 1) / threads), threads, 0, stream_>>>(work, count);
    check();
  }

  /// Runs work.run<phase>(block, thread, ...) in blocks of `threads` threads, at most 256.
  template <class Work>
  void blocks(const Work& work, std::int64_t count, int threads) const {
    if (count == 0) return;
    run_blocks<<<grid(count), static_cast<unsigned>(threads), 0, stream_>>>(work, count);
    check();
  }

  /// Runs work.gather(place, lane, sums) on each lane of an item's team, then work.keep(place, i,
  /// total) for each of the `Work::sums` sums; `place` is work.place_of(item). `work.lanes` is a
  /// power of two up to 32, `Work::sums` a power of two, and `count` below 2^31.
  template <class Work>
  void teams(const Work& work, std::uint32_t count) const {
    if (count == 0) return;
    constexpr unsigned threads = 256;
    const std::int64_t to_a_block = threads / static_cast<unsigned>(work.lanes);
    run_teams<<<grid((count + to_a_block - 1) / to_a_block), threads, 0, stream_>>>(work, count);
    check();
  }

 private:
  /// Limits the grid to far more blocks than a GPU runs at once; kernels loop over the rest.
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

/// Names of kernels in messages, in the order of `kernel_form`.
constexpr const char* kernel_names[] = {"convert",
                                        "pointwise",
                                        "pool",
                                        "softmax",
                                        "layer_norm",
                                        "gemv",
                                        "sum",
                                        "reduce",
                                        "resize",
                                        "gather",
                                        "indexed",
                                        "resample",
                                        "transposed_sum",
                                        "recurrent",
                                        "top_k",
                                        "cumulative_sum",
                                        "resize_pictures",
                                        "normalize_pictures",
                                        "spin"};
static_assert(std::size(kernel_names) == std::variant_size_v<kernel_form>);

void enqueue_kernel(const kernel_form& form, std::span<void* const> operands, void* cuda_stream,
                    const std::string& owner) {
  std::visit(
      [&](const auto& kind) {
        run(kind, operands,
            kernel_launcher(static_cast<cudaStream_t>(cuda_stream), kernel_names[form.index()],
                            owner));
      },
      form);
}

}  // namespace graphline::nn
