#include "stages/nn/weights/float_conversion.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

namespace graphline::nn {
namespace {

template <std::uint16_t (*convert)(float) noexcept>
void write_rounded(std::span<const float> values, std::byte* to) {
  for (const float value : values) {
    const std::uint16_t bits = convert(value);
    std::memcpy(to, &bits, sizeof bits);
    to += sizeof bits;
  }
}

template <class Element, auto convert>
void convert_all(const std::byte* from, std::span<float> to) {
  for (float& value : to) {
    Element element;
    std::memcpy(&element, from, sizeof element);
    from += sizeof element;
    value = static_cast<float>(convert(element));
  }
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "tensors in files are little-endian");

float float_from_half(std::uint16_t bits) noexcept {
  const int exponent = bits >> 10 & 0x1f;
  const int mantissa = bits & 0x3ff;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 15) << 31;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  // Infinities and NaNs keep an exponent of all ones; others move from bias 15 to bias 127.
  const int wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(wide) << 23 |
                              static_cast<std::uint32_t>(mantissa) << 13);
}

float float_from_bfloat16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t half_from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const float magnitude = std::abs(value);
  const auto with_sign = [&](std::uint32_t half) {
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(half));
  };
  if (std::isnan(value)) return with_sign(0x7e00);
  if (magnitude >= 65520.0F) return with_sign(0x7c00);  // halfway to the first value out of range
  if (magnitude < 0x1p-14F) {
    // The sum rounds to a multiple of 2^-24, the unit of binary16 subnormals.
    const auto sum = std::bit_cast<std::uint32_t>(magnitude + 0.5F);
    return with_sign(sum - std::bit_cast<std::uint32_t>(0.5F));
  }
  // The exponent moves from bias 127 to bias 15; a carry from rounding increments it.
  std::uint32_t moved = (bits & 0x7fffffffU) - (std::uint32_t{127 - 15} << 23);
  moved += 0xfffU + (moved >> 13 & 1U);
  return with_sign(moved >> 13);
}

std::uint16_t bfloat16_from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

void write_elements(dtype element, std::span<const float> values, std::byte* to) {
  if (element == dtype::float16) return write_rounded<half_from_float>(values, to);
  if (element == dtype::bfloat16) return write_rounded<bfloat16_from_float>(values, to);
  std::memcpy(to, values.data(), values.size_bytes());
}

float_converter float_conversion(std::string_view element) noexcept {
  if (element == "F32") return convert_all<float, std::identity{}>;
  if (element == "F16") return convert_all<std::uint16_t, float_from_half>;
  if (element == "BF16") return convert_all<std::uint16_t, float_from_bfloat16>;
  if (element == "F64") return convert_all<double, std::identity{}>;
  return nullptr;
}

}  // namespace graphline::nn
