// Calls of cuBLASLt, made to a fake library that multiplies in host memory.

#include "stages/nn/cuda/cublaslt_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "stages/nn/cuda/cuda_library.hpp"
#include "tests/base/environment_guard.hpp"
#include "tests/stages/nn/cuda/product_reference.hpp"

namespace graphline::nn {
namespace {

using ::testing::HasSubstr;

// Runs before the first test: a library is opened once per process.
const environment_guard in_place_of_cublaslt("GRAPHLINE_LIBRARY_PATH", GRAPHLINE_FAKE_FOLDER);

std::unique_ptr<plan_choices> plans_for(const product_form& form, std::string& why_not) {
  return make_product_plans(form, std::make_shared<cublaslt_handle>("stage 'head'"), why_not);
}

alignas(256) std::byte workspace[512];

std::vector<void*> addresses(std::vector<numbers>& operands) {
  std::vector<void*> result;
  for (numbers& operand : operands) result.push_back(operand.data());
  return result;
}

TEST(a_product, is_what_the_form_says) {
  for (const product_form& form : sample_products()) {
    std::string why_not;
    const auto plans = plans_for(form, why_not);
    ASSERT_NE(plans, nullptr) << to_text(form) << ": " << why_not;
    std::vector<numbers> operands = whole_operands(operand_bytes(form));
    const numbers expected = expected_product(form, operands);
    plans->run(0, nullptr, addresses(operands), workspace);
    EXPECT_EQ(operands.back(), expected) << to_text(form);
  }
}

TEST(a_product, takes_the_bias_of_each_call) {
  product_form form = packed_product(2, 3, 4);
  form.bias = true;
  std::string why_not;
  const auto plans = plans_for(form, why_not);
  ASSERT_NE(plans, nullptr) << why_not;
  for (const float bias : {1.0F, 2.0F}) {
    std::vector<numbers> operands = whole_operands(operand_bytes(form));
    operands[2].assign(3, bias);
    plans->run(0, nullptr, addresses(operands), workspace);
    EXPECT_EQ(operands.back(), expected_product(form, operands));
  }
}

/// Batched products whose matrices have gaps of `gap` elements.
product_form batch_of_products(std::int64_t apart) {
  product_form form = packed_product(4, 8, 4);
  form.bias = true;
  form.batch = 3;
  form.a_stride = 4 * 4 + apart;
  form.b_stride = 4 * 8 + apart;
  form.d_stride = 4 * 8 + apart;
  return form;
}

TEST(a_product, assumes_only_the_alignment_of_every_matrix_of_a_batch) {
  for (const std::int64_t apart : {0, 1, 2, 4}) {
    const product_form form = batch_of_products(apart);
    std::string why_not;
    const auto plans = plans_for(form, why_not);
    ASSERT_NE(plans, nullptr) << why_not;
    std::vector<numbers> operands = whole_operands(operand_bytes(form));
    plans->run(0, nullptr, addresses(operands), workspace);
    EXPECT_EQ(operands.back(), expected_product(form, operands)) << apart;
  }
}

TEST(a_product, requires_the_alignment_of_its_form) {
  for (const std::size_t alignment : {4, 8, 16}) {
    product_form form = batch_of_products(0);
    form.alignment = {alignment, alignment, alignment};
    std::string why_not;
    const auto plans = plans_for(form, why_not);
    ASSERT_NE(plans, nullptr) << why_not;
    std::vector<numbers> operands = whole_operands(operand_bytes(form));
    const auto run_behind = [&](std::size_t bytes) {
      const std::size_t gap = bytes / sizeof(float);
      std::vector<numbers> moved = operands;
      std::vector<void*> at;
      for (std::size_t i = 0; i < moved.size(); ++i) {
        const std::size_t offset = i == 2 ? 0 : gap;  // the bias stays in its place
        moved[i].insert(moved[i].begin(), offset, 0.0F);
        at.push_back(moved[i].data() + offset);
      }
      plans->run(0, nullptr, at, workspace);
      return numbers(moved.back().begin() + static_cast<std::ptrdiff_t>(gap), moved.back().end());
    };
    EXPECT_EQ(run_behind(alignment), expected_product(form, operands)) << alignment;
    if (alignment > sizeof(float)) {
      EXPECT_THROW(run_behind(alignment / 2), run_error) << alignment;
    }
  }
}

TEST(a_product, uses_tensor_cores_only_where_operands_may_be_rounded) {
  product_form form = packed_product(3, 4, 5);
  std::string why_not;
  const auto precise = plans_for(form, why_not);
  ASSERT_EQ(precise->size(), 2U);
  EXPECT_EQ(precise->describe(0), "cuBLASLt algorithm 10");
  EXPECT_EQ(precise->describe(1), "cuBLASLt algorithm 12");
  for (const precision p : {precision::tf32, precision::float16, precision::bfloat16}) {
    form.precision = p;
    const auto rounded = plans_for(form, why_not);
    ASSERT_EQ(rounded->size(), 3U);
    EXPECT_EQ(rounded->describe(1), "cuBLASLt algorithm 11, tensor cores");
  }
}

TEST(a_product, identifies_its_algorithms_by_their_settings) {
  std::string why_not;
  const product_form form = packed_product(3, 4, 5);
  const auto plans = plans_for(form, why_not);
  EXPECT_EQ(plans->identity(0), "algorithm 10 1 6 2 3 4 5 0 0, workspace 512");
  EXPECT_EQ(plans->identity(1), "algorithm 12 1 6 2 3 4 5 0 0, workspace 512");
  EXPECT_EQ(plans_for(form, why_not)->identity(0), plans->identity(0));
}

TEST(a_product, has_the_epilogues_of_cublaslt_and_no_others) {
  const auto offered = [](std::vector<pointwise_layer> activations) {
    product_form form = packed_product(3, 4, 5);
    form.activations = std::move(activations);
    std::string why_not;
    const bool any = plans_for(form, why_not) != nullptr;
    EXPECT_EQ(why_not.empty(), any);
    return any;
  };
  EXPECT_TRUE(offered({pointwise_layer{pointwise_function::relu}}));
  EXPECT_TRUE(offered({pointwise_layer{pointwise_function::gelu_tanh}}));
  EXPECT_FALSE(offered({pointwise_layer{pointwise_function::gelu_erf}}));
  EXPECT_FALSE(offered({pointwise_layer{pointwise_function::clip, 0, 6}}));
  EXPECT_FALSE(offered(
      {pointwise_layer{pointwise_function::relu}, pointwise_layer{pointwise_function::relu}}));
}

TEST(a_product, is_refused_with_the_reason) {
  std::string why_not;
  EXPECT_EQ(plans_for(packed_product(3, 4, 13), why_not), nullptr);
  EXPECT_THAT(why_not,
              HasSubstr("cublasLtMatmulAlgoGetHeuristic failed: NOT_SUPPORTED (15), told"));
}

TEST(a_product, fails_with_the_owner_where_it_makes_no_sense) {
  product_form form = packed_product(3, 4, 5);
  form.a_leading = 1;
  std::string why_not;
  EXPECT_THAT([&] { plans_for(form, why_not); },
              ::testing::ThrowsMessage<run_error>(HasSubstr("stage 'head': cublasLt")));
}

TEST(cublaslt, reports_its_version) {
  EXPECT_EQ(cublaslt_version(), "13.1.2");
}

}  // namespace
}  // namespace graphline::nn
