#include "stages/network/pointwise.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace graphline {
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
    {function::log, "log", 1, 1},
    {function::logical_not, "not", 1, 1},
    {function::mish, "mish", 1, 5},
    {function::neg, "neg", 1, 1},
    {function::reciprocal, "reciprocal", 1, 1},
    {function::relu, "relu", 1, 1},
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

double hard_sigmoid(double x, double alpha, double beta) {
  return std::clamp(alpha * x + beta, 0.0, 1.0);
}

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double evaluate_one(const pointwise_layer& layer, double x) {
  const double alpha = layer.alpha;
  const double beta = layer.beta;
  switch (layer.function) {
    case function::abs:
      return std::abs(x);
    case function::ceil:
      return std::ceil(x);
    case function::clip:
      return x < alpha ? alpha : x > beta ? beta : x;
    case function::cos:
      return std::cos(x);
    case function::elu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case function::erf:
      return std::erf(x);
    case function::exp:
      return std::exp(x);
    case function::floor:
      return std::floor(x);
    case function::gelu_erf:
      return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
    case function::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case function::hard_sigmoid:
      return hard_sigmoid(x, alpha, beta);
    case function::hard_swish:
      return x * hard_sigmoid(x, 1.0 / 6, 0.5);
    case function::leaky_relu:
      return x < 0 ? alpha * x : x;
    case function::log:
      return std::log(x);
    case function::logical_not:
      return x == 0 ? 1 : 0;
    case function::mish:
      return x * std::tanh(softplus(x));
    case function::neg:
      return -x;
    case function::reciprocal:
      return 1 / x;
    case function::relu:
      return x < 0 ? 0 : x;
    case function::round:
      return std::nearbyint(x);
    case function::selu:
      return beta * (x < 0 ? alpha * std::expm1(x) : x);
    case function::sigmoid:
      return 1 / (1 + std::exp(-x));
    case function::sign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case function::silu:
      return x / (1 + std::exp(-x));
    case function::sin:
      return std::sin(x);
    case function::softplus:
      return softplus(x);
    case function::softsign:
      return x / (1 + std::abs(x));
    case function::sqrt:
      return std::sqrt(x);
    case function::tanh:
      return std::tanh(x);
    case function::thresholded_relu:
      return x > alpha ? x : 0;
    default:
      throw std::logic_error("a pointwise function of more than one operand");
  }
}

double evaluate_two(function of, double x, double y) {
  switch (of) {
    case function::add:
      return x + y;
    case function::sub:
      return x - y;
    case function::mul:
      return x * y;
    case function::div:
      return x / y;
    case function::pow:
      return std::pow(x, y);
    case function::max:
      return x > y || std::isnan(x) ? x : y;
    case function::min:
      return x < y || std::isnan(x) ? x : y;
    case function::fmod:
      return std::fmod(x, y);
    case function::mod:
      return x - y * std::floor(x / y);
    case function::prelu:
      return x < 0 ? x * y : x;
    case function::equal:
      return x == y ? 1 : 0;
    case function::less:
      return x < y ? 1 : 0;
    case function::less_equal:
      return x <= y ? 1 : 0;
    case function::greater:
      return x > y ? 1 : 0;
    case function::greater_equal:
      return x >= y ? 1 : 0;
    case function::logical_and:
      return x != 0 && y != 0 ? 1 : 0;
    case function::logical_or:
      return x != 0 || y != 0 ? 1 : 0;
    case function::logical_xor:
      return (x != 0) != (y != 0) ? 1 : 0;
    default:
      throw std::logic_error("a pointwise function that has not two operands");
  }
}

}  // namespace

const pointwise_traits& traits_of(pointwise_function of) {
  const auto* found = std::ranges::find(all_traits, of, &pointwise_traits::function);
  if (found == std::end(all_traits)) throw std::logic_error("a pointwise function without traits");
  return *found;
}

float evaluate(const pointwise_layer& layer, std::span<const float> operands) {
  switch (traits_of(layer.function).operands) {
    case 1:
      return static_cast<float>(evaluate_one(layer, operands[0]));
    case 2:
      return static_cast<float>(evaluate_two(layer.function, operands[0], operands[1]));
    default:
      return operands[0] != 0 ? operands[1] : operands[2];
  }
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

}  // namespace graphline
