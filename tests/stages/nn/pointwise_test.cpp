#include "stages/nn/operations/pointwise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>

#include "stages/nn/host/pointwise_loops.hpp"

namespace graphline::test {

using namespace nn;

namespace {

using testing::ElementsAre;

using function = pointwise_function;

/// Reference functions in double, by the standard library.
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
      return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case function::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case function::hard_sigmoid:
      return hard_sigmoid(x, alpha, beta);
    case function::hard_swish:
      return x * hard_sigmoid(x, 1.0 / 6, 0.5);
    case function::is_beyond:
      return x > alpha || x < beta ? 1 : 0;
    case function::is_nan:
      return std::isnan(x) ? 1 : 0;
    case function::leaky_relu:
      return x < 0 ? alpha * x : x;
    case function::linear:
      return alpha * x + beta;
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
      return std::max(x, 0.0);
    case function::round:
      return std::nearbyint(x);
    case function::selu:
      return beta * (x < 0 ? alpha * std::expm1(x) : x);
    case function::sigmoid:
      return 1 / (1 + std::exp(-x));
    case function::silu:
      return x / (1 + std::exp(-x));
    case function::sign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
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
    case function::truncate:
      return std::trunc(x);
    case function::wrap:
      return x - beta * std::floor((x - alpha) / beta);
    default:
      throw std::logic_error("more than one operand");
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
      return std::fmod(x, y) + (std::fmod(x, y) * y < 0 ? y : 0);
    case function::quotient:
      return std::trunc(static_cast<float>(x / y));  // rounds before it truncates
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
      throw std::logic_error("not two operands");
  }
}

double evaluate_three(const pointwise_layer& layer, double x, double y, double z) {
  switch (layer.function) {
    case function::dequantize:
      return (x - z) * y;
    case function::quantize: {
      const double rounded = std::nearbyint(x / y) + z;
      return rounded < layer.alpha ? layer.alpha : rounded > layer.beta ? layer.beta : rounded;
    }
    default:
      return x != 0 ? y : z;
  }
}

float evaluate(const pointwise_layer& layer, std::span<const float> x) {
  switch (traits_of(layer.function).operands) {
    case 1:
      return static_cast<float>(evaluate_one(layer, x[0]));
    case 2:
      return static_cast<float>(evaluate_two(layer.function, x[0], x[1]));
    default:
      return static_cast<float>(evaluate_three(layer, x[0], x[1], x[2]));
  }
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

const pointwise_layer all_layers[] = {
    {pointwise_function::abs},
    {pointwise_function::ceil},
    {pointwise_function::clip, -0.5F, 3.0F},
    {pointwise_function::cos},
    {pointwise_function::elu, 1.5F},
    {pointwise_function::erf},
    {pointwise_function::exp},
    {pointwise_function::floor},
    {pointwise_function::gelu_erf},
    {pointwise_function::gelu_tanh},
    {pointwise_function::hard_sigmoid, 0.2F, 0.5F},
    {pointwise_function::hard_swish},
    {pointwise_function::is_beyond, 1e30F, -100.0F},
    {pointwise_function::is_nan},
    {pointwise_function::leaky_relu, 0.1F},
    {pointwise_function::linear, 1.5F, 0.25F},
    {pointwise_function::log},
    {pointwise_function::logical_not},
    {pointwise_function::mish},
    {pointwise_function::neg},
    {pointwise_function::reciprocal},
    {pointwise_function::relu},
    {pointwise_function::round},
    {pointwise_function::selu, 1.67326F, 1.0507F},
    {pointwise_function::sigmoid},
    {pointwise_function::silu},
    {pointwise_function::sign},
    {pointwise_function::sin},
    {pointwise_function::softplus},
    {pointwise_function::softsign},
    {pointwise_function::sqrt},
    {pointwise_function::tanh},
    {pointwise_function::thresholded_relu, 0.7F},
    {pointwise_function::truncate},
    {pointwise_function::wrap, -4.0F, 8.0F},
    {pointwise_function::add},
    {pointwise_function::sub},
    {pointwise_function::mul},
    {pointwise_function::div},
    {pointwise_function::quotient},
    {pointwise_function::pow},
    {pointwise_function::max},
    {pointwise_function::min},
    {pointwise_function::fmod},
    {pointwise_function::mod},
    {pointwise_function::prelu},
    {pointwise_function::equal},
    {pointwise_function::less},
    {pointwise_function::less_equal},
    {pointwise_function::greater},
    {pointwise_function::greater_equal},
    {pointwise_function::logical_and},
    {pointwise_function::logical_or},
    {pointwise_function::logical_xor},
    {pointwise_function::dequantize},
    {pointwise_function::quantize, -8.0F, 7.0F},
    {pointwise_function::where},
};

/// Numbers of every magnitude and sign, infinities and NaN.
std::vector<float> some_numbers(std::size_t count, std::uint64_t seed) {
  std::vector<float> numbers{0.0F,   -0.0F,    1.0F,      -1.0F,      0.5F,   1.5F,
                             2.5F,   infinity, -infinity, nan,        1e-42F, 88.0F,
                             -87.0F, -103.0F,  89.5F,     8388609.0F, 1e30F,  -1e30F};
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<float> near(-12.0F, 12.0F);
  std::uniform_real_distribution<float> exponent(-30.0F, 5.0F);
  while (numbers.size() < count) {
    numbers.push_back(near(generator));
    numbers.push_back(std::copysign(std::exp2(exponent(generator)), near(generator)));
  }
  numbers.resize(count);
  std::shuffle(numbers.begin(), numbers.end(), generator);
  return numbers;
}

pointwise_expression expression_of(const pointwise_layer& layer) {
  pointwise_expression expression;
  expression.operands = static_cast<std::size_t>(traits_of(layer.function).operands);
  expression.steps = {{layer, {0, 1, 2}}};
  for (std::size_t i = expression.operands; i < 3; ++i) expression.steps[0].from[i] = 0;
  expression.results = {expression.operands};
  return expression;
}

/// Functions of the form x * (f(x) + c) that cancel to 0 for negative x.
bool cancels(pointwise_function of) {
  return of == pointwise_function::hard_swish || of == pointwise_function::gelu_erf ||
         of == pointwise_function::gelu_tanh;
}

TEST(pointwise_loops, compute_each_function_of_every_kind_of_number) {
  constexpr std::size_t count = 5000;
  const std::vector<float> operands[] = {some_numbers(count, 1), some_numbers(count, 2),
                                         some_numbers(count, 3)};
  for (const pointwise_layer& layer : all_layers) {
    const pointwise_expression expression = expression_of(layer);
    const std::vector<std::vector<std::int64_t>> strides(expression.operands + 1, {1});
    const pointwise_loops loops(expression, {{count}, strides});
    std::vector<const float*> from;
    for (std::size_t i = 0; i < expression.operands; ++i) from.push_back(operands[i].data());
    std::vector<float> given(count);
    float* const to[] = {given.data()};
    loops.run(from, to);
    for (std::size_t i = 0; i < count; ++i) {
      const float at[] = {operands[0][i], operands[1][i], operands[2][i]};
      const float expected = evaluate(layer, at);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(given[i])) << traits_of(layer.function).name << " of " << at[0];
      } else if (std::isinf(expected)) {
        EXPECT_EQ(given[i], expected) << traits_of(layer.function).name << " of " << at[0];
      } else {
        // Four ulp, plus the loss in subnormal numbers and in formulas that cancel.
        const float cancelled = cancels(layer.function) ? 1.2e-7F * std::abs(at[0]) : 0.0F;
        EXPECT_NEAR(given[i], expected, 5e-7F * std::abs(expected) + 1.5e-38F + cancelled)
            << traits_of(layer.function).name << " of " << at[0] << ", " << at[1];
      }
    }
  }
}

TEST(pointwise_loops, broadcast_and_keep_steps_in_registers) {
  // (x + channel) * y over [2, 3, 5, 7] with a channel of [3, 1, 1], x transposed in memory.
  const std::int64_t extents[] = {2, 3, 5, 7};
  const pointwise_expression expression{
      .operands = 3,
      .steps = {{{pointwise_function::add}, {0, 1, 0}}, {{pointwise_function::mul}, {3, 2, 0}}},
      .results = {4, 3}};
  const pointwise_space space{
      {2, 3, 5, 7},
      {{105, 35, 1, 5}, {0, 1, 0, 0}, {105, 35, 7, 1}, {105, 35, 7, 1}, {105, 35, 7, 1}}};
  std::vector<float> x(210);
  std::vector<float> y(210);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 2.0F + static_cast<float>(i % 11);
  }
  const float channel[] = {0.5F, -1.0F, 4.0F};
  std::vector<float> product(210);
  std::vector<float> sum(210);
  const float* const from[] = {x.data(), channel, y.data()};
  float* const to[] = {product.data(), sum.data()};
  pointwise_loops(expression, space).run(from, to);
  for (std::int64_t n = 0; n < extents[0]; ++n) {
    for (std::int64_t c = 0; c < extents[1]; ++c) {
      for (std::int64_t h = 0; h < extents[2]; ++h) {
        for (std::int64_t w = 0; w < extents[3]; ++w) {
          const auto at = static_cast<std::size_t>(n * 105 + c * 35 + h * 7 + w);
          const float expected = x[static_cast<std::size_t>(n * 105 + c * 35 + w * 5 + h)] +
                                 channel[static_cast<std::size_t>(c)];
          EXPECT_EQ(sum[at], expected);
          EXPECT_EQ(product[at], expected * y[at]);
        }
      }
    }
  }
}

TEST(pointwise_loops, write_a_part_of_a_larger_tensor_and_nothing_around_it) {
  constexpr std::int64_t rows = 130;
  constexpr std::int64_t columns = 50;
  const pointwise_expression twice{
      .operands = 1, .steps = {{{pointwise_function::add}, {0, 0, 0}}}, .results = {1}};
  std::vector<float> x(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (const std::int64_t width : {columns, columns + 14}) {
    std::vector<float> y(static_cast<std::size_t>((rows + 40) * width), -1.0F);
    const float* const from[] = {x.data()};
    float* const to[] = {y.data()};
    pointwise_loops(twice, {{rows, columns}, {{columns, 1}, {width, 1}}}).run(from, to);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / width;
      const auto column = static_cast<std::int64_t>(i) % width;
      const bool inside = row < rows && column < columns;
      const float expected = inside ? static_cast<float>(2 * (row * columns + column)) : -1.0F;
      ASSERT_EQ(y[i], expected) << row << ", " << column << " of rows of " << width;
    }
  }
}

TEST(pointwise_space, merges_extents_that_are_contiguous_in_all_tensors) {
  const pointwise_space joined =
      collapsed({{2, 3, 1, 5, 7}, {{105, 35, 0, 7, 1}, {0, 1, 0, 0, 0}, {105, 35, 9, 7, 1}}});
  EXPECT_THAT(joined.extents, ElementsAre(2, 3, 35));
  EXPECT_THAT(joined.strides,
              ElementsAre(ElementsAre(105, 35, 1), ElementsAre(0, 1, 0), ElementsAre(105, 35, 1)));
}

TEST(broadcast, follows_numpy) {
  const shape fits[] = {{3, 1, 7}, {2, 1, 5, 1}, {}};
  EXPECT_EQ(broadcast(fits), (shape{2, 3, 5, 7}));
  const shape not_these[] = {{3, 2}, {3}};
  EXPECT_EQ(broadcast(not_these), std::nullopt);
}

}  // namespace

}  // namespace graphline::test
