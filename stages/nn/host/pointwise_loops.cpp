#include "stages/nn/host/pointwise_loops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "stages/nn/host/vector_math.hpp"

namespace graphline::nn {
namespace {

using function = pointwise_function;

/// Elements that go through all steps of an expression together.
constexpr std::int64_t block = 256;

/// Operands and steps of an expression, whose blocks are on the stack of each thread.
constexpr std::size_t most_registers = 24;

/// Applies `one` to each vector of a block.
template <int width, class One>
GRAPHLINE_INLINE void for_vectors(std::array<const float*, 3> from, float* to, const One& one) {
  using lanes = typename pointwise_vectors<width>::lanes;
  for (std::int64_t i = 0; i < block; i += width) {
    lanes x;
    lanes y;
    lanes z;
    std::memcpy(&x, from[0] + i, sizeof x);
    std::memcpy(&y, from[1] + i, sizeof y);
    std::memcpy(&z, from[2] + i, sizeof z);
    lanes result;
    one(x, y, z, result);
    std::memcpy(to + i, &result, sizeof result);
  }
}

/// For functions without a vector form of ours.
template <class One>
GRAPHLINE_INLINE void for_elements(const std::array<const float*, 3>& from, float* to,
                                   const One& one) {
  for (std::int64_t i = 0; i < block; ++i) to[i] = one(from[0][i], from[1][i]);
}

/// With the sign of y, as in Python.
float modulo(float x, float y) {
  const float rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

template <int width>
GRAPHLINE_INLINE void apply(const pointwise_layer& layer, const std::array<const float*, 3>& from,
                            float* to) {
  using lanes = typename pointwise_vectors<width>::lanes;
  using bits = typename pointwise_vectors<width>::bits;
  using math = vector_math<lanes, bits>;
  const float alpha = layer.alpha;
  const float beta = layer.beta;
#define GRAPHLINE_STEP(name, ...)                                     \
  case function::name:                                                \
    return for_vectors<width>(                                        \
        from, to,                                                     \
        [&](const lanes& x, const lanes& y, const lanes& z, lanes& r) \
            __attribute__((always_inline)) {                          \
              (void)x, (void)y, (void)z;                              \
              __VA_ARGS__;                                            \
            })
  switch (layer.function) {
    GRAPHLINE_STEP(abs, math::absolute(x, r));
    GRAPHLINE_STEP(ceil, math::ceil(x, r));
    GRAPHLINE_STEP(clip, math::between(x, alpha, beta, r));
    GRAPHLINE_STEP(elu, {
      math::exp_minus_one(x, r);
      const bits below = x < 0.0F;
      math::select(below, alpha * r, x, r);
    });
    GRAPHLINE_STEP(erf, math::erf(x, r));
    GRAPHLINE_STEP(exp, math::exp(x, r));
    GRAPHLINE_STEP(floor, math::floor(x, r));
    GRAPHLINE_STEP(gelu_erf, {
      math::erf(x * 0.707106781F, r);
      r = 0.5F * x * (1.0F + r);
    });
    GRAPHLINE_STEP(gelu_tanh, {
      math::tanh(0.797884561F * (x + 0.044715F * x * x * x), r);
      r = 0.5F * x * (1.0F + r);
    });
    GRAPHLINE_STEP(hard_sigmoid, math::between(alpha * x + beta, 0.0F, 1.0F, r));
    GRAPHLINE_STEP(hard_swish, {
      math::between(x * 0.166666667F + 0.5F, 0.0F, 1.0F, r);
      r = r * x;
    });
    GRAPHLINE_STEP(leaky_relu, {
      const bits below = x < 0.0F;
      math::select(below, alpha * x, x, r);
    });
    GRAPHLINE_STEP(linear, r = alpha * x + beta);
    GRAPHLINE_STEP(log, math::log(x, r));
    GRAPHLINE_STEP(logical_not, {
      const bits none = x == 0.0F;
      math::truth(none, r);
    });
    GRAPHLINE_STEP(mish, {
      math::softplus(x, r);
      math::tanh(r, r);
      r = r * x;
    });
    GRAPHLINE_STEP(neg, r = -x);
    GRAPHLINE_STEP(reciprocal, r = 1.0F / x);
    GRAPHLINE_STEP(round, math::nearest(x, r));
    GRAPHLINE_STEP(selu, {
      math::exp_minus_one(x, r);
      const bits below = x < 0.0F;
      math::select(below, alpha * r, x, r);
      r = beta * r;
    });
    GRAPHLINE_STEP(sigmoid, {
      math::exp(-x, r);
      r = 1.0F / (1.0F + r);
    });
    GRAPHLINE_STEP(silu, {
      math::exp(-x, r);
      r = x / (1.0F + r);
    });
    GRAPHLINE_STEP(sign, {
      lanes negative;
      math::truth(x > 0.0F, r);
      math::truth(x < 0.0F, negative);
      const bits number = x == x;
      math::select(number, r - negative, x, r);
    });
    GRAPHLINE_STEP(softplus, math::softplus(x, r));
    GRAPHLINE_STEP(softsign, {
      math::absolute(x, r);
      r = x / (1.0F + r);
    });
    GRAPHLINE_STEP(tanh, math::tanh(x, r));
    GRAPHLINE_STEP(thresholded_relu, {
      const bits above = x > alpha;
      math::select(above, x, lanes{}, r);
    });
    GRAPHLINE_STEP(add, r = x + y);
    GRAPHLINE_STEP(sub, r = x - y);
    GRAPHLINE_STEP(mul, r = x * y);
    GRAPHLINE_STEP(div, r = x / y);
    GRAPHLINE_STEP(max, {
      const bits takes = (x > y) | (x != x);
      math::select(takes, x, y, r);
    });
    GRAPHLINE_STEP(min, {
      const bits takes = (x < y) | (x != x);
      math::select(takes, x, y, r);
    });
    GRAPHLINE_STEP(prelu, {
      const bits below = x < 0.0F;
      math::select(below, x * y, x, r);
    });
    GRAPHLINE_STEP(equal, math::truth(x == y, r));
    GRAPHLINE_STEP(less, math::truth(x < y, r));
    GRAPHLINE_STEP(less_equal, math::truth(x <= y, r));
    GRAPHLINE_STEP(greater, math::truth(x > y, r));
    GRAPHLINE_STEP(greater_equal, math::truth(x >= y, r));
    GRAPHLINE_STEP(logical_and, math::truth((x != 0.0F) & (y != 0.0F), r));
    GRAPHLINE_STEP(logical_or, math::truth((x != 0.0F) | (y != 0.0F), r));
    GRAPHLINE_STEP(logical_xor, math::truth((x != 0.0F) ^ (y != 0.0F), r));
    GRAPHLINE_STEP(where, {
      const bits yes = x != 0.0F;
      math::select(yes, y, z, r);
    });
    case function::cos:
      return for_elements(from, to, [](float x, float) { return std::cos(x); });
    case function::fmod:
      return for_elements(from, to, [](float x, float y) { return std::fmod(x, y); });
    case function::mod:
      return for_elements(from, to, modulo);
    case function::pow:
      return for_elements(from, to, [](float x, float y) { return std::pow(x, y); });
    case function::sin:
      return for_elements(from, to, [](float x, float) { return std::sin(x); });
    case function::sqrt:
      return for_elements(from, to, [](float x, float) { return std::sqrt(x); });
  }
#undef GRAPHLINE_STEP
}

/// Where in a plane of two extents a block begins and how many elements it has.
struct block_place {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t columns = 1;
};

/// Copies between a block, which is packed, and a tensor whose last two strides are given.
template <class Copy>
GRAPHLINE_INLINE void for_rows(const block_place& place, const Copy& copy) {
  std::int64_t row = place.first / place.columns;
  std::int64_t column = place.first % place.columns;
  for (std::int64_t done = 0; done < place.count; ++row, column = 0) {
    const std::int64_t length = std::min(place.columns - column, place.count - done);
    copy(row, column, length, done);
    done += length;
  }
}

void gather(const float* from, std::int64_t row_stride, std::int64_t column_stride,
            const block_place& place, float* to) {
  // One short row for all, such as a block of channels: copied once, then twice as much each time.
  if (row_stride == 0 && column_stride == 1 && place.columns < block) {
    const std::int64_t begin = place.first % place.columns;
    std::copy_n(from + begin, place.columns - begin, to);
    std::copy_n(from, begin, to + place.columns - begin);
    for (std::int64_t done = place.columns; done < block; done *= 2) {
      std::copy_n(to, std::min(done, block - done), to + done);
    }
    return;
  }
  for_rows(place,
           [&](std::int64_t row, std::int64_t column, std::int64_t length, std::int64_t done) {
             const float* line = from + row * row_stride + column * column_stride;
             if (column_stride == 1) {
               std::copy_n(line, length, to + done);
             } else if (column_stride == 0) {
               std::fill_n(to + done, length, *line);
             } else {
               for (std::int64_t i = 0; i < length; ++i) to[done + i] = line[i * column_stride];
             }
           });
  std::fill_n(to + place.count, block - place.count, 0.0F);
}

void scatter(const float* from, std::int64_t row_stride, std::int64_t column_stride,
             const block_place& place, float* to) {
  for_rows(place,
           [&](std::int64_t row, std::int64_t column, std::int64_t length, std::int64_t done) {
             float* line = to + row * row_stride + column * column_stride;
             if (column_stride == 1) {
               std::copy_n(from + done, length, line);
               return;
             }
             for (std::int64_t i = 0; i < length; ++i) line[i * column_stride] = from[done + i];
           });
}

using steps_of_block = void (*)(const pointwise_layer&, const std::array<const float*, 3>&, float*);

void apply_anywhere(const pointwise_layer& layer, const std::array<const float*, 3>& from,
                    float* to) {
  apply<4>(layer, from, to);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void apply_avx2(const pointwise_layer& layer,
                                                    const std::array<const float*, 3>& from,
                                                    float* to) {
  apply<8>(layer, from, to);
}

__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))) void apply_avx512(
    const pointwise_layer& layer, const std::array<const float*, 3>& from, float* to) {
  apply<16>(layer, from, to);
}
#endif

struct pointwise_code {
  std::string_view instructions;
  steps_of_block apply = nullptr;
};

pointwise_code best_code() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
    return {"AVX-512", apply_avx512};
  }
  if (avx2) return {"AVX2", apply_avx2};
#endif
  return {"plain vectors", apply_anywhere};
}

const pointwise_code& chosen_code() {
  static const pointwise_code code = best_code();
  return code;
}

}  // namespace

pointwise_loops::pointwise_loops(pointwise_expression expression, const pointwise_space& space)
    : expression_(std::move(expression)), space_(collapsed(space)) {
  if (expression_.operands + expression_.steps.size() > most_registers) {
    throw std::logic_error("a pointwise expression that has too many registers");
  }
  while (space_.extents.size() < 2) {
    const std::int64_t extent = space_.extents.empty() ? 1 : space_.extents.front();
    for (auto& strides : space_.strides) {
      strides.insert(strides.begin(), strides.empty() ? 1 : strides.front() * extent);
    }
    space_.extents.insert(space_.extents.begin(), 1);
  }
  plane_ = space_.extents[space_.extents.size() - 2] * space_.extents.back();
  blocks_of_plane_ = (plane_ + block - 1) / block;
  blocks_ = blocks_of_plane_;
  for (std::size_t axis = 0; axis + 2 < space_.extents.size(); ++axis) {
    blocks_ *= space_.extents[axis];
  }
}

std::string_view pointwise_loops::instructions() {
  return chosen_code().instructions;
}

void pointwise_loops::run(std::span<const float* const> operands,
                          std::span<float* const> results) const {
  const steps_of_block apply_step = chosen_code().apply;
  const std::size_t axes = space_.extents.size();
  const std::int64_t columns = space_.extents.back();
  const auto offset_of = [&](std::size_t tensor, std::int64_t outer) {
    std::int64_t offset = 0;
    for (std::size_t axis = axes - 2; axis-- > 0; outer /= space_.extents[axis]) {
      offset += outer % space_.extents[axis] * space_.strides[tensor][axis];
    }
    return offset;
  };
#pragma omp parallel
  {
    alignas(64) std::array<std::array<float, block>, most_registers> room;
    std::array<const float*, most_registers> values;
#pragma omp for schedule(static)
    for (std::int64_t number = 0; number < blocks_; ++number) {
      const std::int64_t outer = number / blocks_of_plane_;
      block_place place{.first = number % blocks_of_plane_ * block, .columns = columns};
      place.count = std::min(block, plane_ - place.first);
      const auto packed = [&](std::size_t tensor) {
        const auto& strides = space_.strides[tensor];
        return strides[axes - 1] == 1 && strides[axes - 2] == columns && place.count == block;
      };
      for (std::size_t i = 0; i < expression_.operands; ++i) {
        const auto& strides = space_.strides[i];
        const float* from = operands[i] + offset_of(i, outer);
        if (packed(i)) {
          values[i] = from + place.first;
          continue;
        }
        float* copy = room[i].data();
        gather(from, strides[axes - 2], strides[axes - 1], place, copy);
        values[i] = copy;
      }
      // A last step whose result lies packed writes it itself.
      const std::size_t last = expression_.operands + expression_.steps.size() - 1;
      const bool direct = !expression_.steps.empty() && expression_.results.size() == 1 &&
                          expression_.results[0] == last && packed(expression_.operands);
      for (std::size_t i = 0; i < expression_.steps.size(); ++i) {
        const pointwise_expression::step& step = expression_.steps[i];
        float* to = room[expression_.operands + i].data();
        if (direct && expression_.operands + i == last) {
          to = results[0] + offset_of(expression_.operands, outer) + place.first;
        }
        apply_step(step.layer, {values[step.from[0]], values[step.from[1]], values[step.from[2]]},
                   to);
        values[expression_.operands + i] = to;
      }
      for (std::size_t i = direct ? 1 : 0; i < expression_.results.size(); ++i) {
        const auto& strides = space_.strides[expression_.operands + i];
        scatter(values[expression_.results[i]], strides[axes - 2], strides[axes - 1], place,
                results[i] + offset_of(expression_.operands + i, outer));
      }
    }
  }
}

}  // namespace graphline::nn
