// ONNX's node tests (Debian's libonnx-testdata): models of one operator, or of the nodes of a
// function, with inputs and expected outputs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "tests/stages/nn/onnx/onnx_test_data.hpp"

namespace graphline::test {

using namespace nn;
namespace {

namespace fs = std::filesystem;

/// Cases of supported operators that are refused or have another output.
const std::map<std::string, const char*> exceptions = {
    {"test_cast_FLOAT_to_STRING", "strings are refused"},
    {"test_cast_STRING_to_FLOAT", "strings are refused"},
    {"test_castlike_FLOAT_to_STRING_expanded", "strings are refused"},
    {"test_castlike_STRING_to_FLOAT_expanded", "strings are refused"},
    {"test_identity_opt", "an optional value is refused"},
    {"test_identity_sequence", "a sequence is refused"},
    {"test_cast_FLOAT_to_BFLOAT16", "the reference cuts off the bits that PyTorch and we round"},
    {"test_castlike_FLOAT_to_BFLOAT16_expanded", "as above"},
    {"test_blackmanwindow_expanded", "the reference takes 3.1415 for pi, the model's nodes do not"},
    {"test_blackmanwindow_symmetric_expanded", "as above"},
    {"test_hammingwindow_expanded", "as above"},
    {"test_hammingwindow_symmetric_expanded", "as above"},
    {"test_hannwindow_expanded", "as above"},
    {"test_hannwindow_symmetric_expanded", "as above"}};

/// Whether a number is within 1e-6 of the expected one, relative to it or to `scale`.
bool near(double value, double expected, double scale) {
  if (std::isnan(expected)) return std::isnan(value);
  return value == expected ||
         std::abs(value - expected) <= 1e-6 * std::max(std::abs(expected), scale);
}

/// Describes the first difference; empty if there is none.
std::string difference(const onnx_tensor& got, const onnx_tensor& expected, double scale) {
  if (got.element != expected.element || got.extents != expected.extents) {
    return "is " + std::string(to_string(got.element)) + " " + to_string(got.extents) + ", not " +
           std::string(to_string(expected.element)) + " " + to_string(expected.extents);
  }
  std::string problem;
  std::visit(
      [&]<class Value>(const std::vector<Value>& values) {
        const auto& right = std::get<std::vector<Value>>(expected.values);
        for (std::size_t i = 0; i < right.size(); ++i) {
          const bool same = std::is_integral_v<Value> ? values[i] == right[i]
                                                      : near(static_cast<double>(values[i]),
                                                             static_cast<double>(right[i]), scale);
          if (!same) {
            problem = std::to_string(values[i]) + " where " + std::to_string(right[i]) +
                      " is expected, at " + std::to_string(i);
          }
        }
      },
      got.values);
  return problem;
}

/// Evaluates a model node by node.
std::map<std::string, onnx_tensor> outputs_of(const onnx_model& model,
                                              std::map<std::string, onnx_tensor> values) {
  for (const onnx_tensor& initializer : model.graph.initializers) {
    values[initializer.name] = initializer;
  }
  std::int64_t budget = 1'000'000;
  for (const onnx_node& node : model.graph.nodes) {
    std::vector<const onnx_tensor*> inputs;
    for (const std::string& input : node.inputs) {
      inputs.push_back(input.empty() ? nullptr : &values.at(input));
    }
    auto outputs = evaluate_onnx(node, inputs, budget);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      values[node.outputs.at(i)] = std::move(outputs[i]);
    }
  }
  return values;
}

TEST(onnx_constants, pass_the_node_tests_of_onnx) {
  const fs::path all = "/usr/share/libonnx-testdata/data/node";
  ASSERT_TRUE(fs::exists(all)) << "install libonnx-testdata";
  std::set<std::string_view> tried;
  int models = 0;
  for (const auto& entry : fs::directory_iterator(all)) {
    const std::string name = entry.path().filename();
    // Operators of tests for operator sets below 7 have not changed since.
    const onnx_model model = read_model_as(entry.path(), 17);
    if (!std::ranges::all_of(model.graph.nodes, can_evaluate)) continue;
    SCOPED_TRACE(name);
    // Errors within a function are relative to its operands.
    const double scale = model.graph.nodes.size() > 1 ? 1 : 0;
    for (const auto& set : fs::directory_iterator(entry.path())) {
      if (!set.is_directory()) continue;
      const auto tensor = [&](const char* kind, std::size_t i, const onnx_value& value) {
        return read_tensor(set.path() / (kind + std::to_string(i) + ".pb"), value);
      };
      std::string problem;
      try {
        std::map<std::string, onnx_tensor> values;
        for (std::size_t i = 0; i < model.graph.inputs.size(); ++i) {
          const onnx_value& input = model.graph.inputs[i];
          values[input.name] = tensor("input_", i, input);
        }
        values = outputs_of(model, std::move(values));
        for (std::size_t i = 0; i < model.graph.outputs.size(); ++i) {
          const onnx_value& output = model.graph.outputs[i];
          problem += difference(values.at(output.name), tensor("output_", i, output), scale);
        }
      } catch (const input_error& refusal) {
        problem = refusal.what();
      }
      EXPECT_EQ(!problem.empty(), exceptions.contains(name)) << problem;
    }
    for (const onnx_node& node : model.graph.nodes) {
      for (const std::string_view known : evaluated_operators()) {
        if (known == node.op_type) tried.insert(known);
      }
    }
    ++models;
  }
  EXPECT_GE(models, 386) << "with the exceptions";
  std::vector<std::string_view> untried = evaluated_operators();
  std::erase_if(untried, [&](std::string_view name) { return tried.contains(name); });
  // The tests end at operator set 17.
  EXPECT_THAT(untried, testing::ElementsAre("Mish"));
}

}  // namespace
}  // namespace graphline::test
