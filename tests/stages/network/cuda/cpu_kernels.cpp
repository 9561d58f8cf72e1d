#include "tests/stages/network/cuda/cpu_kernels.hpp"

#include <limits>
#include <variant>
#include <vector>

#include "stages/cuda/convert.cuh"
#include "stages/cuda/layer_norm.cuh"
#include "stages/cuda/pointwise.cuh"
#include "stages/cuda/pool.cuh"
#include "stages/cuda/softmax.cuh"

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

 private:
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
