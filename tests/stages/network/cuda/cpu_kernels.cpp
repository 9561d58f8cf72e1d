#include "tests/stages/network/cuda/cpu_kernels.hpp"

#include <array>
#include <limits>
#include <variant>
#include <vector>

#include "stages/cuda/convert.cuh"
#include "stages/cuda/gemv.cuh"
#include "stages/cuda/layer_norm.cuh"
#include "stages/cuda/pointwise.cuh"
#include "stages/cuda/pool.cuh"
#include "stages/cuda/softmax.cuh"
#include "stages/cuda/sum.cuh"

namespace graphline::test {

namespace {

struct cpu_launcher {
  template <class Work>
  void items(const Work& work, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) work(i);
  }

  template <class Work>
  void blocks(const Work& work, std::int64_t count, int threads) const {
    for (std::int64_t block = 0; block < count; ++block) {
      std::vector<float> shared(Work::shared_floats, std::numeric_limits<float>::quiet_NaN());
      run_phases<0>(work, block, threads, shared.data());
    }
  }

  template <class Work>
  void teams(const Work& work, std::int64_t count) const {
    const auto lanes = static_cast<std::size_t>(work.lanes);
    std::vector<std::array<float, Work::sums>> sums(lanes);
    for (std::int64_t item = 0; item < count; ++item) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        work.gather(item, static_cast<int>(lane), *as_array(sums[lane]));
      }
      for (std::size_t apart = lanes / 2; apart > 0; apart /= 2) {
        const auto before = sums;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          for (std::size_t i = 0; i < Work::sums; ++i) sums[lane][i] += before[lane ^ apart][i];
        }
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        work.keep(item, static_cast<int>(lane), *as_array(sums[lane]));
      }
    }
  }

 private:
  template <std::size_t size>
  static float (*as_array(std::array<float, size>& values))[size] {
    return reinterpret_cast<float(*)[size]>(values.data());
  }

  template <int phase, class Work>
  static void run_phases(const Work& work, std::int64_t block, int threads, float* shared) {
    // In this order a thread that reads what a later one has yet to write in the same phase shows.
    for (int thread = 0; thread < threads; ++thread) {
      work.template run<phase>(block, thread, threads, shared);
    }
    if constexpr (phase + 1 < Work::phases) run_phases<phase + 1>(work, block, threads, shared);
  }
};

}  // namespace

void run_on_cpu(const kernel_form& form, std::span<void* const> operands) {
  std::visit([&](const auto& kind) { run(kind, operands, cpu_launcher{}); }, form);
}

}  // namespace graphline::test
