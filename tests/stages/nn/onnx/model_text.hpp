#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_import.hpp"
#include "tests/stages/nn/onnx/model_writer.hpp"
#include "tests/stages/nn/onnx/onnx_test_data.hpp"

// ONNX models that tests write node by node.

namespace graphline::test {

using namespace nn;

inline std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
  return values;
}

/// Builds a model node by node: nodes are named after their operator and give a value of their own
/// name.
class model_text {
 public:
  std::string node(const std::string& op_type, const std::vector<std::string>& inputs,
                   const std::vector<written::message>& attributes = {}) {
    return node(op_type, op_type + std::to_string(count_++), inputs, attributes);
  }
  std::string node(const std::string& op_type, const std::string& name,
                   const std::vector<std::string>& inputs,
                   const std::vector<written::message>& attributes = {}) {
    written::message written = written::node(op_type, inputs, {name}, name);
    for (const written::message& attribute : attributes) written.add(5, attribute);
    graph_.add(1, written);
    return name;
  }
  std::string constant(const std::vector<std::int64_t>& extents, const std::vector<float>& data) {
    const std::string name = "c" + std::to_string(count_++);
    graph_.add(5, written::tensor(name, onnx_type::float32, extents).text(9, written::raw(data)));
    return name;
  }
  std::string constant(const std::vector<std::int64_t>& numbers) {
    const std::string name = "c" + std::to_string(count_++);
    graph_.add(5, written::tensor(name, onnx_type::int64, {std::ssize(numbers)})
                      .text(9, written::raw(numbers)));
    return name;
  }

  /// The model with inputs "x", "y", ... of these extents.
  onnx_model model(const std::vector<std::vector<std::string>>& inputs, const std::string& output) {
    char name = 'x';
    for (const auto& extents : inputs) graph_.add(11, written::value({&name, 1}, extents)), ++name;
    graph_.add(12, written::value(output, {}));
    return parse_model(written::model(graph_, 11).bytes());
  }

  /// The network for an input "x" of these extents.
  onnx_network network(const shape& x, const std::string& output) {
    diagnostics problems;
    onnx_network made =
        import_onnx(model({{}}, output), {{"x", {x, dtype::float32}}}, {output}, {}, problems);
    problems.throw_if_errors();
    return made;
  }

 private:
  written::message graph_;
  int count_ = 0;
};

inline written::message integers(std::string_view name, const std::vector<std::int64_t>& values) {
  written::message made = written::attribute(name, 7);
  for (const std::int64_t value : values) made.number(8, value);
  return made;
}

inline written::message integer(std::string_view name, std::int64_t value) {
  return written::attribute(name, 2).number(3, value);
}

inline std::vector<std::string> layers_of(const onnx_network& network) {
  std::vector<std::string> names;
  for (const network_layer& layer : network.definition.layers) {
    names.push_back(layer.kind + " " + layer.name);
  }
  return names;
}

}  // namespace graphline::test
