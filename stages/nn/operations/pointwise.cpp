#include "stages/nn/operations/pointwise.hpp"

#include <algorithm>

namespace graphline::nn {
namespace {

constexpr pointwise_traits all_traits[] = {
#define GRAPHLINE_POINTWISE(function, name, operands, flops, onnx, ...) \
  {pointwise_function::function, name, operands, flops, onnx},
#include "stages/nn/operations/pointwise_functions.inc"
};

}  // namespace

std::span<const pointwise_traits> pointwise_functions() {
  return all_traits;
}

const pointwise_traits& traits_of(pointwise_function function) {
  return all_traits[static_cast<std::size_t>(function)];
}

std::optional<shape> broadcast(std::span<const shape> shapes) {
  std::size_t rank = 0;
  for (const shape& s : shapes) rank = std::max(rank, s.rank());
  std::vector<std::int64_t> extents(rank, 1);
  for (const shape& s : shapes) {
    for (std::size_t i = 0; i < s.rank(); ++i) {
      std::int64_t& extent = extents[rank - s.rank() + i];
      if (extent == 1) extent = s[i];
      if (s[i] != extent && s[i] != 1) return {};
    }
  }
  return shape(std::move(extents));
}

std::vector<std::int64_t> packed_strides(const shape& s) {
  // If an extent is 0, strides are unused, and their products could overflow.
  std::vector<std::int64_t> strides(s.rank(), s.checked_elements() == 0 ? 0 : 1);
  for (std::size_t axis = s.rank(); axis-- > 1;) strides[axis - 1] = strides[axis] * s[axis];
  return strides;
}

std::vector<std::int64_t> broadcast_strides(const shape& from, std::vector<std::int64_t> strides,
                                            const shape& to) {
  for (std::size_t i = 0; i < from.rank(); ++i) {
    if (from[i] == 1) strides[i] = 0;
  }
  strides.insert(strides.begin(), to.rank() - from.rank(), 0);
  return strides;
}

std::vector<std::int64_t> broadcast_strides(const shape& from, const shape& to) {
  return broadcast_strides(from, packed_strides(from), to);
}

pointwise_space collapsed(const pointwise_space& space) {
  pointwise_space result;
  result.strides.resize(space.strides.size());
  for (std::size_t axis = 0; axis < space.extents.size(); ++axis) {
    if (space.extents[axis] == 1) continue;
    // Extents merge if, in all tensors, the stride of the previous extent spans this extent.
    bool joins = !result.extents.empty();
    for (std::size_t i = 0; i < space.strides.size() && joins; ++i) {
      joins = result.strides[i].back() == space.strides[i][axis] * space.extents[axis];
    }
    if (joins) {
      result.extents.back() *= space.extents[axis];
    } else {
      result.extents.push_back(space.extents[axis]);
    }
    for (std::size_t i = 0; i < space.strides.size(); ++i) {
      if (joins) {
        result.strides[i].back() = space.strides[i][axis];
      } else {
        result.strides[i].push_back(space.strides[i][axis]);
      }
    }
  }
  return result;
}

}  // namespace graphline::nn
