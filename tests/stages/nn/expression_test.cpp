#include "stages/nn/fusion/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace graphline::test {

using namespace nn;

namespace {

using testing::Contains;
using testing::DoubleEq;
using testing::ElementsAre;

using function = pointwise_function;

/// Builds a network of element-wise layers on [1, 2, 1, 1] and its constants.
class element_wise_network {
 public:
  element_wise_network() { x = builder_.add_input("x", {{1, 2, 3, 3}, dtype::float32}); }

  std::size_t constant(std::vector<float> values) {
    const shape extents = values.size() == 1 ? shape{} : shape{2, 1, 1};
    named_tensor tensor{"c", {extents, dtype::float32}, {}};
    tensor.data.resize(values.size() * sizeof(float));
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
    constants_.push_back(std::move(tensor));
    return builder_.add_constant("c", {extents, dtype::float32});
  }

  std::size_t add(layer_operation operation, std::vector<std::size_t> inputs) {
    diagnostics out;
    layer_problems problems("", place{}, out);
    const std::vector<std::string> givers(inputs.size());
    layers_.push_back(layers_.size());
    return builder_
        .add_layer({.name = "l",
                    .kind = "",
                    .operation = std::move(operation),
                    .inputs = std::move(inputs)},
                   std::vector<std::size_t>{}, givers, problems)
        .value();
  }
  std::size_t add(function of, std::vector<std::size_t> inputs, float alpha = 0, float beta = 0) {
    return add(pointwise_layer{of, alpha, beta}, std::move(inputs));
  }

  group_expression expression(std::optional<std::size_t> head = {}) {
    const weight_table weights(builder_.network(), constants_);
    return expression_of(builder_.network(), weights, layers_, 1, head);
  }

  std::size_t x = 0;

 private:
  definition_builder builder_;
  std::vector<named_tensor> constants_;
  std::vector<std::size_t> layers_;
};

std::vector<std::string> steps_of(const group_expression& layers) {
  std::vector<std::string> names;
  for (const pointwise_expression::step& step : layers.steps) {
    names.emplace_back(traits_of(step.layer.function).name);
  }
  return names;
}

TEST(group_expression, recognizes_a_written_out_hard_swish) {
  element_wise_network network;
  const std::size_t y = network.add(function::mul, {network.constant({2}), network.x});
  const std::size_t sum = network.add(function::add, {y, network.constant({3})});
  const std::size_t clipped = network.add(function::clip, {sum}, 0, 6);
  const std::size_t product = network.add(function::mul, {y, clipped});
  network.add(function::div, {product, network.constant({6})});
  EXPECT_THAT(steps_of(network.expression()), ElementsAre("linear", "hard_swish"));
}

TEST(group_expression, recognizes_a_written_out_gelu) {
  for (const float divisor : {1.41421354F, 1.5F}) {
    element_wise_network network;
    const std::size_t scaled = network.add(function::div, {network.x, network.constant({divisor})});
    const std::size_t erf = network.add(function::erf, {scaled});
    const std::size_t sum = network.add(function::add, {erf, network.constant({1})});
    const std::size_t product = network.add(function::mul, {network.x, sum});
    network.add(function::mul, {product, network.constant({0.5F})});
    const auto steps = steps_of(network.expression());
    if (divisor == 1.5F) {
      EXPECT_THAT(steps, ElementsAre("linear", "erf", "linear", "mul", "linear"));
    } else {
      EXPECT_THAT(steps, ElementsAre("gelu"));
    }
  }
}

TEST(group_expression, recognizes_the_tanh_form_of_gelu_in_any_order) {
  const float scale = 0.797884561F;  // sqrt(2 / pi)
  for (const std::string form : {"gpt", "factored", "halved last", "with another factor"}) {
    SCOPED_TRACE(form);
    element_wise_network network;
    const std::size_t x = network.x;
    const auto number = [&](float value) { return network.constant({value}); };
    const auto times = [&](std::size_t a, std::size_t b) {
      return network.add(function::mul, {a, b});
    };
    const float factor = form == "with another factor" ? 0.0447F : 0.044715F;
    std::size_t inner = 0;
    if (form == "factored") {  // x c (1 + 0.044715 x x)
      const std::size_t square = times(times(number(factor), x), x);
      inner = times(times(x, number(scale)), network.add(function::add, {number(1), square}));
    } else {
      const std::size_t cube = times(x, times(x, x));
      inner = times(number(scale), network.add(function::add, {x, times(number(factor), cube)}));
    }
    const std::size_t sum =
        network.add(function::add, {number(1), network.add(function::tanh, {inner})});
    if (form == "halved last") {
      times(times(sum, x), number(0.5F));
    } else {
      times(times(number(0.5F), x), sum);
    }
    const auto steps = steps_of(network.expression());
    if (form == "with another factor") {
      EXPECT_THAT(steps, Contains("tanh"));
    } else {
      EXPECT_THAT(steps, ElementsAre("gelu_tanh"));
    }
  }
}

TEST(group_expression, joins_one_minus_a_hard_sigmoid) {
  element_wise_network network;
  const std::size_t gate = network.add(function::hard_sigmoid, {network.x}, 0.2F, 0.4F);
  network.add(function::sub, {network.constant({1}), gate});
  const group_expression joined = network.expression();
  ASSERT_THAT(steps_of(joined), ElementsAre("hard_sigmoid"));
  EXPECT_FLOAT_EQ(joined.steps[0].layer.alpha, -0.2F);
  EXPECT_FLOAT_EQ(joined.steps[0].layer.beta, 0.6F);
}

TEST(group_expression, recognizes_silu_in_x_times_its_sigmoid) {
  element_wise_network network;
  const std::size_t y = network.add(function::sigmoid, {network.x});
  network.add(function::mul, {y, network.x});
  EXPECT_THAT(steps_of(network.expression()), ElementsAre("silu"));
}

TEST(group_expression, recognizes_silu_as_swish_with_a_beta_of_1_only) {
  for (const float beta : {1.0F, 2.0F}) {
    element_wise_network network;
    const std::size_t scaled = network.add(function::mul, {network.x, network.constant({beta})});
    const std::size_t y = network.add(function::sigmoid, {scaled});
    network.add(function::mul, {network.x, y});
    const auto steps = steps_of(network.expression());
    if (beta == 1) {
      EXPECT_THAT(steps, ElementsAre("silu"));
    } else {
      EXPECT_THAT(steps, ElementsAre("linear", "sigmoid", "mul"));
    }
  }
}

TEST(group_expression, keeps_a_clip_of_other_bounds) {
  element_wise_network network;
  const std::size_t sum = network.add(function::add, {network.x, network.constant({3})});
  const std::size_t clipped = network.add(function::clip, {sum}, 0, 5);
  network.add(function::mul, {network.x, clipped});
  EXPECT_THAT(steps_of(network.expression()), ElementsAre("linear", "clip", "mul"));
}

TEST(group_expression, merges_factors_and_terms) {
  element_wise_network network;
  // ((2 - x) * {3, 5} - {1, 2}) / 4
  std::size_t y = network.add(function::sub, {network.constant({2}), network.x});
  y = network.add(function::mul, {network.constant({3, 5}), y});
  y = network.add(function::sub, {y, network.constant({1, 2})});
  y = network.add(function::div, {y, network.constant({4})});
  network.add(function::relu, {y});
  const group_expression joined = network.expression();
  EXPECT_THAT(steps_of(joined), ElementsAre("mul", "add", "relu"));
  ASSERT_EQ(joined.sources.size(), 3U);
  EXPECT_THAT(joined.sources[1].numbers, ElementsAre(DoubleEq(-0.75), DoubleEq(-1.25)));
  EXPECT_THAT(joined.sources[2].numbers, ElementsAre(DoubleEq(1.25), DoubleEq(2.0)));
  EXPECT_FALSE(joined.folded);

  const group_expression folded = network.expression(network.x);
  EXPECT_THAT(steps_of(folded), ElementsAre("relu"));
  ASSERT_TRUE(folded.folded);
  EXPECT_EQ(folded.folded_layers, 4U);
  EXPECT_THAT(folded.folded->scale, ElementsAre(DoubleEq(-0.75), DoubleEq(-1.25)));
  EXPECT_THAT(folded.folded->shift, ElementsAre(DoubleEq(1.25), DoubleEq(2.0)));
}

TEST(group_expression, folds_nothing_that_is_read_twice) {
  element_wise_network network;
  const std::size_t y = network.add(function::mul, {network.x, network.constant({3, 5})});
  network.add(function::add, {y, network.x});
  const group_expression layers = network.expression(network.x);
  EXPECT_FALSE(layers.folded);
  EXPECT_THAT(steps_of(layers), ElementsAre("mul", "add"));
}

TEST(group_expression, splits_after_steps_and_takes_a_term_before_them) {
  element_wise_network network;
  std::size_t y = network.add(function::silu, {network.x});
  y = network.add(function::max, {y, network.constant({1, 2})});
  network.add(function::pow, {y, y});
  const group_expression whole = network.expression(network.x);
  EXPECT_THAT(steps_of(whole), ElementsAre("silu", "max", "pow"));
  EXPECT_THAT(whole.done, ElementsAre(1, 2, 3));

  const group_expression rest = whole.after(2);
  EXPECT_EQ(rest.sources.size(), 1U);
  EXPECT_THAT(steps_of(rest), ElementsAre("pow"));
  EXPECT_THAT(rest.steps[0].from, ElementsAre(0, 0, 0));
  EXPECT_THAT(rest.results, ElementsAre(1));
  EXPECT_THAT(whole.after(3).results, ElementsAre(0));

  const group_expression more = whole.plus({{2, 1, 1}, {}, {7, 8}});
  EXPECT_THAT(steps_of(more), ElementsAre("add", "silu", "max", "pow"));
  EXPECT_EQ(more.sources.size(), 3U);
  EXPECT_THAT(more.steps[0].from, ElementsAre(0, 2, 0));
  EXPECT_EQ(more.steps[1].from[0], 3);
  EXPECT_EQ(more.steps[2].from[1], 1);
  EXPECT_THAT(more.results, ElementsAre(6));
}

}  // namespace

}  // namespace graphline::test
