#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "stages/host_stage.hpp"
#include "stages/traffic.hpp"

namespace graphline {
namespace {

/// A core that reads one sequence of addresses waits for each memory page in turn. So a piece is
/// read as four quarters at the same time, and copied as two halves.
constexpr std::int64_t quarters = 4;
constexpr std::int64_t halves = 2;

constexpr std::int64_t lanes = 32;  ///< number of sums in a quarter

constexpr std::int64_t line = 64 / sizeof(float);

// Inlined, so that each caller compiles it for its own instruction set.
[[gnu::always_inline]] inline float add_up(const float* from, std::int64_t count) {
  constexpr std::int64_t all = quarters * lanes;
  float sums[all] = {};
  const std::int64_t quarter = count / all * lanes;
  for (std::int64_t i = 0; i < quarter; i += lanes) {
    for (std::int64_t q = 0; q < quarters; ++q) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        sums[q * lanes + lane] += from[q * quarter + i + lane];
      }
    }
  }
  const std::int64_t whole = quarters * quarter;
  for (std::int64_t i = whole; i < count; ++i) sums[i - whole] += from[i];
  for (std::int64_t half = all / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

#if defined(__x86_64__)
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0;
}

[[gnu::target("avx2")]] float add_up_avx2(const float* from, std::int64_t count) {
  return add_up(from, count);
}

[[gnu::target("avx2")]] void copy_line_avx2(float* to, const float* from) {
  _mm256_stream_ps(to, _mm256_loadu_ps(from));
  _mm256_stream_ps(to + line / 2, _mm256_loadu_ps(from + line / 2));
}

/// Copies the cache lines of both halves that are complete.
/// @return the number of copied elements
[[gnu::target("avx2")]] std::int64_t copy_avx2(float* to, const float* from, std::int64_t count) {
  const std::int64_t half = count / (halves * line) * line;
  for (std::int64_t i = 0; i < half; i += line) {
    copy_line_avx2(to + i, from + i);
    copy_line_avx2(to + half + i, from + half + i);
  }
  _mm_sfence();
  return halves * half;
}

[[gnu::target("avx2")]] std::int64_t write_avx2(float* to, float value, std::int64_t count) {
  const __m256 values = _mm256_set1_ps(value);
  std::int64_t i = 0;
  for (; i + line <= count; i += line) {
    _mm256_stream_ps(to + i, values);
    _mm256_stream_ps(to + i + line / 2, values);
  }
  _mm_sfence();
  return i;
}
#else
bool has_avx2() noexcept {
  return false;
}
#endif

/// Number of consecutive elements that one thread processes at a time: 1 MiB. Threads take whole
/// pieces, so that a sum does not depend on the number of threads.
constexpr std::int64_t piece = 1 << 18;

/// Returns a function that calls `body(begin, count)` for every piece of a tensor on the compute
/// threads.
template <class Body>
std::function<void()> in_pieces(std::int64_t count, Body body) {
  return [count, body = std::move(body)] {
#pragma omp parallel for schedule(static)
    for (std::int64_t begin = 0; begin < count; begin += piece) {
      body(begin, std::min(piece, count - begin));
    }
  };
}

}  // namespace

float sum_of(const float* from, std::int64_t count) {
#if defined(__x86_64__)
  if (has_avx2()) return add_up_avx2(from, count);
#endif
  return add_up(from, count);
}

void copy_past_caches(float* to, const float* from, std::int64_t count) {
  std::int64_t done = 0;
#if defined(__x86_64__)
  if (has_avx2()) done = copy_avx2(to, from, count);
#endif
  std::memcpy(to + done, from + done, static_cast<std::size_t>(count - done) * sizeof(float));
}

void write_past_caches(float* to, float value, std::int64_t count) {
  std::int64_t done = 0;
#if defined(__x86_64__)
  if (has_avx2()) done = write_avx2(to, value, count);
#endif
  std::fill(to + done, to + count, value);
}

std::unique_ptr<device_stage> make_host_traffic(device& /*d*/, const stage_config& config) {
  const traffic_method method = traffic_method_of(config.arguments);
  const std::int64_t count = config.inputs.at(0).shape.elements();
  const cost amount = traffic_cost(method, count);
  const char* stores = has_avx2() ? "non-temporal stores, AVX2" : "ordinary stores";
  if (method == traffic_method::copy) {
    return host_stage("traffic copy", {"copy", stores, amount},
                      [count](const stage_tensors& tensors) {
                        return in_pieces(count, [from = tensors.inputs.at(0).as<float>(),
                                                 to = tensors.outputs.at(0).as<float>()](
                                                    std::int64_t begin, std::int64_t some) {
                          copy_past_caches(to + begin, from + begin, some);
                        });
                      });
  }
  if (method == traffic_method::write) {
    return host_stage("traffic write", {"write", stores, amount},
                      [count](const stage_tensors& tensors) {
                        return in_pieces(count, [to = tensors.outputs.at(0).as<float>()](
                                                    std::int64_t begin, std::int64_t some) {
                          write_past_caches(to + begin, 0, some);
                        });
                      });
  }
  const char* sums_by = has_avx2() ? "sums by AVX2" : "sums by plain vectors";
  return host_stage(
      "traffic read", {"read", sums_by, amount}, [count](const stage_tensors& tensors) {
        const auto sums = std::make_shared<std::vector<float>>((count + piece - 1) / piece);
        const auto read = in_pieces(count, [sums, from = tensors.inputs.at(0).as<float>()](
                                               std::int64_t begin, std::int64_t some) {
          (*sums)[static_cast<std::size_t>(begin / piece)] = sum_of(from + begin, some);
        });
        return [sums, read, to = tensors.outputs.at(0).as<float>()] {
          read();
          *to = static_cast<float>(std::accumulate(sums->begin(), sums->end(), 0.0));
        };
      });
}

}  // namespace graphline
