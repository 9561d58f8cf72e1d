#pragma once

#include <cstddef>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"

namespace graphline {

/// Arithmetic of a device stage.
enum class precision {
  float32,   ///< IEEE float32 throughout
  tf32,      ///< float32 in memory; products round their operands to 10 mantissa bits
  float16,   ///< IEEE half in memory, float32 accumulation
  bfloat16,  ///< bfloat16 in memory, float32 accumulation
};

inline constexpr word<precision> precision_words[] = {{"float32", precision::float32},
                                                      {"tf32", precision::tf32},
                                                      {"float16", precision::float16},
                                                      {"bfloat16", precision::bfloat16}};
template <>
struct words_of<precision> {
  static constexpr const auto& table = precision_words;
};

/// Returns the size in bytes of one element in a stage of this precision.
constexpr std::size_t element_bytes(precision p) noexcept {
  return p == precision::float32 || p == precision::tf32 ? 4 : 2;
}

/// Returns the type of an element in a stage of this precision.
constexpr dtype element_of(precision p) noexcept {
  if (p == precision::float16) return dtype::float16;
  return p == precision::bfloat16 ? dtype::bfloat16 : dtype::float32;
}

}  // namespace graphline
