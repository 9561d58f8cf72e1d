#include "stages/host/memory_loops.hpp"

#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace graphline {

namespace {

constexpr std::int64_t lanes = 128;

/// How far ahead memory is asked for, in elements: the processor's own guesses stop at the end of a
/// page.
constexpr std::int64_t ahead = 512;

constexpr std::int64_t line = 64 / sizeof(float);

// Compiled anew in each caller, with the instructions that it may use.
[[gnu::always_inline]] inline float add_up(const float* from, std::int64_t count) {
  float sums[lanes] = {};
  const std::int64_t whole = count / lanes * lanes;
  for (std::int64_t i = 0; i < whole; i += lanes) {
    for (std::int64_t j = 0; j < lanes; j += line) __builtin_prefetch(from + i + j + ahead, 0, 0);
    for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += from[i + lane];
  }
  for (std::int64_t i = whole; i < count; ++i) sums[i - whole] += from[i];
  for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] float add_up_avx512(const float* from, std::int64_t count) {
  return add_up(from, count);
}
[[gnu::target("avx2")]] float add_up_avx2(const float* from, std::int64_t count) {
  return add_up(from, count);
}
#endif

}  // namespace

float sum_of(const float* from, std::int64_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return add_up_avx512(from, count);
  if (__builtin_cpu_supports("avx2")) return add_up_avx2(from, count);
#endif
  return add_up(from, count);
}

std::string_view sum_instructions() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
  return "SSE2";
#else
  return "the processor's own vectors";
#endif
}

void copy_past_caches(float* to, const float* from, std::int64_t count) {
#if defined(__x86_64__)
  const std::int64_t whole = count / line * line;
  for (std::int64_t i = 0; i < whole; i += line) {
    __builtin_prefetch(from + i + ahead, 0, 0);
    for (std::int64_t j = 0; j < line; j += 4) {
      _mm_stream_ps(to + i + j, _mm_loadu_ps(from + i + j));
    }
  }
  std::memcpy(to + whole, from + whole, static_cast<std::size_t>(count - whole) * sizeof(float));
  _mm_sfence();
#else
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
#endif
}

std::string_view copy_instructions() noexcept {
#if defined(__x86_64__)
  return "non-temporal stores";
#else
  return "memcpy";
#endif
}

}  // namespace graphline
