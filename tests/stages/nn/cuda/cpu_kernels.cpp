#include "tests/stages/nn/cuda/cpu_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <random>
#include <variant>
#include <vector>

#include "stages/nn/cuda/convert.cuh"
#include "stages/nn/cuda/gemv.cuh"
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

namespace graphline::test {

using namespace nn;

namespace {

/// 0 to count - 1.
template <class Number>
std::vector<Number> numbered(Number count, thread_order order) {
  std::vector<Number> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), Number{0});
  if (order == thread_order::backward) std::reverse(numbers.begin(), numbers.end());
  if (order == thread_order::shuffled) {
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937(1));
  }
  return numbers;
}

/// Limits of a block: those that kernels_cuda.cu is compiled for, and those of every GPU.
constexpr int most_threads = 256;
constexpr std::size_t most_shared_bytes = std::size_t{48} << 10;

class cpu_launcher {
 public:
  explicit cpu_launcher(thread_order order) : order_(order) {}

  template <class Work>
  void items(const Work& work, std::int64_t count) const {
    for (const std::int64_t i : numbered(count, order_)) work(i);
  }

  template <class Work>
  void blocks(const Work& work, std::int64_t count, int threads) const {
    EXPECT_GE(threads, 1);
    EXPECT_LE(threads, most_threads);
    static_assert(Work::shared_floats * sizeof(float) <= most_shared_bytes);
    const std::vector<int> order = numbered(threads, order_);
    for (const std::int64_t block : numbered(count, order_)) {
      std::vector<float> shared(Work::shared_floats, std::numeric_limits<float>::quiet_NaN());
      run_phases<0>(work, block, order, shared.data());
    }
  }

  template <class Work>
  void teams(const Work& work, std::uint32_t count) const {
    EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(work.lanes)) && work.lanes <= 32)
        << work.lanes;
    const auto lanes = static_cast<std::size_t>(work.lanes);
    std::vector<std::array<float, Work::sums>> sums(lanes);
    for (const std::int64_t item : numbered(count, order_)) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        work.gather(work.place_of(static_cast<std::uint32_t>(item)), static_cast<int>(lane),
                    *as_array(sums[lane]));
      }
      for (std::size_t apart = lanes / 2; apart > 0; apart /= 2) {
        const auto before = sums;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          for (std::size_t i = 0; i < Work::sums; ++i) sums[lane][i] += before[lane ^ apart][i];
        }
      }
      for (std::size_t i = 0; i < Work::sums; ++i) {
        work.keep(work.place_of(static_cast<std::uint32_t>(item)), static_cast<int>(i),
                  sums.front()[i]);
      }
    }
  }

 private:
  template <std::size_t size>
  static float (*as_array(std::array<float, size>& values))[size] {
    return reinterpret_cast<float(*)[size]>(values.data());
  }

  template <int phase, class Work>
  static void run_phases(const Work& work, std::int64_t block, const std::vector<int>& threads,
                         float* shared) {
    for (const int thread : threads) {
      work.template run<phase>(block, thread, static_cast<int>(threads.size()), shared);
    }
    if constexpr (phase + 1 < Work::phases) run_phases<phase + 1>(work, block, threads, shared);
  }

  thread_order order_;
};

/// Disjoint memory ranges.
std::vector<std::vector<std::byte>> copies_of(const std::vector<std::span<std::byte>>& places) {
  std::vector<std::vector<std::byte>> copies;
  for (const auto& place : places) copies.emplace_back(place.begin(), place.end());
  return copies;
}

}  // namespace

void run_on_cpu(const kernel_form& form, std::span<void* const> operands, thread_order order) {
  std::visit([&](const auto& kind) { run(kind, operands, cpu_launcher(order)); }, form);
}

void run_in_every_order(const kernel_form& form, std::span<void* const> operands,
                        const std::vector<std::span<std::byte>>& written) {
  const std::vector<std::vector<std::byte>> before = copies_of(written);
  run_on_cpu(form, operands, thread_order::forward);
  const std::vector<std::vector<std::byte>> expected = copies_of(written);
  for (const thread_order order : {thread_order::backward, thread_order::shuffled}) {
    for (std::size_t i = 0; i < written.size(); ++i) {
      std::copy(before[i].begin(), before[i].end(), written[i].begin());
    }
    run_on_cpu(form, operands, order);
    EXPECT_TRUE(copies_of(written) == expected)
        << "kernel " << form.index() << " of kernel_form depends on the order of its threads";
  }
}

}  // namespace graphline::test
