#include "stages/nn/host/pointwise_loops.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "stages/nn/host/vector_math.hpp"
#include "stages/nn/operations/scalar_math.hpp"

namespace graphline::nn {
namespace {

/// Elements per block.
constexpr std::int64_t block = 256;

/// Limit on operands plus steps, because their blocks are on each thread's stack.
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

/// Evaluates a step in a block.
struct pointwise_step {
  template <int width>
  static GRAPHLINE_INLINE void run(const pointwise_layer& layer,
                                   const std::array<const float*, 3>& from, float* to) {
    using value = typename pointwise_vectors<width>::lanes;
    using mask = typename pointwise_vectors<width>::bits;
    const float alpha = layer.alpha;
    const float beta = layer.beta;
    switch (layer.function) {
#define GRAPHLINE_POINTWISE(function, name, operands, flops, onnx, ...) \
  case pointwise_function::function: {                                  \
    using math [[maybe_unused]] = vector_math<value, mask>;             \
    return for_vectors<width>(                                          \
        from, to,                                                       \
        [&](const value& x, const value& y, const value& z, value& r)   \
            __attribute__((always_inline)) {                            \
              (void)x, (void)y, (void)z;                                \
              __VA_ARGS__;                                              \
            });                                                         \
  }
#define GRAPHLINE_POINTWISE_SCALAR(function, name, operands, flops, onnx, ...) \
  case pointwise_function::function: {                                         \
    using math = scalar_math<float>;                                           \
    for (std::int64_t i = 0; i < block; ++i) {                                 \
      const float x = from[0][i];                                              \
      const float y = from[1][i];                                              \
      float r;                                                                 \
      (void)y;                                                                 \
      __VA_ARGS__;                                                             \
      to[i] = r;                                                               \
    }                                                                          \
    return;                                                                    \
  }
#include "stages/nn/operations/pointwise_functions.inc"
    }
  }
};

using step_codes = vector_codes<pointwise_step, 16, const pointwise_layer&,
                                const std::array<const float*, 3>&, float*>;

/// A block of a two-dimensional plane: first position, length, and columns of the plane.
struct block_place {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t columns = 1;
};

/// Visits the row segments of a block.
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
  // Copy a short row that is broadcast to all rows once, then double the copy until the block is
  // full.
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
  return step_codes::supported().front().instructions;
}

void pointwise_loops::run(std::span<const float* const> operands,
                          std::span<float* const> results) const {
  const auto apply_step = step_codes::supported().front().run;
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
      // The last step writes a packed result directly.
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
