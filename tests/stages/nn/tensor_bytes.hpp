#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "stages/nn/weights/float_conversion.hpp"

// Tests give and compare tensors of every type as float32.

namespace graphline::test {

/// Calls `f` with a value of the element's type; 16-bit floats are unsigned here.
template <class F>
void with_stored_type(dtype element, const F& f) {
  switch (element) {
    case dtype::float16:
    case dtype::bfloat16:
      return f(std::uint16_t{});
    case dtype::float32:
      return f(float{});
    case dtype::float64:
      return f(double{});
    case dtype::int32:
      return f(std::int32_t{});
    case dtype::int64:
      return f(std::int64_t{});
    case dtype::uint8:
      return f(std::uint8_t{});
  }
}

inline void write_as(dtype element, std::span<const float> values, std::byte* to) {
  if (size_of(element) == 2) return nn::write_elements(element, values, to);
  with_stored_type(element, [&]<class Stored>(Stored) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto stored = static_cast<Stored>(values[i]);
      std::memcpy(to + i * sizeof stored, &stored, sizeof stored);
    }
  });
}

inline std::vector<float> floats_in(dtype element, const std::byte* from, std::size_t count) {
  std::vector<float> values(count);
  with_stored_type(element, [&]<class Stored>(Stored) {
    for (std::size_t i = 0; i < count; ++i) {
      Stored stored;
      std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
      values[i] = static_cast<float>(stored);
      if constexpr (std::is_same_v<Stored, std::uint16_t>) {
        values[i] = element == dtype::float16 ? nn::float_from_half(stored)
                                              : nn::float_from_bfloat16(stored);
      }
    }
  });
  return values;
}

}  // namespace graphline::test
