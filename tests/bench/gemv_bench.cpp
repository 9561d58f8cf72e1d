// How near matrix-vector products come to what memory gives: kind `gemv` by the library and by its
// own loops, beside a loop that only reads the same operands, on the `host` device, with one
// compute thread and with all. The shares are of medians, and of bests, of interleaved repetitions.
//
//   gemv_bench [--batch=N] [--benchmark_... as Google Benchmark has them]

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"
#include "stages/traffic.hpp"
#include "tests/bench/command_line.hpp"

namespace graphline {
namespace {

std::int64_t batch = 600;

struct product_case {
  const char* name;
  shape a;
  shape x;
};

std::vector<product_case> cases() {
  return {{"heads of 64, a vector per 200 rows", {batch, 200, 8, 1, 64}, {batch, 1, 8, 64, 1}},
          {"rows of 64, a vector per row", {batch, 1600, 1, 64}, {batch, 1600, 64, 1}},
          {"rows of 1000, one vector", {batch * 100, 1000}, {1000, 1}},
          {"rows of 13, a vector per 100 rows", {batch * 40, 100, 13}, {batch * 40, 13, 1}},
          {"8 rows of millions, one vector", {8, batch * 12800}, {batch * 12800, 1}}};
}

/// Reads its operands and does next to nothing with them.
class read_operation final : public host_operation {
 public:
  explicit read_operation(std::vector<tensor_view> operands) : operands_(std::move(operands)) {}

  std::string_view name() const noexcept override { return "read"; }

  void run() override {
    float sum = 0;
#pragma omp parallel reduction(+ : sum)
    for (const tensor_view& operand : operands_) {
      const std::int64_t count = operand.type.shape.elements();
      const std::int64_t threads = omp_get_num_threads();
      const std::int64_t mine = omp_get_thread_num();
      const std::int64_t begin = count * mine / threads;
      sum += sum_of(static_cast<const float*>(operand.data) + begin,
                    count * (mine + 1) / threads - begin);
    }
    benchmark::DoNotOptimize(sum);
  }

 private:
  std::vector<tensor_view> operands_;
};

/// A device, the operands on it, and what is to be timed.
class trial {
 public:
  trial(const product_case& product, int threads)
      : device_(open_host_device(threads)),
        stream_(device_->make_stream("bench", priority::normal)) {
    std::mt19937 generator(1);
    for (const shape& s : {product.a, product.x}) {
      const tensor_type type{s, dtype::float32};
      tensors_.inputs.push_back({allocate(type.bytes()), type});
      auto* values = static_cast<float*>(tensors_.inputs.back().data);
      for (std::int64_t i = 0; i < s.elements(); ++i) {
        values[i] = static_cast<float>(generator() >> 8) * 0x1.0p-23F - 1.0F;
      }
    }
    read_ = std::make_unique<read_operation>(tensors_.inputs);
    for (const char* method : {"library", "fused"}) add_stage(method);
  }

  double bytes() const { return bytes_; }

  /// Seconds that it takes: "read", or `gemv` by a method.
  double time(const std::string& what) {
    const nanoseconds begin = now();
    if (what == "read") {
      host_enqueue(*stream_, *read_);
    } else {
      works_.at(what)->enqueue(*stream_);
    }
    device_->synchronize(wait_mode::block);
    return static_cast<double>(now() - begin) * 1e-9;
  }

 private:
  void* allocate(std::size_t bytes) {
    return memories_.emplace_back(device_->allocate(bytes)).data();
  }

  void add_stage(const char* method) {
    const stage_kind kind = gemv_kind();
    arguments values;
    values.set("method", std::string(method), {});
    diagnostics found;
    const std::vector<tensor_type> inputs{tensors_.inputs[0].type, tensors_.inputs[1].type};
    const stage_shape shape = kind.infer(values, inputs, found);
    found.throw_if_errors();
    bytes_ = static_cast<double>(shape.cost.bytes_read + shape.cost.bytes_written);
    if (tensors_.outputs.empty()) {
      tensors_.outputs.push_back({allocate(shape.outputs[0].bytes()), shape.outputs[0]});
    }
    stages_.push_back(kind.make_device.at("host")(
        *device_,
        {.name = "gemv", .arguments = values, .inputs = inputs, .outputs = shape.outputs}));
    if (const std::size_t bytes = stages_.back()->scratch_bytes(); bytes > 0) {
      tensors_.scratch = allocate(bytes);
    }
    works_[method] = stages_.back()->bind(tensors_);
  }

  std::unique_ptr<device> device_;
  std::unique_ptr<stream> stream_;
  std::vector<memory> memories_;
  stage_tensors tensors_;
  double bytes_ = 0;
  std::unique_ptr<read_operation> read_;
  std::vector<std::unique_ptr<device_stage>> stages_;
  std::map<std::string, std::unique_ptr<device_work>> works_;
};

/// A table of one case: bandwidths of the medians, and shares of that of reading.
class share_reporter final : public sample_reporter {
 public:
  explicit share_reporter(double bytes) : bytes_(bytes) {}

 private:
  void print() const override {
    fmt::print("  {:<8}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "", "median ms", "GB/s", "% of read",
               "best GB/s", "% of read");
    for (const auto& [name, values] : samples()) {
      const double middle = values[values.size() / 2];
      fmt::print("  {:<8}{:>12.3f}{:>12.2f}{:>12}{:>12.2f}{:>12}\n", name, middle * 1e3,
                 bytes_ / middle * 1e-9, share(values.size() / 2, middle),
                 bytes_ / values.front() * 1e-9, share(0, values.front()));
    }
  }

  /// In percent of what reading took in the repetition of that rank; "-" where it did not run.
  std::string share(std::size_t rank, double seconds) const {
    const auto read = samples().find("read");
    return read == samples().end() ? "-"
                                   : fmt::format("{:.0f}", 100 * read->second[rank] / seconds);
  }

  double bytes_;
};

void measure(const product_case& product, int threads) {
  trial t(product, threads);
  fmt::print("{}, {} x {}, {} {}\n", product.name, to_string(product.a), to_string(product.x),
             threads, threads == 1 ? "thread" : "threads");
  benchmark::ClearRegisteredBenchmarks();
  for (const char* what : {"read", "library", "fused"}) {
    t.time(what);
    benchmark::RegisterBenchmark(what,
                                 [&t, what](benchmark::State& state) {
                                   for (auto _ : state) state.SetIterationTime(t.time(what));
                                 })
        ->UseManualTime()
        ->Iterations(3)
        ->Repetitions(11);
  }
  share_reporter reporter(t.bytes());
  benchmark::RunSpecifiedBenchmarks(&reporter);
}

}  // namespace
}  // namespace graphline

int main(int argc, char** argv) {
  using namespace graphline;
  if (!read_command_line(argc, argv, "--batch=", batch)) return 2;

  const int cores = usable_cores();
  for (const product_case& product : cases()) {
    measure(product, 1);
    if (cores > 1) measure(product, cores);
  }
  return 0;
}
