#pragma once

// Elements of every type that kernels work on, one at a time and in packs. All of it also runs on
// the CPU, as do the kernels' bodies in the files beside this one: a test can execute them without
// a GPU.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "framework/base/tensor_type.hpp"
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

/// Neighboring elements that are read or written at once, 16 bytes at most.
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

/// Neighboring elements of a type that is known only while running, as numbers.
template <int width>
GRAPHLINE_HOST_DEVICE inline void load_as(dtype element, const void* data, std::int64_t begin,
                                          float (&values)[width]) {
  const auto take = [&](const auto* from) {
    const auto elements = load<width>(from + begin);
    for (int i = 0; i < width; ++i) {
      if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(*from)>>) {
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
    default:
      return take(static_cast<const float*>(data));
  }
}
GRAPHLINE_HOST_DEVICE inline float load_as(dtype element, const void* data, std::int64_t at) {
  float value[1];
  load_as<1>(element, data, at, value);
  return value[0];
}

/// Writes them as elements of float32, float16 or bfloat16.
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
    default:
      return put(static_cast<float*>(data));
  }
}
GRAPHLINE_HOST_DEVICE inline void store_as(dtype element, void* data, std::int64_t at,
                                           float value) {
  const float values[1] = {value};
  store_as<1>(element, data, at, values);
}

/// Adds up what the threads of a block hold, numbers or anything that begins empty and has +=: 16
/// threads add up some of it each, then whoever wants the total those 16, always in the same order.
/// A barrier stands between the steps.
struct block_sum {
  static constexpr int most_threads = 256;
  static constexpr int sums = 16;

  /// Every thread takes part; `partial` has the sum of each.
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

/// Stands for the types of elements that a kernel reads and writes.
template <class From, class To>
struct element_pair {};

/// Calls `f(from, to)` with a kernel's first operand, which it reads, and its last, which it
/// writes, as elements of these types.
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

/// Calls `f` with the width of packs to use: the widest where all that is read and written allows
/// it, otherwise 1.
template <int widest, class F>
void with_width(bool packs, F&& f) {
  if (packs) {
    f(std::integral_constant<int, widest>{});
  } else {
    f(std::integral_constant<int, 1>{});
  }
}

}  // namespace graphline::nn
