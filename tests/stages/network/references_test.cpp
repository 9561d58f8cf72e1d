// Every layer against what PyTorch computed; the references are made by make_references.py.

#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "stages/weights/safetensors.hpp"
#include "tests/base/environment_guard.hpp"
#include "tests/stages/network/reference_cases.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

class references : public testing::TestWithParam<reference_case> {
 protected:
  void expect_agreement(int threads) {
    const reference_case& wanted = GetParam();
    safetensors_file stored(reference_file("tensors.safetensors"));
    const stage_kind kind = network_kind();
    const arguments values = arguments_of(wanted);
    const std::vector<tensor_type> inputs{floats(wanted.input)};
    diagnostics out;
    const stage_shape inferred = kind.infer(values, inputs, out);
    ASSERT_FALSE(out.has_errors()) << out.render();

    const std::vector<float> input = stored.read_float32(wanted.name + ".input", wanted.input);
    // The shape that was inferred must be PyTorch's, or this throws.
    const std::vector<float> expected =
        stored.read_float32(wanted.name + ".output", inferred.outputs.at(0).shape);
    stage_trial trial(kind, values, inputs, threads);
    EXPECT_LE(difference(trial.run({input}), expected), 1e-5)
        << testing::PrintToString(trial.operations());
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

TEST(reference_file, is_missed_where_there_are_none) {
  const environment_guard elsewhere("GRAPHLINE_REFERENCES", "/nowhere");
  EXPECT_THROW(reference_cases(), std::runtime_error);
}

}  // namespace

}  // namespace graphline::test
