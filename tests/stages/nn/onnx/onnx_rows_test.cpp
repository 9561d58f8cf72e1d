// Whether the rows of a network are independent: where the analysis says so, changing the inputs of
// a row changes nothing in the others.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/definition/row_independence.hpp"
#include "tests/stages/nn/onnx/model_text.hpp"
#include "tests/stages/nn/onnx/network_carriers.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;
namespace {

namespace fs = std::filesystem;

std::string combined_rows_of(const onnx_network& network) {
  return combined_rows(network.definition,
                       std::vector<bool>(network.definition.inputs.size(), true));
}

/// Whether all inputs and outputs have the same number of rows, which is at least 2.
bool has_rows(const network_definition& network) {
  const shape& first = network.shape_of(network.inputs.front());
  const auto fits = [&](std::size_t value) {
    const shape& extents = network.shape_of(value);
    return extents.rank() > 0 && extents[0] == first[0] && extents[0] > 1;
  };
  return std::ranges::all_of(network.inputs, fits) && std::ranges::all_of(network.outputs, fits);
}

/// Runs the network on `host` with other inputs in one row at a time.
bool other_rows_stay(const onnx_network& network, const values_of_tensors& inputs) {
  const auto rows =
      static_cast<std::size_t>(network.definition.shape_of(network.definition.inputs.front())[0]);
  const values_of_tensors before = on_host(network, inputs);
  for (std::size_t row = 0; row < rows; ++row) {
    values_of_tensors changed = inputs;
    for (std::vector<float>& values : changed) {
      const std::size_t size = values.size() / rows;
      for (std::size_t i = row * size; i < (row + 1) * size; ++i) values[i] = 0.7F - values[i];
    }
    const values_of_tensors after = on_host(network, changed);
    for (std::size_t output = 0; output < after.size(); ++output) {
      const std::size_t size = after[output].size() / rows;
      for (std::size_t i = 0; i < rows; ++i) {
        if (i != row && std::memcmp(&before[output][i * size], &after[output][i * size],
                                    size * sizeof(float)) != 0) {
          return false;
        }
      }
    }
  }
  return true;
}

/// Layers of a network that reads "a" and "b", their inputs, and what is expected.
struct layers_case {
  const char* layers;
  shape a;
  const char* problem;  ///< what the layer 'last' does; "" if rows are independent
};

constexpr const char* combines = "layer 'last' combines or reorders rows";
constexpr const char* unproven = "cannot prove that layer 'last' keeps rows independent";

TEST(row_independence, is_that_of_each_layer) {
  const layers_case cases[] = {
      {"[softmax: {dim: 0, name: last}]", {4, 6}, combines},
      {"[softmax: {dim: -2, name: last}]", {4, 6}, combines},
      {"[softmax: {dim: -1}]", {4, 6}, ""},
      {"[layer_norm: {name: last}]", {4}, combines},
      {"[permute: {dims: [1, 0]}, linear: {out_features: 5, name: last}, permute: {dims: [1, 0]}]",
       {4, 6},
       combines},
      {"[permute: {dims: [1, 0, 2]}, linear: {out_features: 5}, permute: {dims: [1, 0, 2]}]",
       {4, 6, 3},
       ""},
      {"[permute: {dims: [1, 0], name: last}]", {4, 4}, combines},
      {"[reshape: {shape: [2, 12]}, softmax: {dim: 1, name: last}, reshape: {shape: [4, 6]}]",
       {4, 6},
       unproven},
      {"[reshape: {shape: [6, 4]}, softmax: {dim: 1, name: last}, reshape: {shape: [4, 6]}]",
       {4, 6},
       unproven},
      {"[reshape: {shape: [8, 3]}, linear: {out_features: 2}, reshape: {shape: [4, 4]}]",
       {4, 6},
       ""},
      {"[reshape: {shape: [1, 4, 3, 2]}, conv2d: {out_channels: 4, kernel: 1, name: last},"
       " reshape: {shape: [4, 6]}]",
       {4, 6},
       combines},
      {"[reshape: {shape: [1, 4, 3, 2]}, conv_transpose2d: {out_channels: 4, kernel: 1, name: "
       "last},"
       " reshape: {shape: [4, 6]}]",
       {4, 6},
       combines},
      {"[reshape: {shape: [1, 4, 3, 2]}, batch_norm2d, reshape: {shape: [4, 6]}]", {4, 6}, ""},
      {"[permute: {dims: [1, 2, 0]}, reshape: {shape: [6, 1, 4, 1]},"
       " adaptive_avg_pool2d: {output: [2, 1], name: last}, reshape: {shape: [2, 6]}]",
       {4, 6, 1},
       combines},
      {"[reshape: {shape: [1, 4, 3, 2]}, max_pool2d: {kernel: [3, 1]}, reshape: {shape: [4, 2]}]",
       {4, 6},
       ""},
      {"[permute: {dims: [1, 2, 0]}, reshape: {shape: [6, 1, 4, 1]},"
       " avg_pool2d: {kernel: [2, 1], name: last}, reshape: {shape: [2, 6]}]",
       {4, 6, 1},
       combines},
      {"[permute: {dims: [1, 2, 3, 0]}, upsample: {size: [5, 4], name: last},"
       " permute: {dims: [3, 0, 1, 2]}]",
       {4, 1, 2, 5},
       combines},
      {"[permute: {dims: [1, 0, 2]}, scaled_dot_product_attention: {heads: 2, name: last},"
       " permute: {dims: [1, 0, 2]}]",
       {4, 5, 12},
       combines},
      {"[scaled_dot_product_attention: {heads: 2}]", {4, 5, 12}, ""},
      {"[slice: {dim: 0, start: 1, name: last}]", {4, 6}, unproven},
      {"[concat: {dim: 0, reads: [a, a]}, slice: {dim: 0, start: 4}]", {4, 6}, ""},
      {"[concat: {dim: 0, reads: [a, a]}, slice: {dim: 0, start: 2, end: 6, name: last}]",
       {4, 6},
       unproven},
      {"[permute: {dims: [1, 0], name: turned},"
       " add: {from: a, name: last}]",
       {4, 4},
       combines},
      {"[zero_pad2d: {padding: 1}]", {4, 2, 3, 3}, ""},
      {"[permute: {dims: [1, 2, 3, 0]}, zero_pad2d: {padding: [1, 0, 0, 0], name: last}]",
       {4, 1, 2, 3},
       unproven},
      {"[softmax: {dim: 0}]", {1, 6}, ""}};
  for (const auto& [layers, a, problem] : cases) {
    EXPECT_EQ(prepare(network_kind(), fmt::format("{{inputs: a, layers: {}}}", layers), {floats(a)})
                  .combined_rows,
              problem)
        << layers;
  }
}

/// What the analysis says of one node that reads "x" [4, 6, 5].
std::string of_node(const std::string& op_type, std::vector<std::string> further,
                    const std::vector<written::message>& attributes, model_text text = {}) {
  further.insert(further.begin(), "x");
  return combined_rows_of(text.network({4, 6, 5}, text.node(op_type, "last", further, attributes)));
}

TEST(row_independence, is_that_of_each_node) {
  EXPECT_EQ(of_node("ReduceMean", {}, {integers("axes", {0})}), combines);
  EXPECT_EQ(of_node("ReduceMean", {}, {integers("axes", {1}), integer("keepdims", 0)}), "");
  EXPECT_EQ(of_node("Transpose", {}, {integers("perm", {1, 0, 2})}), combines);
  model_text text;
  const auto picked = text.constant({2, 0, 1});
  const auto tables = text.constant({4, 6, 5}, drawn(120, 1));  // one for each row
  const auto matrices = text.constant({4, 5, 2}, drawn(40, 1));
  const auto extents = text.constant({2, 4, 6, 5});
  const auto w = text.constant({1, 12, 5}, drawn(60, 1));
  const auto r = text.constant({1, 12, 3}, drawn(36, 2));
  EXPECT_EQ(of_node("Gather", {picked}, {integer("axis", 0)}, text), combines);
  EXPECT_EQ(of_node("Gather", {picked}, {integer("axis", 1)}, text), "");
  EXPECT_EQ(of_node("Add", {tables}, {}, text), "");
  EXPECT_EQ(of_node("MatMul", {matrices}, {}, text), "");
  EXPECT_EQ(of_node("Expand", {extents}, {}, text), combines);
  EXPECT_THAT(of_node("LSTM", {w, r}, {integer("hidden_size", 3)}, text),
              testing::HasSubstr("combines or reorders rows"));  // the first dimension has steps

  const auto said = [&](const std::string& output) {
    return combined_rows_of(model_text(text).network({4, 6, 5}, output));
  };
  // Rows after a dimension that disappears, and at other places than in the input.
  const auto turned = text.node("Transpose", {"x"}, {integers("perm", {1, 0, 2})});
  const auto reduced =
      text.node("ReduceMax", {turned}, {integers("axes", {0}), integer("keepdims", 0)});
  EXPECT_EQ(said(reduced), "");
  const auto first = [&](const std::string& value) {
    return text.node("Slice", {value, text.constant({0}), text.constant({4}), text.constant({0})});
  };
  const auto some = text.constant({2, 6, 5}, drawn(60, 3));
  const auto between = text.node("Concat", "joined", {some, "x", some}, {integer("axis", 0)});
  EXPECT_THAT(said(first(between)), testing::HasSubstr("cannot prove that layer 'joined'"));
  const auto pads = text.constant({1, 0, 0, 3, 0, 0});
  const auto padded = text.node("Pad", "padded", {"x", pads});
  EXPECT_THAT(said(first(padded)), testing::HasSubstr("cannot prove that layer 'padded'"));

  const auto steps = text.node("Transpose", {"x"}, {integers("perm", {1, 0, 2})});
  const auto states = text.node("LSTM", {steps, w, r}, {integer("hidden_size", 3)});
  const auto last = text.node("Transpose", {states}, {integers("perm", {2, 0, 1, 3})});
  EXPECT_EQ(said(last), "");
}

TEST(row_independence, is_that_of_a_product_of_two_inputs) {
  const auto said = [](const shape& x, const shape& y, bool y_has_rows, bool transposed) {
    model_text text;
    const std::string y_name =
        transposed ? text.node("Transpose", {"y"}, {integers("perm", {1, 0})}) : "y";
    const auto product = text.node("MatMul", "last", {"x", y_name});
    diagnostics problems;
    const onnx_network network = import_onnx(
        text.model({{}, {}}, product), {{"x", {x, dtype::float32}}, {"y", {y, dtype::float32}}},
        {product}, {}, problems);
    problems.throw_if_errors();
    return combined_rows(network.definition, {true, y_has_rows});
  };
  EXPECT_EQ(said({4, 5}, {5, 3}, false, false), "");
  EXPECT_EQ(said({4, 5}, {4, 5}, true, true), combines);   // every row with every row
  EXPECT_EQ(said({4, 4}, {4, 5}, true, false), combines);  // a sum over rows
  EXPECT_EQ(said({4, 6, 5}, {4, 5, 3}, true, false), "");
}

TEST(row_independence, is_that_of_tables_that_rows_index) {
  const auto said = [](std::int64_t axis, bool table_has_rows) {
    model_text text;
    auto taken = text.node("Gather", "last", {"x", "y"}, {integer("axis", axis)});
    if (axis == 1) taken = text.node("Transpose", {taken}, {integers("perm", {1, 0, 2})});
    diagnostics problems;
    const onnx_network network = import_onnx(
        text.model({{}, {}}, taken),
        {{"x", {{4, 4}, dtype::float32}}, {"y", {{4, 2}, dtype::int32}}}, {taken}, {}, problems);
    problems.throw_if_errors();
    return combined_rows(network.definition, {table_has_rows, true});
  };
  EXPECT_EQ(said(0, false), "");
  EXPECT_EQ(said(1, false), "");
  EXPECT_EQ(said(0, true), combines);
}

/// How often the analysis and the runs agree.
struct tally {
  int independent = 0;
  int combined = 0;
  int refused = 0;  ///< although the other rows stay

  void add(const onnx_network& network, const values_of_tensors& inputs) {
    const std::string problem = combined_rows_of(network);
    const bool stay = other_rows_stay(network, inputs);
    EXPECT_TRUE(stay || !problem.empty());
    independent += problem.empty() ? 1 : 0;
    combined += stay ? 0 : 1;
    refused += stay && !problem.empty() ? 1 : 0;
  }
};

TEST(row_independence, of_models_of_onnx_is_claimed_only_where_it_holds) {
  tally found;
  const fs::path of_onnx = "/usr/share/libonnx-testdata/data";
  for (const fs::path& folder :
       {of_onnx / "node", of_onnx / "pytorch-operator", of_onnx / "pytorch-converted",
        fs::path(GRAPHLINE_SOURCE_DIR "/tests/stages/nn/onnx/transformers")}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      SCOPED_TRACE(entry.path());
      const onnx_model model = read_model(entry.path());
      std::vector<std::pair<std::string, tensor_type>> types;
      values_of_tensors inputs;
      for (std::size_t i = 0; i < model.graph.inputs.size(); ++i) {
        const onnx_value& input = model.graph.inputs[i];
        if (input.element != onnx_type::float32) break;
        const onnx_tensor data = read_tensor(
            entry.path() / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb"), input);
        types.push_back({input.name, {data.extents, dtype::float32}});
        inputs.push_back(std::get<std::vector<float>>(data.values));
      }
      if (types.empty() || types.size() < model.graph.inputs.size()) continue;
      std::vector<std::string> names;
      for (const onnx_value& value : model.graph.outputs) names.push_back(value.name);
      diagnostics problems;
      const onnx_network network = import_onnx(model, types, names, {}, problems);
      if (!problems.has_errors() && has_rows(network.definition)) found.add(network, inputs);
    }
  }
  EXPECT_GE(found.independent, 200);
  EXPECT_GE(found.combined, 5);
  EXPECT_EQ(found.refused, 0);
}

/// A model of random nodes, most of which keep the rows in the first dimension.
class random_model {
 public:
  explicit random_model(unsigned seed) : random_(seed) {}

  onnx_network draw() {
    const shape x{2 + below(3), 2, 6, 4};
    values_ = {{"x", x.extents()}};
    for (std::int64_t steps = 1 + below(7); steps > 0; --steps) step(values_.back());
    const value& last = values_.back();
    const std::int64_t rows = shape(last.shape).elements() % x[0] == 0 ? x[0] : 1;
    return text_.network(x, text_.node("Reshape", {last.name, text_.constant({rows, -1})}));
  }

 private:
  using extents = std::vector<std::int64_t>;
  struct value {
    std::string name;
    extents shape;
  };

  std::int64_t below(std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random_);
  }

  /// Any dimension, seldom the first.
  std::int64_t axis_of(const value& x) {
    const std::int64_t rank = std::ssize(x.shape);
    return rank == 1 || below(5) == 0 ? below(rank) : 1 + below(rank - 1);
  }

  void add(std::string name, extents shape) { values_.push_back({std::move(name), shape}); }

  void reshape(const value& x, const extents& shape) {
    add(text_.node("Reshape", {x.name, text_.constant(shape)}), shape);
  }

  void transpose(const value& x, bool all) {
    extents order(x.shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin() + (all ? 0 : 1), order.end(), random_);
    extents shape;
    for (const std::int64_t axis : order) shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
    add(text_.node("Transpose", {x.name}, {integers("perm", order)}), shape);
  }

  void merge_or_split(const value& x) {
    extents shape = x.shape;
    const auto at = shape.begin() + below(std::ssize(shape));
    if (at + 1 != shape.end() && below(2) == 0) {
      *at *= *(at + 1);
      shape.erase(at + 1);
    } else if (const std::int64_t part = 2 + below(2); *at % part == 0 && shape.size() < 6) {
      *at /= part;
      shape.insert(at + below(2), part);
    }
    reshape(x, shape);
  }

  void multiply(const value& x) {
    if (x.shape.size() < 2) return;
    const bool by_itself = below(2) == 0;
    value other = x;
    if (by_itself) {
      std::swap(other.shape.end()[-1], other.shape.end()[-2]);
      extents order(x.shape.size());
      std::iota(order.begin(), order.end(), 0);
      std::swap(order.end()[-1], order.end()[-2]);
      other.name = text_.node("Transpose", {x.name}, {integers("perm", order)});
    } else {
      other.shape = {x.shape.back(), 3};
      other.name =
          text_.constant(other.shape, drawn(static_cast<std::size_t>(x.shape.back() * 3), 1));
    }
    extents shape = x.shape;
    shape.back() = other.shape.back();
    add(text_.node("MatMul", {x.name, other.name}), shape);
  }

  void step(const value x) {
    const std::int64_t axis = axis_of(x);
    const auto at = static_cast<std::size_t>(axis);
    extents shape = x.shape;
    switch (below(10)) {
      case 0:
        return transpose(x, below(4) == 0);
      case 1:
      case 2:
        return merge_or_split(x);
      case 3:
        return add(text_.node("Softmax", {x.name}, {integer("axis", axis)}), shape);
      case 4: {
        const bool keep = shape.size() == 1 || below(2) == 0;
        if (keep) shape[at] = 1;
        if (!keep) shape.erase(shape.begin() + axis);
        return add(text_.node("ReduceMax", {x.name},
                              {integers("axes", {axis}), integer("keepdims", keep ? 1 : 0)}),
                   shape);
      }
      case 5:
        if (shape[at] > 50) return;
        shape[at] *= 2;
        return add(text_.node("Concat", {x.name, x.name}, {integer("axis", axis)}), shape);
      case 6: {
        const std::int64_t first = below(shape[at]);
        shape[at] -= first;
        return add(
            text_.node("Slice", {x.name, text_.constant({first}),
                                 text_.constant({first + shape[at]}), text_.constant({axis})}),
            shape);
      }
      case 7:
        return multiply(x);
      case 8: {
        shape[at] = 2;
        const extents indices{below(x.shape[at]), 0};
        return add(text_.node("Gather", {x.name, text_.constant(indices)}, {integer("axis", axis)}),
                   shape);
      }
      default:
        for (const value& other : std::vector(values_)) {
          if (graphline::shape(other.shape).elements() != graphline::shape(shape).elements()) {
            continue;
          }
          reshape(other, shape);
          return add(text_.node("Add", {x.name, values_.back().name}), shape);
        }
    }
  }

  std::mt19937 random_;
  model_text text_;
  std::vector<value> values_;
};

TEST(row_independence, of_random_networks_is_claimed_only_where_it_holds) {
  tally found;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const onnx_network network = random_model(seed).draw();
    if (!has_rows(network.definition)) continue;
    const auto size = network.definition.shape_of(network.definition.inputs.front()).elements();
    found.add(network, {drawn(static_cast<std::size_t>(size), seed)});
  }
  EXPECT_GE(found.independent, 180);
  EXPECT_GE(found.combined, 30);
  EXPECT_LE(found.refused, 8);
}

}  // namespace
}  // namespace graphline::test
