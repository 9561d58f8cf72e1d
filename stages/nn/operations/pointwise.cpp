#include "stages/nn/operations/pointwise.hpp"

#include <algorithm>
#include <stdexcept>

namespace graphline::nn {
namespace {

using function = pointwise_function;

constexpr pointwise_traits all_traits[] = {
    {function::abs, "abs", 1, 1},
    {function::ceil, "ceil", 1, 1},
    {function::clip, "clip", 1, 2},
    {function::cos, "cos", 1, 1},
    {function::elu, "elu", 1, 4},
    {function::erf, "erf", 1, 1},
    {function::exp, "exp", 1, 1},
    {function::floor, "floor", 1, 1},
    {function::gelu_erf, "gelu", 1, 5},
    {function::gelu_tanh, "gelu_tanh", 1, 9},
    {function::hard_sigmoid, "hard_sigmoid", 1, 4},
    {function::hard_swish, "hard_swish", 1, 5},
    {function::leaky_relu, "leaky_relu", 1, 2},
    {function::linear, "linear", 1, 2},
    {function::log, "log", 1, 1},
    {function::logical_not, "not", 1, 1},
    {function::mish, "mish", 1, 5},
    {function::neg, "neg", 1, 1},
    {function::reciprocal, "reciprocal", 1, 1},
    {function::round, "round", 1, 1},
    {function::selu, "selu", 1, 5},
    {function::sigmoid, "sigmoid", 1, 4},
    {function::sign, "sign", 1, 1},
    {function::silu, "silu", 1, 5},
    {function::sin, "sin", 1, 1},
    {function::softplus, "softplus", 1, 3},
    {function::softsign, "softsign", 1, 3},
    {function::sqrt, "sqrt", 1, 1},
    {function::tanh, "tanh", 1, 1},
    {function::thresholded_relu, "thresholded_relu", 1, 1},
    {function::add, "add", 2, 1},
    {function::sub, "sub", 2, 1},
    {function::mul, "mul", 2, 1},
    {function::div, "div", 2, 1},
    {function::pow, "pow", 2, 1},
    {function::max, "max", 2, 1},
    {function::min, "min", 2, 1},
    {function::fmod, "fmod", 2, 1},
    {function::mod, "mod", 2, 2},
    {function::prelu, "prelu", 2, 2},
    {function::equal, "equal", 2, 1},
    {function::less, "less", 2, 1},
    {function::less_equal, "less_equal", 2, 1},
    {function::greater, "greater", 2, 1},
    {function::greater_equal, "greater_equal", 2, 1},
    {function::logical_and, "and", 2, 1},
    {function::logical_or, "or", 2, 1},
    {function::logical_xor, "xor", 2, 1},
    {function::where, "where", 3, 1},
};

}  // namespace

const pointwise_traits& traits_of(pointwise_function of) {
  const auto* found = std::ranges::find(all_traits, of, &pointwise_traits::function);
  if (found == std::end(all_traits)) throw std::logic_error("a pointwise function without traits");
  return *found;
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
  // Without elements nothing is reached, and extents beside one that is 0 may be of any size.
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
    // One step along the extent before goes as far as this whole extent.
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
