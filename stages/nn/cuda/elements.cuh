#pragma once

// Element types of kernels, and packs of adjacent elements. This file and the kernel bodies beside
// it also compile for the CPU, so that tests run them without a GPU.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "framework/base/tensor_type.hpp"
#include "stages/nn/operations/scalar_math.hpp"
#include "stages/nn/operations/windows.hpp"

namespace graphline::nn {

GRAPHLINE_HOST_DEVICE inline float to_float(float value) {
  return value;
}
GRAPHLINE_HOST_DEVICE inline float to_float(__half value) {
  return __half2float(value);
}
GRAPHLINE_HOST_DEVICE inline float to_float(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

/// Converts an element; rounds to nearest even, and saturates integers.
GRAPHLINE_HOST_DEVICE inline void from_float(float value, float& to) {
  to = value;
}
GRAPHLINE_HOST_DEVICE inline void from_float(float value, __half& to) {
  to = __float2half_rn(value);
}
GRAPHLINE_HOST_DEVICE inline void from_float(float value, __nv_bfloat16& to) {
  to = __float2bfloat16_rn(value);
}
GRAPHLINE_HOST_DEVICE inline void from_float(float value, std::int32_t& to) {
  to = saturated<std::int32_t>(value);
}
GRAPHLINE_HOST_DEVICE inline void from_float(float value, std::int64_t& to) {
  to = saturated<std::int64_t>(value);
}
GRAPHLINE_HOST_DEVICE inline void from_float(float value, std::uint8_t& to) {
  to = saturated<std::uint8_t>(value);
}

/// Adjacent elements, up to 16 bytes, loaded or stored at once.
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

/// Returns true if an address is aligned for packs of this width.
template <int width, class T>
bool begins_pack(const T* at) {
  return reinterpret_cast<std::uintptr_t>(at) % (sizeof(T) * width) == 0;
}

/// Number of elements in the widest pack of both types.
template <class From, class To>
inline constexpr int pack_width = 16 / static_cast<int>(sizeof(From) > sizeof(To) ? sizeof(From)
                                                                                  : sizeof(To));

/// Returns a / b for a >= 0 and b > 0. 32-bit division is several times faster on GPUs.
GRAPHLINE_HOST_DEVICE inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if ((a | b) >> 32 == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

/// Returns index % base and divides `index` by `base`.
GRAPHLINE_HOST_DEVICE inline std::int64_t take_digit(std::int64_t& index, std::int64_t base) {
  const std::int64_t rest = quotient(index, base);
  const std::int64_t digit = index - rest * base;
  index = rest;
  return digit;
}

/// Loads adjacent elements as float; the element type is known at run time.
template <int width>
GRAPHLINE_HOST_DEVICE inline void load_as(dtype element, const void* data, std::int64_t begin,
                                          float (&values)[width]) {
  const auto take = [&](const auto* from) {
    const auto elements = load<width>(from + begin);
    for (int i = 0; i < width; ++i) {
      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(*from)>>) {
        values[i] = static_cast<float>(elements.element[i]);
      } else {
        values[i] = to_float(elements.element[i]);
      }
    }
  };
  switch (element) {
    case dtype::float16:
      return take(static_cast<const __half*>(data));
    case dtype::bfloat16:
      return take(static_cast<const __nv_bfloat16*>(data));
    case dtype::int32:
      return take(static_cast<const std::int32_t*>(data));
    case dtype::int64:
      return take(static_cast<const std::int64_t*>(data));
    case dtype::uint8:
      return take(static_cast<const std::uint8_t*>(data));
    case dtype::float64:
      return take(static_cast<const double*>(data));
    default:
      return take(static_cast<const float*>(data));
  }
}
GRAPHLINE_HOST_DEVICE inline float load_as(dtype element, const void* data, std::int64_t at) {
  float value[1];
  load_as<1>(element, data, at, value);
  return value[0];
}

/// Stores adjacent elements as any type but float64.
template <int width>
GRAPHLINE_HOST_DEVICE inline void store_as(dtype element, void* data, std::int64_t begin,
                                           const float (&values)[width]) {
  const auto put = [&](auto* to) {
    pack<std::remove_reference_t<decltype(*to)>, width> elements;
    for (int i = 0; i < width; ++i) from_float(values[i], elements.element[i]);
    store<width>(to + begin, elements);
  };
  switch (element) {
    case dtype::float16:
      return put(static_cast<__half*>(data));
    case dtype::bfloat16:
      return put(static_cast<__nv_bfloat16*>(data));
    case dtype::int32:
      return put(static_cast<std::int32_t*>(data));
    case dtype::int64:
      return put(static_cast<std::int64_t*>(data));
    case dtype::uint8:
      return put(static_cast<std::uint8_t*>(data));
    default:
      return put(static_cast<float*>(data));
  }
}
GRAPHLINE_HOST_DEVICE inline void store_as(dtype element, void* data, std::int64_t at,
                                           float value) {
  const float values[1] = {value};
  store_as<1>(element, data, at, values);
}

/// Reduces one value per thread of a block, always in the same order. In `gather`, 16 threads
/// reduce a share each. After a barrier, any thread reduces the 16 results by `total`. A
/// default-constructed value must be neutral for +=.
struct block_sum {
  static constexpr int most_threads = 256;
  static constexpr int sums = 16;

  /// Called by all threads; `partial` contains one value per thread.
  template <class Sum>
  GRAPHLINE_HOST_DEVICE static void gather(const Sum* partial, Sum* some, int thread, int threads) {
    if (thread >= sums) return;
    Sum sum{};
    for (int i = thread; i < threads; i += sums) sum += partial[i];
    some[thread] = sum;
  }

  template <class Sum>
  GRAPHLINE_HOST_DEVICE static Sum total(const Sum* some) {
    Sum sum{};
    for (int i = 0; i < sums; ++i) sum += some[i];
    return sum;
  }
};

/// Tag for the element types of a kernel's input and output.
template <class From, class To>
struct element_pair {};

/// Calls `f(from, to)` with typed pointers to a kernel's first operand (input) and last operand
/// (output).
template <class F>
void with_elements(dtype from, dtype to, std::span<void* const> operands, F&& f) {
  const auto as = [&]<class From, class To>(element_pair<From, To>) {
    f(static_cast<const From*>(operands.front()), static_cast<To*>(operands.back()));
  };
  const auto both = [&](dtype a, dtype b) { return from == a && to == b; };
  if (both(dtype::float32, dtype::float32)) return as(element_pair<float, float>{});
  if (both(dtype::float16, dtype::float16)) return as(element_pair<__half, __half>{});
  if (both(dtype::float16, dtype::float32)) return as(element_pair<__half, float>{});
  if (both(dtype::float32, dtype::float16)) return as(element_pair<float, __half>{});
  if (both(dtype::bfloat16, dtype::bfloat16)) {
    return as(element_pair<__nv_bfloat16, __nv_bfloat16>{});
  }
  if (both(dtype::bfloat16, dtype::float32)) return as(element_pair<__nv_bfloat16, float>{});
  if (both(dtype::float32, dtype::bfloat16)) return as(element_pair<float, __nv_bfloat16>{});
  throw std::logic_error("no kernel from " + std::string(to_string(from)) + " to " +
                         std::string(to_string(to)));
}

/// Calls `f` with a pack width: `widest` if `packs`, otherwise 1.
template <int widest, class F>
void with_width(bool packs, F&& f) {
  if (packs) {
    f(std::integral_constant<int, widest>{});
  } else {
    f(std::integral_constant<int, 1>{});
  }
}

}  // namespace graphline::nn
