#include "stages/cuda/cublaslt_product.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "stages/cuda/cuda_library.hpp"
#include "tests/stages/cuda/product_reference.hpp"

namespace graphline {
namespace {

TEST(column_product, has_the_epilogues_of_cublaslt_and_no_others) {
  const auto epilogue = [](bool bias, std::vector<activation> activations) {
    product_form form = packed_product(3, 4, 5);
    form.bias = bias;
    form.activations = std::move(activations);
    std::string why_not;
    const auto product = as_column_product(form, why_not);
    EXPECT_EQ(why_not.empty(), product.has_value());
    return product ? std::optional(product->epilogue) : std::nullopt;
  };
  EXPECT_EQ(epilogue(false, {}), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(epilogue(true, {}), CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(epilogue(false, {activation::relu}), CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(epilogue(true, {activation::relu}), CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_EQ(epilogue(false, {activation::gelu_tanh}), CUBLASLT_EPILOGUE_GELU);
  EXPECT_EQ(epilogue(true, {activation::gelu_tanh}), CUBLASLT_EPILOGUE_GELU_BIAS);
  EXPECT_EQ(epilogue(true, {activation::gelu_erf}), std::nullopt);
  EXPECT_EQ(epilogue(true, {activation::relu6}), std::nullopt);
  EXPECT_EQ(epilogue(true, {activation::silu}), std::nullopt);
  EXPECT_EQ(epilogue(true, {activation::relu, activation::relu}), std::nullopt);
}

TEST(column_product, rounds_operands_only_where_the_precision_says_so) {
  const auto as = [](precision p) {
    product_form form = packed_product(3, 4, 5);
    form.precision = p;
    std::string why_not;
    return as_column_product(form, why_not).value();
  };
  EXPECT_EQ(as(precision::float32).compute, CUBLAS_COMPUTE_32F);
  EXPECT_FALSE(as(precision::float32).tensor_cores);
  EXPECT_EQ(as(precision::tf32).compute, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(as(precision::tf32).element, CUDA_R_32F);
  EXPECT_EQ(as(precision::float16).compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(as(precision::float16).element, CUDA_R_16F);
  EXPECT_EQ(as(precision::bfloat16).element, CUDA_R_16BF);
}

TEST(column_product, tells_what_alignment_a_batch_leaves) {
  product_form form = packed_product(3, 4, 5);
  form.batch = 6;
  form.a_stride = 15;
  form.b_stride = 0;
  form.d_stride = 12;
  std::string why_not;
  const auto wide = as_column_product(form, why_not).value();
  EXPECT_EQ(alignment_of(wide, wide.right), 4U);    // every 60 bytes
  EXPECT_EQ(alignment_of(wide, wide.left), 16U);    // one matrix for all
  EXPECT_EQ(alignment_of(wide, wide.result), 16U);  // every 48 bytes
  form.precision = precision::float16;
  const auto narrow = as_column_product(form, why_not).value();
  EXPECT_EQ(alignment_of(narrow, narrow.right), 2U);
  EXPECT_EQ(alignment_of(narrow, narrow.result), 8U);
  form.batch = 1;
  const auto single = as_column_product(form, why_not).value();
  EXPECT_EQ(alignment_of(single, single.right), 16U);
}

TEST(form_text, tells_forms_apart_that_differ_anywhere) {
  std::vector<product_form> forms(17, packed_product(3, 4, 5));
  forms[1].m = 6;
  forms[2].n = 6;
  forms[3].k = 6;
  forms[4].transpose_a = true;
  forms[5].transpose_b = true;
  forms[6].a_leading = 9;
  forms[7].b_leading = 9;
  forms[8].d_leading = 9;
  forms[9].batch = 2;
  forms[10].a_stride = 9;
  forms[11].b_stride = 9;
  forms[12].d_stride = 9;
  forms[13].bias = true;
  forms[14].activations = {activation::relu};
  forms[15].activations = {activation::relu6};
  forms[16].scale = 0.125F;
  std::vector<std::string> texts;
  for (const product_form& form : forms) texts.push_back(to_text(form));
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
}

TEST(form_text, tells_convolutions_apart_by_what_is_fused) {
  convolution_form plain;
  convolution_form before = plain;
  before.before = {activation::relu};
  convolution_form added = plain;
  added.add = true;
  convolution_form after = added;
  after.after = {activation::relu};
  convolution_form half = plain;
  half.precision = precision::float16;
  const std::vector<std::string> texts = {to_text(plain), to_text(before), to_text(added),
                                          to_text(after), to_text(half)};
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
}

TEST(operand_bytes, are_those_of_each_tensor_of_a_convolution) {
  convolution_form form;
  form.batch = 2;
  form.in_channels = 6;
  form.in = {5, 7};
  form.out = {3, 4};
  form.conv.out_channels = 8;
  form.conv.kernel = {3, 2};
  form.conv.groups = 2;
  form.add = true;
  form.precision = precision::float16;
  EXPECT_EQ(operand_bytes(form),
            (std::vector<std::size_t>{2 * 6 * 5 * 7 * 2, 8 * 3 * 3 * 2 * 2, 8 * 2,
                                      2 * 8 * 3 * 4 * 2, 2 * 8 * 3 * 4 * 2}));
}

}  // namespace
}  // namespace graphline
