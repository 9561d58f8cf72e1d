#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"
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

/// Calls `body(begin, count)` for every piece of a tensor on the compute threads, then `end()`.
template <class Body, class End>
class piecewise_operation final : public host_operation {
 public:
  piecewise_operation(std::string_view name, std::int64_t count, Body body, End end)
      : name_(name), count_(count), body_(std::move(body)), end_(std::move(end)) {}

  std::string_view name() const noexcept override { return name_; }

  void run() override {
#pragma omp parallel for schedule(static)
    for (std::int64_t begin = 0; begin < count_; begin += piece) {
      body_(begin, std::min(piece, count_ - begin));
    }
    end_();
  }

 private:
  std::string_view name_;
  std::int64_t count_;
  Body body_;
  End end_;
};

template <class Body, class End>
std::unique_ptr<device_work> in_pieces(std::string_view name, std::int64_t count, Body body,
                                       End end) {
  using operation = piecewise_operation<Body, End>;
  return one_part(
      [made = std::make_unique<operation>(name, count, std::move(body), std::move(end))](
          stream& s) { host_enqueue(s, *made); });
}

class traffic_stage final : public device_stage {
 public:
  explicit traffic_stage(const stage_config& config)
      : method_(traffic_method_of(config.arguments)),
        count_(config.inputs.at(0).shape.elements()) {}

  std::vector<stage_part> parts() const override {
    const cost amount = traffic_cost(method_, count_);
    if (method_ == traffic_method::read) {
      return {{"read", has_avx2() ? "sums by AVX2" : "sums by plain vectors", amount}};
    }
    const char* name = method_ == traffic_method::copy ? "copy" : "write";
    return {{name, has_avx2() ? "non-temporal stores, AVX2" : "ordinary stores", amount}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    const auto* from = tensors.inputs.at(0).as<float>();
    auto* to = tensors.outputs.at(0).as<float>();
    const auto nothing = [] {};
    if (method_ == traffic_method::copy) {
      const auto copy = [to, from](std::int64_t begin, std::int64_t count) {
        copy_past_caches(to + begin, from + begin, count);
      };
      return in_pieces("traffic copy", count_, copy, nothing);
    }
    if (method_ == traffic_method::write) {
      const auto write = [to](std::int64_t begin, std::int64_t count) {
        write_past_caches(to + begin, 0, count);
      };
      return in_pieces("traffic write", count_, write, nothing);
    }
    const auto sums = std::make_shared<std::vector<float>>((count_ + piece - 1) / piece);
    const auto read = [sums, from](std::int64_t begin, std::int64_t count) {
      (*sums)[static_cast<std::size_t>(begin / piece)] = sum_of(from + begin, count);
    };
    const auto add_up = [sums, to] {
      *to = static_cast<float>(std::accumulate(sums->begin(), sums->end(), 0.0));
    };
    return in_pieces("traffic read", count_, read, add_up);
  }

 private:
  traffic_method method_;
  std::int64_t count_;
};

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
  return std::make_unique<traffic_stage>(config);
}

}  // namespace graphline
