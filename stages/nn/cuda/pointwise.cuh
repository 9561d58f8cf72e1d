#pragma once

#include <span>
#include <stdexcept>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/operations/scalar_math.hpp"

namespace graphline::nn {

/// Applies a function to as many of the packs `xs`, `ys` and `zs` as it has operands.
template <int width>
GRAPHLINE_HOST_DEVICE inline void apply(pointwise_function function, float alpha, float beta,
                                        const float (&xs)[width], const float (&ys)[width],
                                        const float (&zs)[width], float (&result)[width]) {
  using value = float;
  using mask = bool;
  using math = scalar_math<float>;
  switch (function) {
#define GRAPHLINE_POINTWISE(function, name, operands, flops, onnx, ...) \
  case pointwise_function::function:                                    \
    for (int i = 0; i < width; ++i) {                                   \
      const float x = xs[i];                                            \
      const float y = ys[i];                                            \
      const float z = zs[i];                                            \
      float r;                                                          \
      (void)x, (void)y, (void)z;                                        \
      __VA_ARGS__;                                                      \
      result[i] = r;                                                    \
    }                                                                   \
    return;
#include "stages/nn/operations/pointwise_functions.inc"
  }
}

/// Source of a step's operand. The previous step's result stays in registers. Local memory keeps
/// the results that later steps read.
struct value_source {
  enum : std::uint8_t { last, operand, kept };
  std::uint8_t from = last;
  std::uint8_t number = 0;
};

/// An expression as a kernel argument. Its arrays have fixed sizes, so that kernels index them in
/// constant memory.
struct encoded_expression {
  struct step {
    pointwise_function function;
    float alpha;
    float beta;
    value_source sources[3];
    std::uint8_t operands;
    std::uint8_t keep_as;  ///< 1-based slot; 0 if only the next step reads it
  };
  struct tensor {
    const void* data;
    dtype element;
    std::int64_t strides[most_extents];
  };

  tensor operands[most_pointwise_operands];
  tensor result;
  std::int64_t extents[most_extents];  ///< padded with leading ones
  step steps[most_pointwise_steps];
  int step_count;
  value_source result_source;
};

/// Limit of results kept in local memory.
inline constexpr int most_kept = 12;

/// Each item is `width` adjacent elements along the innermost of `rank` extents.
template <int width, int rank>
struct pointwise_work {
  encoded_expression expression;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    std::int64_t position[rank];
    std::int64_t rest = item * width;
    for (int axis = rank - 1; axis > 0; --axis) {
      position[axis] = take_digit(rest, extent(axis));
    }
    position[0] = rest;
    float last[width] = {};
    float kept[most_kept][width];
    for (int i = 0; i < expression.step_count; ++i) {
      const encoded_expression::step& step = expression.steps[i];
      float x[width];
      float y[width] = {};
      float z[width] = {};
      fetch(step.sources[0], position, last, kept, x);
      if (step.operands > 1) fetch(step.sources[1], position, last, kept, y);
      if (step.operands > 2) fetch(step.sources[2], position, last, kept, z);
      apply<width>(step.function, step.alpha, step.beta, x, y, z, last);
      if (step.keep_as > 0) {
        for (int k = 0; k < width; ++k) kept[step.keep_as - 1][k] = last[k];
      }
    }
    float result[width];
    fetch(expression.result_source, position, last, kept, result);
    store_as<width>(expression.result.element, const_cast<void*>(expression.result.data),
                    offset(expression.result, position), result);
  }

 private:
  GRAPHLINE_HOST_DEVICE std::int64_t extent(int axis) const {
    return expression.extents[static_cast<int>(most_extents) - rank + axis];
  }

  GRAPHLINE_HOST_DEVICE static std::int64_t offset(const encoded_expression::tensor& tensor,
                                                   const std::int64_t (&position)[rank]) {
    std::int64_t sum = 0;
    for (int axis = 0; axis < rank; ++axis) {
      sum += position[axis] * tensor.strides[static_cast<int>(most_extents) - rank + axis];
    }
    return sum;
  }

  GRAPHLINE_HOST_DEVICE void fetch(const value_source& source, const std::int64_t (&position)[rank],
                                   const float (&last)[width],
                                   const float (&kept)[most_kept][width],
                                   float (&values)[width]) const {
    if (source.from == value_source::last) {
      for (int i = 0; i < width; ++i) values[i] = last[i];
    } else if (source.from == value_source::kept) {
      for (int i = 0; i < width; ++i) values[i] = kept[source.number][i];
    } else {
      const encoded_expression::tensor& tensor = expression.operands[source.number];
      const std::int64_t at = offset(tensor, position);
      if (tensor.strides[most_extents - 1] == 0) {
        const float value = load_as(tensor.element, tensor.data, at);
        for (int i = 0; i < width; ++i) values[i] = value;
      } else {
        load_as<width>(tensor.element, tensor.data, at, values);
      }
    }
  }
};

/// Returns true if a tensor can be accessed in packs along the innermost extent.
inline bool takes_packs(const encoded_expression::tensor& tensor, std::int64_t width) {
  if (tensor.strides[most_extents - 1] == 0) return true;
  const std::size_t bytes = size_of(tensor.element) * static_cast<std::size_t>(width);
  bool takes = tensor.strides[most_extents - 1] == 1 &&
               reinterpret_cast<std::uintptr_t>(tensor.data) % bytes == 0;
  for (std::size_t axis = 0; axis + 1 < most_extents; ++axis) {
    takes = takes && tensor.strides[axis] % width == 0;
  }
  return takes;
}

inline encoded_expression encoded(const pointwise_form& form, std::span<void* const> tensors) {
  const pointwise_expression& expression = form.expression;
  if (expression.operands > most_pointwise_operands ||
      expression.steps.size() > most_pointwise_steps || form.space.extents.size() > most_extents) {
    throw std::logic_error("an expression too large for a kernel");
  }
  const std::size_t unused = most_extents - form.space.extents.size();
  encoded_expression made{};
  const auto tensor = [&](std::size_t i) {
    encoded_expression::tensor result{tensors[i], form.elements[i], {}};
    for (std::size_t axis = unused; axis < most_extents; ++axis) {
      result.strides[axis] = form.space.strides[i][axis - unused];
    }
    return result;
  };
  for (std::size_t axis = 0; axis < most_extents; ++axis) {
    made.extents[axis] = axis < unused ? 1 : form.space.extents[axis - unused];
  }
  for (std::size_t i = 0; i < expression.operands; ++i) made.operands[i] = tensor(i);
  made.result = tensor(expression.operands);
  made.step_count = static_cast<int>(expression.steps.size());

  std::uint8_t kept = 0;
  const auto source = [&](std::size_t reg, std::size_t reader) -> value_source {
    if (reg < expression.operands) {
      return {value_source::operand, static_cast<std::uint8_t>(reg)};
    }
    const std::size_t step = reg - expression.operands;
    if (step + 1 == reader) return {value_source::last};
    if (made.steps[step].keep_as == 0) made.steps[step].keep_as = ++kept;
    return {value_source::kept, static_cast<std::uint8_t>(made.steps[step].keep_as - 1)};
  };
  for (std::size_t i = 0; i < expression.steps.size(); ++i) {
    const auto& [layer, from] = expression.steps[i];
    encoded_expression::step& step = made.steps[i];
    step.function = layer.function;
    step.alpha = layer.alpha;
    step.beta = layer.beta;
    step.operands = static_cast<std::uint8_t>(traits_of(layer.function).operands);
    for (std::size_t k = 0; k < step.operands; ++k) step.sources[k] = source(from[k], i);
  }
  made.result_source = source(expression.results.front(), expression.steps.size());
  if (kept > most_kept) throw std::logic_error("an expression that keeps too much for a kernel");
  return made;
}

template <class Launcher>
void run(const pointwise_form& form, std::span<void* const> operands, const Launcher& launch) {
  const encoded_expression expression = encoded(form, operands);
  std::int64_t count = 1;
  for (const std::int64_t extent : form.space.extents) count *= extent;
  constexpr int widest = 4;
  bool packs = expression.extents[most_extents - 1] % widest == 0 &&
               expression.result.strides[most_extents - 1] == 1 &&
               takes_packs(expression.result, widest);
  for (std::size_t i = 0; i < form.expression.operands; ++i) {
    packs = packs && takes_packs(expression.operands[i], widest);
  }
  with_width<widest>(packs, [&](auto width) {
    const auto over = [&](auto rank) {
      launch.items(pointwise_work<width, rank>{expression}, count / width);
    };
    if (form.space.extents.size() <= 1) {
      over(std::integral_constant<int, 1>{});
    } else if (form.space.extents.size() <= 3) {
      over(std::integral_constant<int, 3>{});
    } else {
      over(std::integral_constant<int, static_cast<int>(most_extents)>{});
    }
  });
}

}  // namespace graphline::nn
