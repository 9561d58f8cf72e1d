// How fast memory can be read, written and copied on the `host` device: kind `traffic`, beside
// memcpy, memset, a loop that reads one element after the other, and non-temporal stores of a
// quarter of a line. Interleaved: all of them once, in turn, again and again.
//
//   traffic_bench [--mebibytes=N] [--rounds=N]

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

std::int64_t mebibytes = 256;
std::int64_t rounds = 21;

/// A piece of memory for each thread in turn.
using loop = std::function<void(float* to, const float* from, std::int64_t count)>;

class loop_operation final : public host_operation {
 public:
  loop_operation(loop body, float* to, const float* from, std::int64_t count)
      : body_(std::move(body)), to_(to), from_(from), count_(count) {}

  std::string_view name() const noexcept override { return "loop"; }

  void run() override {
    constexpr std::int64_t piece = 1 << 18;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count_; i += piece) {
      body_(to_ + i, from_ + i, std::min(piece, count_ - i));
    }
  }

 private:
  loop body_;
  float* to_;
  const float* from_;
  std::int64_t count_;
};

void read_in_a_row(float* to, const float* from, std::int64_t count) {
  using lanes = float __attribute__((vector_size(16)));
  lanes sums[8] = {};
  for (std::int64_t i = 0; i + 32 <= count; i += 32) {
    for (int j = 0; j < 8; ++j) {
      lanes values;
      std::memcpy(&values, from + i + 4 * j, sizeof values);
      sums[j] += values;
    }
  }
  for (int j = 1; j < 8; ++j) sums[0] += sums[j];
  std::memcpy(to, &sums[0], sizeof sums[0]);
}

#if defined(__x86_64__)
void copy_by_quarter_lines(float* to, const float* from, std::int64_t count) {
  for (std::int64_t i = 0; i + 16 <= count; i += 16) {
    __builtin_prefetch(from + i + 512, 0, 0);
    for (int j = 0; j < 16; j += 4) _mm_stream_ps(to + i + j, _mm_loadu_ps(from + i + j));
  }
  _mm_sfence();
}
#endif

struct candidate {
  std::string name;
  double bytes = 0;  ///< for each byte of the tensor
  std::function<void(stream&)> enqueue;
  std::vector<double> seconds = {};
};

class trial {
 public:
  explicit trial(int threads)
      : device_(open_host_device(threads)),
        stream_(device_->make_stream("bench", priority::normal)),
        type_{{mebibytes * 262'144}, dtype::float32},
        from_(device_->allocate(type_.bytes())),
        to_(device_->allocate(type_.bytes())) {
    std::fill_n(static_cast<float*>(from_.data()), type_.shape.elements(), 1.0F);
    add_stage("read", 1);
    add_loop("a row of addresses", 1, read_in_a_row);
    add_stage("write", 1);
    add_loop("memset", 1, [](float* to, const float*, std::int64_t count) {
      std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(float));
    });
    add_stage("copy", 2);
#if defined(__x86_64__)
    add_loop("quarter-line stores", 2, copy_by_quarter_lines);
#endif
    add_loop("memcpy", 2, [](float* to, const float* from, std::int64_t count) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
    });
  }

  void measure() {
    for (std::int64_t round = 0; round <= rounds; ++round) {
      for (candidate& c : all_) {
        const nanoseconds begin = now();
        c.enqueue(*stream_);
        device_->synchronize(wait_mode::spin);
        if (round > 0) c.seconds.push_back(static_cast<double>(now() - begin) * 1e-9);
      }
    }
    fmt::print("  {:<22}{:>14}{:>12}\n", "", "median GB/s", "best GB/s");
    for (candidate& c : all_) {
      std::ranges::sort(c.seconds);
      const auto rate = [&](double seconds) {
        return c.bytes * static_cast<double>(type_.bytes()) / seconds * 1e-9;
      };
      fmt::print("  {:<22}{:>14.2f}{:>12.2f}\n", c.name, rate(c.seconds[c.seconds.size() / 2]),
                 rate(c.seconds.front()));
    }
  }

 private:
  void add_stage(const char* method, double bytes) {
    const stage_kind kind = traffic_kind();
    arguments values;
    values.set("method", std::string(method), {});
    diagnostics found;
    const auto shape = kind.infer(values, std::vector{type_}, found);
    found.throw_if_errors();
    stages_.push_back(kind.make_device.at("host")(
        *device_,
        {.name = method, .arguments = values, .inputs = {type_}, .outputs = shape.outputs}));
    stage_tensors tensors;
    tensors.inputs = {{from_.data(), type_}};
    tensors.outputs = {{to_.data(), shape.outputs[0]}};
    const auto& work = works_.emplace_back(stages_.back()->bind(tensors));
    all_.push_back({fmt::format("traffic {}", method), bytes,
                    [work = work.get()](stream& s) { work->enqueue(s); }});
  }

  void add_loop(const char* name, double bytes, loop body) {
    const auto& operation = loops_.emplace_back(std::make_unique<loop_operation>(
        std::move(body), static_cast<float*>(to_.data()), static_cast<const float*>(from_.data()),
        type_.shape.elements()));
    all_.push_back(
        {name, bytes, [operation = operation.get()](stream& s) { host_enqueue(s, *operation); }});
  }

  std::unique_ptr<device> device_;
  std::unique_ptr<stream> stream_;
  tensor_type type_;
  memory from_;
  memory to_;
  std::vector<std::unique_ptr<device_stage>> stages_;
  std::vector<std::unique_ptr<device_work>> works_;
  std::vector<std::unique_ptr<loop_operation>> loops_;
  std::vector<candidate> all_;
};

}  // namespace
}  // namespace graphline

int main(int argc, char** argv) {
  using namespace graphline;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    auto* const to = word.starts_with("--mebibytes=") ? &mebibytes
                     : word.starts_with("--rounds=")  ? &rounds
                                                      : nullptr;
    if (to != nullptr) *to = std::atoll(word.substr(word.find('=') + 1).data());
    if (to == nullptr || *to < 1) {
      fmt::print(stderr, "traffic_bench: not understood: {}\n", word);
      return 2;
    }
  }
  const int cores = usable_cores();
  for (const int threads : {1, cores}) {
    fmt::print("{} MiB, {} thread{}\n", mebibytes, threads, threads == 1 ? "" : "s");
    trial(threads).measure();
    if (cores == 1) break;
  }
  return 0;
}
