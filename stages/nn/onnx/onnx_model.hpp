#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stages/nn/onnx/onnx_tensor.hpp"

namespace graphline::nn {

struct onnx_graph;

struct onnx_attribute {
  std::string name;
  /// Nothing where it is of a type that no supported operator has, such as a sparse tensor.
  std::variant<std::monostate, float, std::int64_t, std::string, onnx_tensor,
               std::shared_ptr<const onnx_graph>, std::vector<float>, std::vector<std::int64_t>,
               std::vector<std::string>>
      value = {};
};

/// One operation. An input or output that is left out has an empty name.
struct onnx_node {
  std::string name;  ///< the given one, or "Conv_12": operator and position; unique in the graph
  std::string op_type;
  std::string domain;  ///< empty for ONNX's own operators
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<onnx_attribute> attributes;

  /// The attribute's value if it is there and of this type; null otherwise.
  template <class Value>
  const Value* attribute(std::string_view wanted) const noexcept {
    for (const auto& [known, value] : attributes) {
      if (known == wanted) return std::get_if<Value>(&value);
    }
    return nullptr;
  }
};

/// An extent that is a number, a name, or neither.
struct onnx_extent {
  std::optional<std::int64_t> number;
  std::string symbol;
};

/// What a graph says of a value. `element` is undefined for one that is no tensor; `extents` is
/// absent where not even their number is known.
struct onnx_value {
  std::string name;
  onnx_type element = onnx_type::undefined;
  std::optional<std::vector<onnx_extent>> extents;
};

struct onnx_graph {
  std::string name;
  std::vector<onnx_node> nodes;  ///< each after those that it reads from
  std::vector<onnx_tensor> initializers;
  std::vector<onnx_value> inputs;  ///< without those that an initializer gives
  std::vector<onnx_value> outputs;
  std::vector<onnx_value> values;  ///< types of values in between, of as many as the file tells
};

struct onnx_model {
  std::int64_t ir_version = 0;
  std::int64_t opset = 0;                             ///< version of ONNX's own operators
  std::map<std::string, std::int64_t> other_domains;  ///< versions of other operators
  std::string producer;                               ///< "pytorch 2.1.0"; may be empty
  onnx_graph graph;
  std::map<std::string, std::string> metadata;
};

/// Reads a model. Throws `input_error` naming the file, what is wrong with which part of it, and
/// the remedy: it is no ONNX file, truncated or damaged; its operator set is not one of 7 to 21; a
/// tensor's data do not fit its extents, or lie in a file outside the model's folder; a value is
/// given twice, or read before a node gives it. Memory and time grow with the file alone.
onnx_model read_onnx(const std::string& path);

/// The model in `bytes`; `path` is for messages, and its folder holds external data.
onnx_model parse_onnx(std::span<const std::byte> bytes, const std::string& path);

}  // namespace graphline::nn
