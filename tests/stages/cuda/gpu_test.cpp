// The stages of a `cuda` device on a GPU, compared with the host: the real kernels and libraries.
// Skipped without a GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/precision.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/stages/cuda/cuda_trial.hpp"
#include "tests/stages/network/reference_cases.hpp"

namespace graphline::test {

namespace {

/// Limits for sums of operands with 24, 11, 11 and 8 bits.
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
    device_ = open_cuda_device(0);
  }
};

TEST_F(gpu_stages, read_write_and_copy_a_tensor_as_the_host_does) {
  for (const char* const method : {"read", "write", "copy"}) {
    expect_as_on_host("traffic", std::string("{method: ") + method + "}", {floats({200'003})}, 1e-4,
                      method);
  }
}

using precision_word = std::pair<std::string_view, precision>;

class gpu_networks : public gpu_stages, public testing::WithParamInterface<precision_word> {};

TEST_P(gpu_networks, compute_as_the_host_does) {
  const auto& [text, p] = GetParam();
  for (const reference_case& wanted : reference_cases()) {
    arguments values = wanted.values;
    values.set("precision", std::string(text), {});
    values.set("tune", false, {});
    expect_as_on_host("network", values, wanted.types, tolerance(p), wanted.name);
  }
}

INSTANTIATE_TEST_SUITE_P(in, gpu_networks, testing::ValuesIn(precision_words),
                         [](const auto& given) { return std::string(given.param.first); });

TEST_F(gpu_stages, compute_a_wide_network_as_the_host_does) {
  for (const auto& [text, p] : precision_words) {
    expect_as_on_host("network",
                      R"(
precision: )" + std::string(text) +
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
                      {floats({4, 3, 50, 46})}, tolerance(p), std::string(text));
  }
}

TEST_F(gpu_stages, average_large_windows_in_both_layouts) {
  expect_as_on_host("network", "layers: [adaptive_avg_pool2d: {output: 1}]",
                    {floats({2, 70, 40, 40})}, 1e-5, "row-major");
  expect_as_on_host(
      "network",
      "layers: [conv2d: {out_channels: 72, kernel: 1}, adaptive_avg_pool2d: {output: 2}]",
      {floats({2, 8, 40, 40})}, 1e-4, "channels last");
}

TEST_F(gpu_stages, multiply_matrices_with_vectors) {
  for (const auto& [text, p] : precision_words) {
    expect_as_on_host("matmul", "{precision: " + std::string(text) + "}",
                      {floats({12, 20, 8, 1, 64}), floats({12, 1, 8, 64, 1})}, tolerance(p),
                      std::string(text));
  }
}

TEST_F(gpu_stages, multiply_rows_with_vectors_of_every_shape) {
  expect_fused_gemv_as_on_host();
  expect_as_on_host("matmul", "{method: library}",
                    {floats({12, 20, 8, 1, 64}), floats({12, 1, 8, 64, 1})}, 1e-5,
                    "by the library");
}

}  // namespace

}  // namespace graphline::test
