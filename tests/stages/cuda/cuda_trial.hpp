#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/device/cuda/cuda_device.hpp"
#include "stages/builtin.hpp"
#include "tests/stages/product_samples.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

/// The number of kernels and operations enqueued so far with fake_libraries.cpp. Programs that link
/// the fake CUDA runtime use it instead of the project's kernels, cuDNN and cuBLASLt; it executes
/// the work on the CPU in stream order.
std::size_t enqueued_operations();

/// Stages on the first `cuda` device, real or fake.
class cuda_trial : public testing::Test {
 protected:
  stage_trial on_cuda(const std::string& kind, const std::string& yaml,
                      const std::vector<tensor_type>& inputs, int slots = 1) const {
    return {device_, kind_of(kind), read_arguments(kind_of(kind), yaml), inputs, slots};
  }

  /// The output of the same stage on the host.
  std::vector<float> on_host(const std::string& kind, const std::string& yaml,
                             const std::vector<tensor_type>& inputs,
                             const std::vector<std::vector<float>>& values) const {
    return stage_trial(kind_of(kind), yaml, inputs).run(values);
  }

  /// Runs a stage once by itself and once from a graph, and compares both with the host.
  void expect_as_on_host(const std::string& kind, const arguments& values,
                         const std::vector<tensor_type>& inputs, double limit,
                         const std::string& what) const {
    const std::vector<std::vector<float>> given = some_inputs(inputs);
    const std::vector<float> expected = stage_trial(kind_of(kind), values, inputs).run(given);
    stage_trial trial(device_, kind_of(kind), values, inputs);
    EXPECT_LE(difference(trial.run(given), expected), limit) << what;
    EXPECT_LE(difference(trial.run_graph(given), expected), limit) << what << ", from a graph";
  }
  void expect_as_on_host(const std::string& kind, const std::string& yaml,
                         const std::vector<tensor_type>& inputs, double limit,
                         const std::string& what) const {
    expect_as_on_host(kind, read_arguments(kind_of(kind), yaml), inputs, limit, what);
  }

  /// Products with vectors of all shapes, by one kernel.
  void expect_fused_gemv_as_on_host() const {
    for (const gemv_case& wanted : gemv_cases()) {
      expect_as_on_host("matmul", "{method: fused}", {floats(wanted.a), floats(wanted.x)}, 1e-5,
                        to_string(wanted.a) + " x " + to_string(wanted.x));
    }
  }

  static std::vector<std::vector<float>> some_inputs(const std::vector<tensor_type>& types) {
    std::vector<std::vector<float>> values;
    for (const tensor_type& type : types) {
      values.push_back(some_values(type.shape.elements(), values.size() + 1));
    }
    return values;
  }

  const stage_kind& kind_of(const std::string& name) const { return *builtin_.find(name); }

  const stage_registry builtin_ = builtin_stages();
  std::shared_ptr<device> device_;
};

}  // namespace graphline::test
