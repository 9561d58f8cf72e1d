// Every layer against PyTorch's results, made by make_references.py.

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

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

TEST_P(references, have_independent_rows_where_the_analysis_says_so) {
  const reference_case& wanted = GetParam();
  stage_trial trial(network_kind(), wanted.values, wanted.types);
  std::vector<std::vector<float>> inputs;
  for (const tensor_type& type : wanted.types) {
    inputs.push_back(some_values(type.shape.elements(), inputs.size() + 1));
  }
  const auto rows = static_cast<std::size_t>(wanted.types[0].shape[0]);
  const std::vector<float> before = trial.run(inputs);
  for (std::vector<float>& input : inputs) {
    for (std::size_t i = 0; i < input.size() / rows; ++i) input[i] = 0.7F - input[i];
  }
  const std::vector<float> after = trial.run(inputs);
  const std::span others = std::span(before).subspan(before.size() / rows);
  const bool stay = std::ranges::equal(others, std::span(after).last(others.size()));
  diagnostics out;
  const prepared_stage prepared = prepare(network_kind(), wanted.values, wanted.types, out);
  EXPECT_EQ(prepared.combined_rows.empty(), stay) << prepared.combined_rows;
}

INSTANTIATE_TEST_SUITE_P(pytorch, references, testing::ValuesIn(reference_cases()),
                         [](const auto& given) { return given.param.name; });

TEST(reference_file, is_reported_if_missing) {
  const environment_guard elsewhere("GRAPHLINE_REFERENCES", "/nowhere");
  EXPECT_THROW(reference_cases(), std::runtime_error);
}

}  // namespace

}  // namespace graphline::test
