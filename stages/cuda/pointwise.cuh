#pragma once

#include <cmath>
#include <span>

#include "stages/cuda/elements.cuh"
#include "stages/cuda/kernel_forms.hpp"

namespace graphline {

template <activation function>
GRAPHLINE_HOST_DEVICE inline float activate(float x) {
  if constexpr (function == activation::relu) return x < 0.0F ? 0.0F : x;  // a NaN stays one
  if constexpr (function == activation::relu6) {
    return x < 0.0F ? 0.0F : x > 6.0F ? 6.0F : x;
  }
  if constexpr (function == activation::gelu_erf) {
    return 0.5F * x * (1.0F + erff(x * 0.707106781F));  // 1 / sqrt(2)
  }
  if constexpr (function == activation::gelu_tanh) {
    // sqrt(2 / pi) (x + 0.044715 x^3)
    return 0.5F * x * (1.0F + tanhf(0.797884561F * (x + 0.044715F * x * x * x)));
  }
  if constexpr (function == activation::sigmoid) return 1.0F / (1.0F + expf(-x));
  if constexpr (function == activation::silu) return x / (1.0F + expf(-x));
  return x;
}

template <activation function, int width>
GRAPHLINE_HOST_DEVICE inline void activate_all(float (&values)[width]) {
  for (int i = 0; i < width; ++i) values[i] = activate<function>(values[i]);
}

/// Activations one after the other, as a kernel's argument holds them: four bits each, since an
/// array that is indexed while running would be copied to the memory of each thread.
struct activation_chain {
  static constexpr int bits = 4;

  std::uint32_t functions = 0;
  int count = 0;

  template <int width>
  GRAPHLINE_HOST_DEVICE void operator()(float (&values)[width]) const {
    for (int i = 0; i < count; ++i) {
      switch (static_cast<activation>(functions >> (bits * i) & ((1U << bits) - 1))) {
        case activation::relu:
          activate_all<activation::relu>(values);
          break;
        case activation::relu6:
          activate_all<activation::relu6>(values);
          break;
        case activation::gelu_erf:
          activate_all<activation::gelu_erf>(values);
          break;
        case activation::gelu_tanh:
          activate_all<activation::gelu_tanh>(values);
          break;
        case activation::sigmoid:
          activate_all<activation::sigmoid>(values);
          break;
        case activation::silu:
          activate_all<activation::silu>(values);
          break;
      }
    }
  }
};
static_assert(longest_chain * activation_chain::bits <= 32);

inline activation_chain chain_of(const std::vector<activation>& functions) {
  if (functions.size() > longest_chain) throw std::logic_error("a chain too long for a kernel");
  activation_chain chain;
  for (const activation function : functions) {
    chain.functions |= static_cast<std::uint32_t>(function)
                       << (activation_chain::bits * chain.count++);
  }
  return chain;
}

/// An item is a pack, all of whose elements are of one channel or of neighboring ones.
template <class From, class To, int width>
struct pointwise_work {
  const From* x;
  const float* scale;  ///< or null, as shift and added
  const float* shift;
  const From* added;
  To* y;
  std::int64_t channels;
  std::int64_t inner;
  activation_chain before;
  activation_chain after;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const std::int64_t begin = item * width;
    const pack<From, width> values = load<width>(x + begin);
    float result[width];
    for (int i = 0; i < width; ++i) result[i] = to_float(values.element[i]);
    if (scale != nullptr || shift != nullptr) {
      std::int64_t channel = inner == 1 ? begin : quotient(begin, inner);
      channel = take_digit(channel, channels);
      const int step = inner == 1 ? 1 : 0;
      for (int i = 0; i < width; ++i) {
        if (scale != nullptr) result[i] *= scale[channel + i * step];
        if (shift != nullptr) result[i] += shift[channel + i * step];
      }
    }
    before(result);
    if (added != nullptr) {
      const pack<From, width> others = load<width>(added + begin);
      for (int i = 0; i < width; ++i) result[i] += to_float(others.element[i]);
      after(result);
    }
    pack<To, width> rounded;
    for (int i = 0; i < width; ++i) from_float(result[i], rounded.element[i]);
    store<width>(y + begin, rounded);
  }
};

/// Runs a pointwise step by `launch`, as conversions are.
template <class Launcher>
void run(const pointwise_form& form, std::span<void* const> operands, const Launcher& launch) {
  with_elements(form.from, form.to, operands, [&]<class From, class To>(const From* x, To* y) {
    constexpr int widest = pack_width<From, To>;
    std::size_t next = 1;
    const auto* scale = form.scale ? static_cast<const float*>(operands[next++]) : nullptr;
    const auto* shift = form.shift ? static_cast<const float*>(operands[next++]) : nullptr;
    const auto* added = form.add ? static_cast<const From*>(operands[next]) : nullptr;
    const std::int64_t run_of_one_rule = form.inner == 1 ? form.channels : form.inner;
    const bool by_channel = form.scale || form.shift;
    const bool packs = form.count % widest == 0 && (!by_channel || run_of_one_rule % widest == 0) &&
                       begins_pack<widest>(x) && begins_pack<widest>(y) &&
                       (added == nullptr || begins_pack<widest>(added));
    with_width<widest>(packs, [&](auto width) {
      launch.items(
          pointwise_work<From, To, width>{x, scale, shift, added, y, form.channels, form.inner,
                                          chain_of(form.before), chain_of(form.after)},
          form.count / width);
    });
  });
}

}  // namespace graphline
