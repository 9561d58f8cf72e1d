#pragma once

#include <cstddef>
#include <cstdint>
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
  /// Empty for types that no supported operator uses, such as sparse tensors.
  std::variant<std::monostate, float, std::int64_t, std::string, onnx_tensor,
               std::shared_ptr<const onnx_graph>, std::vector<float>, std::vector<std::int64_t>,
               std::vector<std::string>>
      value = {};
};

/// One operation. Omitted inputs and outputs have empty names.
struct onnx_node {
  std::string name;  ///< from the file, or operator and position ("Conv_12"); unique
  std::string op_type;
  std::string domain = {};  ///< empty for ONNX's own operators
  std::vector<std::string> inputs;
  std::vector<std::string> outputs = {};
  std::vector<onnx_attribute> attributes;

  /// Returns the attribute's value; null if the attribute is absent or has another type.
  template <class Value>
  const Value* attribute(std::string_view wanted) const noexcept {
    for (const auto& [known, value] : attributes) {
      if (known == wanted) return std::get_if<Value>(&value);
    }
    return nullptr;
  }

  /// Returns the attribute's value; `otherwise` if the attribute is absent or has another type.
  template <class Value>
  Value attribute_or(std::string_view wanted, Value otherwise) const {
    const auto* value = attribute<Value>(wanted);
    return value == nullptr ? otherwise : *value;
  }
};

/// An extent: a number, a symbol, or unknown.
struct onnx_extent {
  std::optional<std::int64_t> number;
  std::string symbol;
};

/// Declared type of a value. `element` is undefined if the value is not a tensor; `extents` is
/// empty if the rank is unknown.
struct onnx_value {
  std::string name;
  onnx_type element = onnx_type::undefined;
  std::optional<std::vector<onnx_extent>> extents;
};

struct onnx_graph {
  std::vector<onnx_node> nodes;  ///< in topological order
  std::vector<onnx_tensor> initializers;
  std::vector<onnx_value> inputs;  ///< without initializers
  std::vector<onnx_value> outputs;
};

struct onnx_model {
  std::int64_t opset = 0;  ///< version of ONNX's operators
  onnx_graph graph;
};

/// Reads a model in memory and time linear in the file's size.
/// @throws input_error naming the file, the part, the fault and the remedy if the file is
/// truncated, damaged or not an ONNX file; the operator set is outside 7 to 23; a tensor's data
/// does not fit its extents or is outside the model's folder; or a value is defined twice or read
/// before its definition
onnx_model read_onnx(const std::string& path);

/// Parses a model. `path` appears in messages, and its folder contains external data.
onnx_model parse_onnx(std::span<const std::byte> bytes, const std::string& path);

}  // namespace graphline::nn
