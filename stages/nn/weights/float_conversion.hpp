#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// Converts IEEE 754 binary16 to float32 exactly, including subnormals, infinities and NaNs.
float float_from_half(std::uint16_t bits) noexcept;

/// Converts bfloat16 to float32 exactly.
float float_from_bfloat16(std::uint16_t bits) noexcept;

/// Converts float32 to binary16: rounds to nearest even, overflows to infinity, keeps NaN.
std::uint16_t half_from_float(float value) noexcept;

/// Converts float32 to bfloat16: rounds to nearest even, keeps NaN.
std::uint16_t bfloat16_from_float(float value) noexcept;

/// Writes values as little-endian float16, bfloat16 or float32.
void write_elements(dtype element, std::span<const float> values, std::byte* to);

/// Converts little-endian elements at `from`, one per float of `to`.
using float_converter = void (*)(const std::byte* from, std::span<float> to);

/// Returns the converter from a safetensors type ("F16", "BF16", "F32", "F64"); null for others.
float_converter float_conversion(std::string_view element) noexcept;

}  // namespace graphline::nn
