// Every layer against PyTorch's results, made by make_references.py.

#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "stages/nn/weights/safetensors.hpp"
#include "tests/base/environment_guard.hpp"
#include "tests/stages/network/reference_cases.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

class references : public testing::TestWithParam<reference_case> {
 protected:
  void expect_agreement(int threads) {
    const reference_case& wanted = GetParam();
    safetensors_file stored(reference_file("tensors.safetensors"));
    const stage_kind kind = network_kind();
    diagnostics out;
    const prepared_stage inferred = prepare(kind, wanted.values, wanted.types, out);
    ASSERT_FALSE(out.has_errors()) << out.render();

    std::vector<std::vector<float>> inputs;
    for (std::size_t i = 0; i < wanted.inputs.size(); ++i) {
      inputs.push_back(
          stored.read_float32(wanted.name + "." + wanted.inputs[i], wanted.types[i].shape));
    }
    stage_trial trial(kind, wanted.values, wanted.types, threads);
    trial.run(inputs);
    ASSERT_EQ(inferred.outputs.size(), wanted.outputs.size());
    for (std::size_t i = 0; i < wanted.outputs.size(); ++i) {
      // The inferred shape must be PyTorch's, or this throws.
      const std::vector<float> expected =
          stored.read_float32(wanted.name + "." + wanted.outputs[i], inferred.outputs[i].shape);
      EXPECT_LE(difference(trial.output(0, i), expected), 1e-5)
          << wanted.outputs[i] << ", " << testing::PrintToString(trial.operations());
    }
  }
};

TEST_P(references, agree_with_one_thread) {
  expect_agreement(1);
}
TEST_P(references, agree_with_two_threads) {
  expect_agreement(2);
}

INSTANTIATE_TEST_SUITE_P(pytorch, references, testing::ValuesIn(reference_cases()),
                         [](const auto& given) { return given.param.name; });

TEST(reference_file, is_reported_if_missing) {
  const environment_guard elsewhere("GRAPHLINE_REFERENCES", "/nowhere");
  EXPECT_THROW(reference_cases(), std::runtime_error);
}

}  // namespace

}  // namespace graphline::test
