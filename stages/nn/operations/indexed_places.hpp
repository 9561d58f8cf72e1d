#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stages/nn/operations/host_device.hpp"
#include "stages/nn/operations/layer_operation.hpp"
#include "stages/nn/operations/windows.hpp"

namespace graphline::nn {

/// `indexed_elements` for loops and kernels, split into items that may run in any order and turns
/// of each item that run in order.
struct indexed_places {
  static constexpr int most_axes = 8;
  struct axis {
    std::int64_t extent;
    std::int64_t in_values;  ///< strides
    std::int64_t in_tensor;
    std::int64_t in_indices;
    bool in_turn;
  };
  struct place {
    std::int64_t in_values;
    std::int64_t in_tensor;
  };
  int axes = 0;
  int indices = 0;
  axis of_axis[most_axes];
  std::int64_t extents[most_axes];  ///< of the indexed dimensions
  std::int64_t strides[most_axes];
  std::int64_t items = 1;
  std::int64_t turns = 1;

  /// `index_at(i)` is element i of the index tensor. `outside` has a number for each indexed
  /// dimension, which takes an index that is out of range.
  template <class IndexAt>
  GRAPHLINE_HOST_DEVICE place at(std::int64_t item, std::int64_t turn, const IndexAt& index_at,
                                 float* outside) const {
    place found{0, 0};
    std::int64_t first = 0;
    for (int i = axes - 1; i >= 0; --i) {
      const axis& along = of_axis[i];
      std::int64_t& rest = along.in_turn ? turn : item;
      const std::int64_t position = rest % along.extent;
      rest /= along.extent;
      found.in_values += position * along.in_values;
      found.in_tensor += position * along.in_tensor;
      first += position * along.in_indices;
    }
    for (int i = 0; i < indices; ++i) {
      found.in_tensor += taken_position(index_at(first + i), extents[i], outside + i) * strides[i];
    }
    return found;
  }
};

/// Returns the places of selected elements. With `in_turn`, items select different elements: the
/// dimensions of the space along which elements may be selected again become turns.
inline indexed_places places_of(const indexed_elements& selected, bool in_turn) {
  indexed_places places;
  places.axes = static_cast<int>(selected.space.extents.size());
  places.indices = static_cast<int>(selected.extents.size());
  std::int64_t in_values = 1;
  for (std::size_t i = selected.space.extents.size(); i-- > 0;) {
    const std::int64_t extent = selected.space.extents[i];
    const std::int64_t in_tensor = selected.space.strides[0][i];
    const bool again = in_turn && in_tensor == 0;
    places.of_axis[i] = {extent, in_values, in_tensor, selected.space.strides[1][i], again};
    in_values *= extent;
    (again ? places.turns : places.items) *= extent;
  }
  for (std::size_t i = 0; i < selected.extents.size(); ++i) {
    places.extents[i] = selected.extents[i];
    places.strides[i] = selected.strides[i];
  }
  return places;
}

GRAPHLINE_HOST_DEVICE constexpr float neutral(reduce_layer::reduction function) {
  return function == reduce_layer::reduction::max       ? -INFINITY
         : function == reduce_layer::reduction::min     ? INFINITY
         : function == reduce_layer::reduction::product ? 1.0F
                                                        : 0.0F;
}

/// Combines two operands without a branch; NaN propagates.
GRAPHLINE_HOST_DEVICE inline float joined(reduce_layer::reduction function, float a, float b) {
  switch (function) {
    case reduce_layer::reduction::product:
      return a * b;
    case reduce_layer::reduction::max:
      return ((b > a) | (b != b)) ? b : a;
    case reduce_layer::reduction::min:
      return ((b < a) | (b != b)) ? b : a;
    default:
      return a + b;
  }
}

}  // namespace graphline::nn
