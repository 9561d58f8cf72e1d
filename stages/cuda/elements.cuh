#pragma once

// Elements of every type that kernels work on, one at a time and in packs. All of it also runs on
// the CPU, as do the kernels' bodies in the files beside this one: a test can execute them without
// a GPU.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <stdexcept>

#include "framework/base/tensor_type.hpp"
#include "stages/cuda/host_device.hpp"

namespace graphline {

GRAPHLINE_HOST_DEVICE inline float to_float(float value) {
  return value;
}
GRAPHLINE_HOST_DEVICE inline float to_float(__half value) {
  return __half2float(value);
}
GRAPHLINE_HOST_DEVICE inline float to_float(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

/// Rounds to the nearest, and to the even one of two.
GRAPHLINE_HOST_DEVICE inline void from_float(float value, float& to) {
  to = value;
}
GRAPHLINE_HOST_DEVICE inline void from_float(float value, __half& to) {
  to = __float2half_rn(value);
}
GRAPHLINE_HOST_DEVICE inline void from_float(float value, __nv_bfloat16& to) {
  to = __float2bfloat16_rn(value);
}

/// Neighbouring elements that are read or written at once, 16 bytes at most.
template <class T, int width>
struct alignas(sizeof(T) * width) pack {
  T element[width];
};

template <int width, class T>
GRAPHLINE_HOST_DEVICE inline pack<T, width> load(const T* from) {
  return *reinterpret_cast<const pack<T, width>*>(from);
}
template <int width, class T>
GRAPHLINE_HOST_DEVICE inline void store(T* to, const pack<T, width>& values) {
  *reinterpret_cast<pack<T, width>*>(to) = values;
}

/// Whether packs of that width may begin there.
template <int width, class T>
bool begins_pack(const T* at) {
  return reinterpret_cast<std::uintptr_t>(at) % (sizeof(T) * width) == 0;
}

/// The widest pack of both types.
template <class From, class To>
inline constexpr int pack_width = 16 / static_cast<int>(sizeof(From) > sizeof(To) ? sizeof(From)
                                                                                  : sizeof(To));

/// a / b for positive numbers. A GPU divides 32 bits several times as fast as 64.
GRAPHLINE_HOST_DEVICE inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if ((a | b) >> 32 == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

/// Takes the last digit of `index` in a mixed base off it and returns the digit.
GRAPHLINE_HOST_DEVICE inline std::int64_t take_digit(std::int64_t& index, std::int64_t base) {
  const std::int64_t rest = quotient(index, base);
  const std::int64_t digit = index - rest * base;
  index = rest;
  return digit;
}

/// Stands for the types of elements that a kernel reads and writes.
template <class From, class To>
struct element_pair {
  using from = From;
  using to = To;
};

/// Calls `f` with the `element_pair` of these types.
template <class F>
void with_elements(dtype from, dtype to, F&& f) {
  const auto both = [&](dtype a, dtype b) { return from == a && to == b; };
  if (both(dtype::float32, dtype::float32)) return f(element_pair<float, float>{});
  if (both(dtype::float16, dtype::float16)) return f(element_pair<__half, __half>{});
  if (both(dtype::float16, dtype::float32)) return f(element_pair<__half, float>{});
  if (both(dtype::float32, dtype::float16)) return f(element_pair<float, __half>{});
  if (both(dtype::bfloat16, dtype::bfloat16)) {
    return f(element_pair<__nv_bfloat16, __nv_bfloat16>{});
  }
  if (both(dtype::bfloat16, dtype::float32)) return f(element_pair<__nv_bfloat16, float>{});
  if (both(dtype::float32, dtype::bfloat16)) return f(element_pair<float, __nv_bfloat16>{});
  throw std::logic_error("no kernel from " + std::string(to_string(from)) + " to " +
                         std::string(to_string(to)));
}

}  // namespace graphline
