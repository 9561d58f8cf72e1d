// Imported models on the host, and lowered for `cuda` on the CPU, against the expected outputs of
// ONNX's tests (Debian's libonnx-testdata) and of PyTorch.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <random>

#include "framework/base/error.hpp"
#include "stages/nn/onnx/onnx_import.hpp"
#include "tests/stages/nn/onnx/model_text.hpp"
#include "tests/stages/nn/onnx/network_carriers.hpp"
#include "tests/stages/nn/onnx/onnx_test_data.hpp"

namespace graphline::test {

using namespace nn;

namespace {

namespace fs = std::filesystem;

/// Tests whose outputs differ from later versions of ONNX and from ONNX Runtime.
const std::map<std::string, const char*> other_outputs = {
    {"test_resize_downsample_scales_cubic_align_corners", "as below"},
    {"test_resize_downsample_scales_linear_align_corners",
     "the reference scaled corners by the length before it is rounded to whole elements"}};

/// Outcome of a test.
struct outcome {
  bool compared = false;
  std::string why_not;  ///< if refused
};

/// The first data set of a test; empty if some of it has a type without tensors.
struct test_data {
  onnx_model model;
  std::vector<onnx_tensor> inputs;
  std::vector<onnx_tensor> outputs;
};

std::optional<test_data> read_test(const fs::path& folder) {
  test_data data{read_model(folder), {}, {}};
  const auto read = [&](const char* kind, const std::vector<onnx_value>& values,
                        std::vector<onnx_tensor>& to) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!read_as(values[i].element)) return false;
      to.push_back(
          read_tensor(folder / "test_data_set_0" / (kind + std::to_string(i) + ".pb"), values[i]));
    }
    return true;
  };
  if (!read("input_", data.model.graph.inputs, data.inputs)) return {};
  if (!read("output_", data.model.graph.outputs, data.outputs)) return {};
  return data;
}

/// Runs the model.
values_of_tensors run_model(const test_data& data, carry_out on, diagnostics& problems) {
  std::vector<std::pair<std::string, tensor_type>> types;
  values_of_tensors inputs;
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    const onnx_value& input = data.model.graph.inputs[i];
    types.push_back({input.name, {data.inputs[i].extents, *read_as(input.element)}});
    inputs.push_back(floats_of(data.inputs[i]));
  }
  std::vector<std::string> names;
  for (const onnx_value& value : data.model.graph.outputs) names.push_back(value.name);
  const onnx_network network = import_onnx(data.model, types, names, {}, problems);
  return problems.has_errors() ? values_of_tensors{} : on(network, inputs);
}

/// The test with all inputs but the first as constants, like weights.
test_data with_constants(test_data data) {
  for (std::size_t i = 1; i < data.inputs.size(); ++i) {
    data.inputs[i].name = data.model.graph.inputs[i].name;
    data.model.graph.initializers.push_back(std::move(data.inputs[i]));
  }
  data.inputs.resize(1);
  data.model.graph.inputs.resize(1);
  return data;
}

/// The test with all inputs as constants. Its outputs are added to a new input, a zero.
test_data constant_alone(test_data data) {
  onnx_graph& graph = data.model.graph;
  graph.inputs.push_back({.name = "zero", .element = onnx_type::float32, .extents = {}});
  data.inputs.push_back({.element = onnx_type::float32, .values = std::vector{0.0F}});
  std::swap(graph.inputs.front(), graph.inputs.back());
  std::swap(data.inputs.front(), data.inputs.back());
  data = with_constants(std::move(data));
  for (onnx_value& output : data.model.graph.outputs) {
    const std::string number = output.name + " as float32";
    const onnx_attribute to_float32{"to", std::int64_t{1}};
    graph.nodes.push_back({number, "Cast", "", {output.name}, {number}, {to_float32}});
    output.name += " and zero";
    graph.nodes.push_back({output.name, "Add", "", {number, "zero"}, {output.name}, {}});
  }
  return data;
}

void expect_outputs(const test_data& data, const values_of_tensors& outputs) {
  for (std::size_t i = 0; i < data.outputs.size(); ++i) {
    const std::vector<float> expected = floats_of(data.outputs[i]);
    // 16-bit floats stay float32.
    const onnx_type type = data.outputs[i].element;
    const float relative = size_of(type) == 2 && !is_whole(type) ? 1e-2F : 1e-4F;
    EXPECT_EQ(outputs.at(i).size(), expected.size());
    if (outputs[i].size() != expected.size()) continue;
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const bool same = std::isnan(expected[k]) ? std::isnan(outputs[i][k])
                                                : outputs[i][k] == expected[k] ||
                                                      std::abs(outputs[i][k] - expected[k]) <=
                                                          1e-5F + relative * std::abs(expected[k]);
      if (!same && wrong++ == 0) {
        ADD_FAILURE() << outputs[i][k] << " where " << expected[k] << " is expected, at " << k
                      << " of " << data.outputs[i].name;
      }
    }
  }
}

outcome try_model(const fs::path& folder, carry_out on) {
  auto data = read_test(folder);
  if (!data) return {};
  const auto counts = [&] { return !counted_outputs(data->model.graph).empty(); };
  if (counts() && data->inputs.size() > 1) data = with_constants(std::move(*data));
  if (counts()) return {};  // onnx_counted_rows_test.cpp compares counted outputs
  diagnostics problems;
  auto outputs = run_model(*data, on, problems);
  if (problems.has_errors() && data->inputs.size() > 1) {
    data = with_constants(std::move(*data));
    problems = {};
    outputs = run_model(*data, on, problems);
  }
  if (problems.has_errors()) return {false, problems.all().front().message};
  expect_outputs(*data, outputs);
  return {true, ""};
}

/// Runs all tests of a folder and prints refusals; returns how many were compared.
int try_folder(const fs::path& all, carry_out on) {
  std::map<std::string, std::vector<std::string>> refused;
  if (!fs::exists(all)) {
    ADD_FAILURE() << all << " is missing; libonnx-testdata brings those of ONNX";
    return 0;
  }
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(all)) {
    if (other_outputs.contains(entry.path().filename())) continue;
    SCOPED_TRACE(entry.path().filename());
    outcome result;
    try {
      result = try_model(entry.path(), on);
    } catch (const std::exception& problem) {
      ADD_FAILURE() << problem.what();
    }
    if (result.compared) ++compared;
    if (!result.why_not.empty()) refused[result.why_not].push_back(entry.path().filename());
  }
  for (const auto& [why, tests] : refused) {
    std::cout << why << ": " << tests.size() << " (" << tests.front() << ")\n";
  }
  std::cout << all << ": " << compared << " compared\n";
  return compared;
}

/// A recurrent operator with three hidden units and what its equations say of it.
struct recurrent_case {
  std::string op_type;
  std::size_t gates;
  bool peepholes = false;
  bool reset_after = false;
};

/// The tensors of one direction.
struct recurrent_weights {
  const float* weight;
  const float* recurrent;
  const float* bias;
  const float* hidden;
  const float* cell;
  const float* peepholes;
};

/// One direction by ONNX's formulas on x [steps, 1, 2]: the hidden state after each step and the
/// last cell state.
struct recurrent_states {
  std::vector<std::array<double, 3>> hidden;
  std::array<double, 3> cell;
};
recurrent_states states_of(const recurrent_case& of, const std::vector<float>& x,
                           const recurrent_weights& with) {
  const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
  const auto product = [](const float* row, const auto& column, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += static_cast<double>(row[i]) * static_cast<double>(column[i]);
    }
    return sum;
  };
  recurrent_states states{{}, {with.cell[0], with.cell[1], with.cell[2]}};
  std::array<double, 3> h{with.hidden[0], with.hidden[1], with.hidden[2]};
  for (std::size_t step = 0; step < x.size() / 2; ++step) {
    const auto of_x = [&](std::size_t row) {
      return static_cast<double>(with.bias[row]) + product(with.weight + row * 2, &x[step * 2], 2);
    };
    const auto of_hidden = [&](std::size_t row, const std::array<double, 3>& hidden) {
      return static_cast<double>(with.bias[3 * of.gates + row]) +
             product(with.recurrent + row * 3, hidden, 3);
    };
    const std::array<double, 3> before = h;
    const auto gate = [&](std::size_t which, std::size_t i) {
      return of_x(3 * which + i) + of_hidden(3 * which + i, before);
    };
    if (of.op_type == "RNN") {
      for (std::size_t i = 0; i < 3; ++i) h[i] = std::tanh(gate(0, i));
    } else if (of.op_type == "GRU") {  // update, reset, hidden
      std::array<double, 3> reset{};
      for (std::size_t i = 0; i < 3; ++i) reset[i] = sigmoid(gate(1, i)) * before[i];
      for (std::size_t i = 0; i < 3; ++i) {
        const double update = sigmoid(gate(0, i));
        const double seen = of.reset_after ? sigmoid(gate(1, i)) * of_hidden(6 + i, before)
                                           : of_hidden(6 + i, reset);
        h[i] = (1 - update) * std::tanh(of_x(6 + i) + seen) + update * before[i];
      }
    } else {  // input, output, forget, cell
      const auto peephole = [&](std::size_t which, std::size_t i, double cell) {
        return of.peepholes ? static_cast<double>(with.peepholes[which * 3 + i]) * cell : 0.0;
      };
      for (std::size_t i = 0; i < 3; ++i) {
        double& c = states.cell[i];
        const double input = sigmoid(gate(0, i) + peephole(0, i, c));
        c = sigmoid(gate(2, i) + peephole(2, i, c)) * c + input * std::tanh(gate(3, i));
        h[i] = sigmoid(gate(1, i) + peephole(1, i, c)) * std::tanh(c);
      }
    }
    states.hidden.push_back(h);
  }
  return states;
}

class onnx_import : public carried_out {};

GRAPHLINE_CARRY_OUT(onnx_import);

void expect_states(const recurrent_case& of, const std::string& direction, carry_out on) {
  constexpr std::size_t steps = 4;
  std::mt19937 random(1);
  const std::int64_t ways = direction == "bidirectional" ? 2 : 1;
  const auto gates = static_cast<std::int64_t>(of.gates);
  const bool is_lstm = of.op_type == "LSTM";
  std::vector<std::string> inputs{"x", "w", "r", "b", "", "h"};
  if (is_lstm) inputs.push_back("c");
  if (of.peepholes) inputs.push_back("p");
  std::vector<std::string> outputs{"y", "yh"};
  if (is_lstm) outputs.push_back("yc");
  written::message graph;
  written::message node = written::node(of.op_type, inputs, outputs)
                              .add(5, written::attribute("direction", 3).text(4, direction));
  if (of.reset_after) node.add(5, integer("linear_before_reset", 1));
  graph.add(1, node);
  for (const std::string& name : inputs) {
    if (!name.empty()) graph.add(11, written::value(name, {}));
  }
  for (const std::string& name : outputs) graph.add(12, written::value(name, {}));
  test_data data{parse_model(written::model(graph).bytes()), {}, {}};
  std::vector<std::vector<float>> drawn;
  for (const shape& extents :
       {shape{steps, 1, 2}, shape{ways, 3 * gates, 2}, shape{ways, 3 * gates, 3},
        shape{ways, 6 * gates}, shape{ways, 1, 3}, shape{ways, 1, 3}, shape{ways, 9}}) {
    std::vector<float>& values = drawn.emplace_back(static_cast<std::size_t>(extents.elements()));
    for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
    if (data.inputs.size() == data.model.graph.inputs.size()) continue;
    data.inputs.push_back({"", onnx_type::float32, extents, values});
  }
  std::vector<float> x = drawn[0];
  diagnostics problems;
  const auto given = run_model(with_constants(std::move(data)), on, problems);
  ASSERT_FALSE(problems.has_errors()) << problems.all().front().message;
  for (std::size_t way = 0; way < static_cast<std::size_t>(ways); ++way) {
    const bool backward = direction == "reverse" || way == 1;
    if (backward) {
      for (std::size_t step = 0; step < steps / 2; ++step) {
        std::swap_ranges(&x[2 * step], &x[2 * step] + 2, &x[2 * (steps - 1 - step)]);
      }
    }
    const auto own = [&](std::size_t input) {
      return drawn[input].data() + way * drawn[input].size() / static_cast<std::size_t>(ways);
    };
    const recurrent_states expected =
        states_of(of, x, {own(1), own(2), own(3), own(4), own(5), own(6)});
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t step = 0; step < steps; ++step) {
        const std::size_t at = backward ? steps - 1 - step : step;
        EXPECT_NEAR(given[0][(at * static_cast<std::size_t>(ways) + way) * 3 + i],
                    expected.hidden[step][i], 1e-6);
      }
      EXPECT_NEAR(given[1][way * 3 + i], expected.hidden.back()[i], 1e-6);
      if (is_lstm) {
        EXPECT_NEAR(given[2][way * 3 + i], expected.cell[i], 1e-6);
      }
    }
  }
}

TEST_P(onnx_import, recurrent_networks_go_forward_backward_and_both_ways) {
  const recurrent_case cases[] = {{"LSTM", 4},
                                  {.op_type = "LSTM", .gates = 4, .peepholes = true},
                                  {"GRU", 3},
                                  {.op_type = "GRU", .gates = 3, .reset_after = true},
                                  {"RNN", 1}};
  for (const recurrent_case& of : cases) {
    for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
      SCOPED_TRACE(of.op_type + " " + direction);
      expect_states(of, direction, on());
    }
  }
}

TEST_P(onnx_import, gathers_by_indices_that_are_inputs) {
  const std::vector<float> table = drawn(5 * 3, 1);
  const std::vector<float> numbers{0, 4, 2, 2, -1, -5, 3, 1};
  const std::vector<std::size_t> taken{0, 4, 2, 2, 4, 0, 3, 1};
  model_text text;
  const auto rows = text.node("Gather", {text.constant({5, 3}, table), "x"});
  const auto columns = text.node("Gather", {"y", "x"}, {integer("axis", 1)});
  const auto both = text.node("Add", {rows, columns});
  diagnostics problems;
  const onnx_network network = import_onnx(
      text.model({{}, {}}, both),
      {{"x", {{2, 4}, dtype::int32}}, {"y", {{1, 5, 3}, dtype::float32}}}, {both}, {}, problems);
  ASSERT_FALSE(problems.has_errors()) << problems.render();
  const std::vector<float> y = drawn(5 * 3, 2);
  std::vector<float> expected;
  for (const std::size_t row : taken) {
    for (std::size_t i = 0; i < 3; ++i) expected.push_back(table[row * 3 + i] + y[row * 3 + i]);
  }
  EXPECT_EQ(on()(network, {numbers, y}).front(), expected);
  const cost& of_rows = network.definition.layers[1].cost;
  EXPECT_EQ(of_rows.parameters, 15);
  // The taken elements; the indices are read by the conversion.
  EXPECT_EQ(of_rows.bytes_read, 4 * 8 * 3);
  EXPECT_EQ(network.definition.layers[0].cost.bytes_read, 4 * 8);
}

TEST_P(onnx_import, gathers_and_scatters_elements_by_indices_that_are_inputs) {
  const std::vector<float> x = drawn(2 * 3 * 2, 1), updates = drawn(3 * 2, 2);
  const auto run = [&](const std::string& op_type, const shape& indices,
                       const std::vector<float>& numbers, const shape& updated,
                       const std::vector<written::message>& attributes) {
    model_text text;
    std::vector<std::string> reads{"x", "y"};
    std::vector<std::pair<std::string, tensor_type>> types{{"x", {{2, 3, 2}, dtype::float32}},
                                                           {"y", {indices, dtype::int32}}};
    values_of_tensors inputs{x, numbers};
    if (updated.rank() > 0) {
      reads.push_back("z");
      types.push_back({"z", {updated, dtype::float32}});
      inputs.emplace_back(updates.begin(), updates.begin() + updated.elements());
    }
    const auto node = text.node(op_type, reads, attributes);
    diagnostics problems;
    const onnx_network network =
        import_onnx(text.model(std::vector<std::vector<std::string>>(reads.size()), node), types,
                    {node}, {}, problems);
    EXPECT_FALSE(problems.has_errors()) << problems.render();
    return on()(network, inputs).front();
  };
  EXPECT_EQ(run("GatherElements", {1, 2, 2}, {2, 0, -1, 1}, {}, {integer("axis", 1)}),
            (std::vector{x[4], x[1], x[4], x[3]}));
  EXPECT_EQ(run("GatherND", {2, 2}, {1, 2, -1, 0}, {}, {}),
            (std::vector{x[10], x[11], x[6], x[7]}));
  EXPECT_EQ(run("GatherND", {2, 1}, {1, -1}, {}, {integer("batch_dims", 1)}),
            (std::vector{x[2], x[3], x[10], x[11]}));
  EXPECT_EQ(run("ScatterElements", {1, 1, 2}, {2, 0}, {1, 1, 2}, {integer("axis", 1)}),
            (std::vector{x[0], updates[1], x[2], x[3], updates[0], x[5], x[6], x[7], x[8], x[9],
                         x[10], x[11]}));
  EXPECT_EQ(run("ScatterND", {2, 2}, {1, 2, 0, -3}, {2, 2}, {}),
            (std::vector{updates[2], updates[3], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9],
                         updates[0], updates[1]}));
  std::vector<float> expected = x;
  for (std::size_t i = 0; i < 6; ++i) expected[6 + i % 2] += updates[i];  // one row three times
  const auto sums = run("ScatterND", {3, 2}, {1, 0, 1, 0, 1, 0}, {3, 2},
                        {written::attribute("reduction", 3).text(4, "add")});
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(sums[i], expected[i], 1e-6F) << i;
}

/// Weights of a convolution that the model computes from constants.
TEST_P(onnx_import, evaluates_the_weights_of_a_convolution) {
  const std::vector<float> v = drawn(4 * 3 * 2 * 2, 1), x = drawn(3 * 2 * 2, 2);
  model_text text;
  const auto direction = text.constant({4, 3, 2, 2}, v);
  const auto norm = text.node("ReduceL2", {direction}, {integers("axes", {1, 2, 3})});
  const auto scaled =
      text.node("Mul", {text.node("Div", {direction, norm}), text.constant({}, {3})});
  const auto network = text.network({1, 3, 2, 2}, text.node("Conv", "conv", {"x", scaled}));
  EXPECT_EQ(layers_of(network), std::vector<std::string>{"Conv conv"});
  const std::vector<float> found = on()(network, {x}).front();
  for (std::size_t i = 0; i < 4; ++i) {
    double squares = 0;
    double sum = 0;
    for (std::size_t k = 0; k < 12; ++k) {
      squares += static_cast<double>(v[i * 12 + k]) * static_cast<double>(v[i * 12 + k]);
      sum += static_cast<double>(v[i * 12 + k]) * static_cast<double>(x[k]);
    }
    EXPECT_NEAR(found[i], 3 * sum / std::sqrt(squares), 1e-5);
  }
}

TEST_P(onnx_import, a_computed_value_may_be_cast_to_bool) {
  model_text text;
  const auto bits = text.node("Cast", {"x"}, {integer("to", 9)});
  const auto chosen = text.node("Where", {bits, "y", text.constant({}, {-7})});
  diagnostics problems;
  const onnx_network network = import_onnx(
      text.model({{}, {}}, chosen), {{"x", {{4}, dtype::int32}}, {"y", {{4}, dtype::float32}}},
      {chosen}, {}, problems);
  ASSERT_FALSE(problems.has_errors()) << problems.render();
  EXPECT_EQ(on()(network, {{0, 1, -3, 0}, {1, 2, 3, 4}}).front(),
            (std::vector<float>{-7, 2, 3, -7}));
}

/// Integers of every type as inputs and outputs, and bools.
TEST_P(onnx_import, integers_wrap_and_are_written_as_integers) {
  for (const auto& [type, element, wrapped] : {std::tuple{onnx_type::int8, dtype::int32, -56.0F},
                                               {onnx_type::uint8, dtype::uint8, 200.0F},
                                               {onnx_type::int64, dtype::int64, 200.0F}}) {
    written::message graph;
    graph.add(1, written::node("Add", {"x", "x"}, {"sum"}));
    graph.add(1, written::node("Equal", {"x", "sum"}, {"zero"}));
    graph.add(11, written::value("x", {"n"}, type)).add(12, written::value("sum", {"n"}, type));
    graph.add(12, written::value("zero", {"n"}, onnx_type::boolean));
    diagnostics problems;
    const onnx_network network =
        import_onnx(parse_model(written::model(graph).bytes()), {{"x", {{3}, element}}},
                    {"sum", "zero"}, {}, problems);
    ASSERT_FALSE(problems.has_errors()) << problems.render();
    const auto type_of = [&](std::size_t output) {
      return network.definition.values[network.definition.outputs[output]].type.element;
    };
    EXPECT_EQ(type_of(0), element);
    EXPECT_EQ(type_of(1), dtype::uint8);
    const values_of_tensors found = on()(network, {{0, 7, 100}});
    EXPECT_EQ(found[0], (std::vector<float>{0, 14, wrapped}));
    EXPECT_EQ(found[1], (std::vector<float>{1, 0, 0}));
  }
}

/// As tf2onnx writes the embeddings of Keras.
TEST_P(onnx_import, a_value_cast_to_integers_may_be_an_index) {
  model_text text;
  const auto index = text.node("Cast", {"x"}, {integer("to", 6)});
  const auto network =
      text.network({4}, text.node("Gather", {text.constant({3}, {10, 20, 30}), index}));
  EXPECT_EQ(on()(network, {{0.9F, 2.0F, 1.5F, -0.9F}}).front(),
            (std::vector<float>{10, 30, 20, 10}));
}

/// As PyTorch exports a spectrogram in decibels, limited to 80 below its maximum.
TEST_P(onnx_import, a_bound_of_a_clip_may_be_computed) {
  model_text text;
  const auto most = text.node("ReduceMax", {"x"}, {integer("keepdims", 0)});
  const auto least = text.node("Sub", {most, text.constant({}, {80})});
  const auto network = text.network({4}, text.node("Clip", {"x", least}));
  EXPECT_EQ(on()(network, {{-100, -50, 10, 0}}).front(), (std::vector<float>{-70, -50, 10, 0}));
}

/// Afterwards, the rows are counted.
TEST_P(onnx_import, the_number_of_elements_of_top_k_may_be_computed) {
  model_text text;
  const auto most = text.node("ReduceMax", {"x"}, {integers("axes", {0})});
  const auto count = text.node("Cast", {most}, {integer("to", 7)});
  const auto network = text.network({5}, text.node("TopK", {"x", count}));
  EXPECT_EQ(on()(network, {{1, 3, 0, 2, 1}}), (values_of_tensors{{3, 2, 1, 1, 0}, {3}}));
  EXPECT_EQ(on()(network, {{-1, -3, -2, -5, -4}}).at(1), (std::vector<float>{0}));
  EXPECT_EQ(on()(network, {{1, 9, 0, 2, 1}}).at(1), (std::vector<float>{5}));
}

/// As PyTorch exports attention with a mask: the softmax of a row that is masked as a whole is NaN.
TEST_P(onnx_import, what_is_not_a_number_may_be_replaced) {
  const float infinity = std::numeric_limits<float>::infinity();
  model_text text;
  const auto softmax = text.node("Softmax", {"x"});
  const auto network = text.network(
      {2, 2}, text.node("Where", {text.node("IsNaN", {softmax}), text.constant({}, {0}), softmax}));
  EXPECT_EQ(on()(network, {{-infinity, 3, -infinity, -infinity}}).front(),
            (std::vector<float>{0, 1, 0, 0}));
}

TEST_P(onnx_import, quantized_weights_become_weights_of_a_layer) {
  written::message graph;
  graph.add(5, written::tensor("q", onnx_type::int8, {2, 1, 1, 1})
                   .text(9, written::raw<std::int8_t>({-128, 127})));
  graph.add(
      5, written::tensor("scale", onnx_type::float32, {2}).text(9, written::raw<float>({0.5F, 2})));
  graph.add(
      5,
      written::tensor("zero", onnx_type::int8, {2}).text(9, written::raw<std::int8_t>({-28, 100})));
  graph.add(
      1,
      written::node("DequantizeLinear", {"q", "scale", "zero"}, {"w"}).add(5, integer("axis", 0)));
  graph.add(1, written::node("Conv", {"x", "w"}, {"y"}));
  graph.add(11, written::value("x", {"n"})).add(12, written::value("y", {"n"}));
  diagnostics problems;
  const onnx_network network =
      import_onnx(parse_model(written::model(graph).bytes()),
                  {{"x", {{1, 1, 1, 2}, dtype::float32}}}, {"y"}, {}, problems);
  ASSERT_FALSE(problems.has_errors()) << problems.render();
  EXPECT_EQ(network.definition.layers.size(), 1U);
  EXPECT_EQ(network.definition.layers[0].cost.parameters, 2);
  EXPECT_EQ(on()(network, {{1, -3}}).front(), (std::vector<float>{-50, 150, 54, -162}));
}

TEST_P(onnx_import, a_product_of_four_dimensions_takes_a_bias_and_an_activation) {
  const std::vector<float> x = drawn(2 * 3 * 5 * 4, 1), w = drawn(4 * 6, 2), bias = drawn(6, 3);
  model_text text;
  const auto product = text.node("MatMul", {"x", text.constant({4, 6}, w)});
  const auto sum = text.node("Add", {product, text.constant({6}, bias)});
  const auto network = text.network({2, 3, 5, 4}, text.node("Relu", {sum}));
  const std::vector<float> found = on()(network, {x}).front();
  ASSERT_EQ(found.size(), 2U * 3 * 5 * 6);
  for (std::size_t i = 0; i < found.size(); ++i) {
    float expected = bias[i % 6];
    for (std::size_t k = 0; k < 4; ++k) expected += x[i / 6 * 4 + k] * w[k * 6 + i % 6];
    EXPECT_NEAR(found[i], std::max(expected, 0.0F), 1e-5F) << i;
  }
}

TEST_P(onnx_import, a_product_of_many_rows_may_have_512_columns) {
  const std::vector<float> x = drawn(20 * 3, 1), w = drawn(3 * 512, 2);
  model_text text;
  const auto network =
      text.network({20, 3}, text.node("MatMul", {"x", text.constant({3, 512}, w)}));
  const std::vector<float> found = on()(network, {x}).front();
  for (std::size_t i = 0; i < found.size(); ++i) {
    float expected = 0;
    for (std::size_t k = 0; k < 3; ++k) expected += x[i / 512 * 3 + k] * w[k * 512 + i % 512];
    ASSERT_NEAR(found[i], expected, 1e-5F) << i;
  }
}

const fs::path of_onnx = "/usr/share/libonnx-testdata/data";

TEST_P(onnx_import, passes_the_node_tests_of_onnx) {
  EXPECT_GE(try_folder(of_onnx / "node", on()), 611);
}

TEST(onnx_constants, of_any_operator_are_evaluated) {
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(of_onnx / "node")) {
    SCOPED_TRACE(entry.path().filename());
    const std::string name = entry.path().filename();
    const auto data = read_test(entry.path());
    if (!data || other_outputs.contains(name)) continue;
    if (name.find("window") != name.npos) continue;  // the reference takes 3.1415 for pi
    const test_data constant = constant_alone(*data);
    diagnostics problems;
    const values_of_tensors outputs = run_model(constant, on_host, problems);
    if (problems.has_errors()) continue;
    expect_outputs(constant, outputs);
    ++compared;
  }
  EXPECT_GE(compared, 657);
}

TEST_P(onnx_import, passes_the_operators_that_pytorch_exported) {
  EXPECT_GE(try_folder(of_onnx / "pytorch-operator", on()), 35);
}

TEST_P(onnx_import, passes_the_modules_that_pytorch_exported) {
  EXPECT_GE(try_folder(of_onnx / "pytorch-converted", on()), 82);
}

TEST_P(onnx_import, computes_transformers_as_pytorch_does) {  // by make_transformers.py
  EXPECT_EQ(try_folder(GRAPHLINE_SOURCE_DIR "/tests/stages/nn/onnx/transformers", on()), 5);
}

}  // namespace

}  // namespace graphline::test
