// The stages of a `cuda` device on a GPU, against the host: the real kernels and libraries. Skipped
// where there is no GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/precision.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/stages/gemv/gemv_reference.hpp"
#include "tests/stages/network/cuda/cuda_trial.hpp"
#include "tests/stages/network/reference_cases.hpp"

namespace graphline::test {

namespace {

/// Of results whose sums are made of operands with 24, 11, 11 and 8 bits.
double tolerance(precision p) {
  switch (p) {
    case precision::float32:
      return 1e-4;
    case precision::tf32:
    case precision::float16:
      return 1e-2;
    case precision::bfloat16:
      return 5e-2;
  }
  return 0;
}

class gpu_stages : public cuda_trial {
 protected:
  void SetUp() override {
    std::string reason;
    if (cuda_backend().list(reason).empty()) GTEST_SKIP() << reason;
    open();
  }

  /// Runs the stage once by itself and once from a graph, and compares both with the host.
  void expect_as_on_host(double limit, const std::string& what) {
    const slot s = bind();
    std::vector<std::vector<float>> values;
    for (const tensor_type& type : inputs_) {
      values.push_back(some_values(type.shape.elements(), values.size() + 1));
    }
    set_inputs(s, values);
    const std::vector<float> expected = on_host(values);
    s.work->enqueue(*stream_);
    EXPECT_LE(difference(output(s), expected), limit) << what;
    const auto graph = device_->capture(*stream_, [&] { s.work->enqueue(*stream_); });
    const auto executable = graph->instantiate();
    stream_->fill(s.output.data(), std::byte{0xff}, output_.bytes());
    stream_->launch(*executable);
    EXPECT_LE(difference(output(s), expected), limit) << what << ", from a graph";
  }
};

TEST_F(gpu_stages, read_write_and_copy_a_tensor_as_the_host_does) {
  for (const char* const method : {"read", "write", "copy"}) {
    make("traffic", std::string("{method: ") + method + "}", {floats({200'003})});
    expect_as_on_host(1e-4, method);
  }
}

TEST_F(gpu_stages, compute_every_reference_network_as_the_host_does) {
  for (const reference_case& wanted : reference_cases()) {
    for (const auto& [text, p] : precision_words) {
      arguments values = arguments_of(wanted);
      values.set("precision", std::string(text), {});
      values.set("tune", false, {});
      make("network", std::move(values), {floats(wanted.input)});
      expect_as_on_host(tolerance(p), wanted.name + " in " + std::string(text));
    }
  }
}

TEST_F(gpu_stages, compute_a_wide_network_as_the_host_does) {
  for (const auto& [text, p] : precision_words) {
    make("network",
         R"(
precision: )" +
             std::string(text) +
             R"(
layers:
  - conv2d: {out_channels: 64, kernel: 3, stride: 2, padding: 1}
  - gelu
  - conv2d: {out_channels: 136, kernel: 3, stride: 2, padding: 1}
  - gelu
  - softmax: {dim: 1}
  - flatten
  - linear: {out_features: 600}
  - softmax
)",
         {floats({4, 3, 50, 46})});
    expect_as_on_host(tolerance(p), std::string(text));
  }
}

TEST_F(gpu_stages, average_large_windows_in_both_layouts) {
  make("network", "layers: [adaptive_avg_pool2d: {output: 1}]", {floats({2, 70, 40, 40})});
  expect_as_on_host(1e-5, "row-major");
  make("network",
       "layers: [conv2d: {out_channels: 72, kernel: 1}, adaptive_avg_pool2d: {output: 2}]",
       {floats({2, 8, 40, 40})});
  expect_as_on_host(1e-4, "channels last");
}

TEST_F(gpu_stages, multiply_matrices_with_vectors) {
  for (const auto& [text, p] : precision_words) {
    make("matmul", "{precision: " + std::string(text) + "}",
         {floats({12, 20, 8, 1, 64}), floats({12, 1, 8, 64, 1})});
    expect_as_on_host(tolerance(p), std::string(text));
  }
}

TEST_F(gpu_stages, multiply_rows_with_vectors_of_every_shape) {
  for (const gemv_case& wanted : gemv_cases()) {
    make("gemv", "{method: fused}", {floats(wanted.a), floats(wanted.x)});
    expect_as_on_host(1e-5, to_string(wanted.a) + " x " + to_string(wanted.x));
  }
  make("gemv", "{method: library}", {floats({12, 20, 8, 1, 64}), floats({12, 1, 8, 64, 1})});
  expect_as_on_host(1e-5, "by the library");
}

}  // namespace

}  // namespace graphline::test
