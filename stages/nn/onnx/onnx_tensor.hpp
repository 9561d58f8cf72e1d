#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// Element types, with the numbers of ONNX's TensorProto.DataType.
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

/// As ONNX's operators call it: "float32", "bool".
std::string_view to_string(onnx_type element) noexcept;

/// The type of that number; undefined for one that is not among these.
onnx_type onnx_type_of(std::int64_t number) noexcept;

/// Bytes of one element; 0 for types whose values are not read.
std::size_t size_of(onnx_type element) noexcept;

/// An integer as a tensor of that type holds it: what is beyond the type's range wraps around, and
/// a bool is 0 or 1. Types other than integers leave it as it is.
std::int64_t wrapped(onnx_type element, std::int64_t value) noexcept;

/// Values in row-major order, widened: float32, float16 and bfloat16 are floats, bool and integers
/// int64.
using onnx_values =
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>>;

/// A tensor. Its values are not known where a run computes them or where they are strings.
struct onnx_tensor {
  std::string name = {};
  onnx_type element = onnx_type::undefined;
  graphline::shape extents = {};
  onnx_values values = {};

  bool known() const noexcept;
};

/// Little-endian elements of a type whose values are read; an incomplete last one is left out.
onnx_values onnx_values_of(onnx_type element, std::string_view bytes);

/// The values in the typed fields of a TensorProto. Throws protozero's exceptions.
onnx_values typed_onnx_values(onnx_type element, std::string_view tensor);

}  // namespace graphline::nn
