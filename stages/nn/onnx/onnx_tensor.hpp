#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// Element types, numbered as in ONNX's TensorProto.DataType.
enum class onnx_type {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  bfloat16 = 16,
};

/// Returns ONNX's name: "float32", "bool".
std::string_view to_string(onnx_type element) noexcept;

/// Returns the type of a TensorProto.DataType; `undefined` if this enum lacks it.
onnx_type onnx_type_of(std::int64_t number) noexcept;

/// Returns the bytes per element; 0 for types whose values are not read.
std::size_t size_of(onnx_type element) noexcept;

/// Returns the tensor type for an input of the model, or for an output with integers or bools. It
/// is wider if tensors lack the type: uint8 for bool, int32 for up to 16 bits, int64 for uint32 and
/// uint64. Empty for strings.
std::optional<dtype> read_as(onnx_type element) noexcept;

/// Returns true for integers and bool.
bool is_whole(onnx_type element) noexcept;

/// The least and the greatest number of an integer type or bool; 64 bits count as 32.
struct whole_range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
whole_range range_of(onnx_type element) noexcept;

/// Wraps an integer to the range of its type; bool becomes 0 or 1. Other types leave it unchanged.
std::int64_t wrapped(onnx_type element, std::int64_t value) noexcept;

/// Values in row-major order, widened: float16 and bfloat16 to float, bool and integers to int64.
using onnx_values =
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>>;

/// A tensor. Its values are unknown if the network computes them or if they are strings.
struct onnx_tensor {
  std::string name = {};
  onnx_type element = onnx_type::undefined;
  graphline::shape extents = {};
  onnx_values values = {};

  bool known() const noexcept;
};

/// Returns the values as float32.
std::vector<float> floats_of(const onnx_tensor& tensor);

/// Decodes little-endian elements; drops an incomplete last element.
onnx_values onnx_values_of(onnx_type element, std::string_view bytes);

/// Reads the values in the typed fields of a TensorProto. @throws protozero::exception
onnx_values typed_onnx_values(onnx_type element, std::string_view tensor);

}  // namespace graphline::nn
