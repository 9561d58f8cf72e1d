#include "stages/nn/cuda/cuda_library.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/stages/nn/cuda/product_reference.hpp"

namespace graphline::nn {
namespace {

TEST(form_text, tells_forms_apart_that_differ_anywhere) {
  std::vector<product_form> forms(20, packed_product(3, 4, 5));
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
  forms[14].activations = {pointwise_layer{pointwise_function::relu}};
  forms[15].activations = {pointwise_layer{pointwise_function::clip, 0, 6}};
  forms[16].scale = 0.125F;
  forms[17].add = true;
  forms[18].activations = {pointwise_layer{pointwise_function::clip, 0, 1}};
  forms[19].activations = {pointwise_layer{pointwise_function::clip, -1, 6}};
  std::vector<std::string> texts;
  for (const product_form& form : forms) texts.push_back(to_text(form));
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
}

TEST(form_text, tells_convolutions_apart_by_fusion_precision_and_layout) {
  convolution_form plain;
  convolution_form before = plain;
  before.before = {pointwise_layer{pointwise_function::relu}};
  convolution_form added = plain;
  added.add = true;
  convolution_form after = added;
  after.after = {pointwise_layer{pointwise_function::relu}};
  convolution_form half = plain;
  half.precision = precision::float16;
  convolution_form six = plain;
  six.before = {pointwise_layer{pointwise_function::clip, 0, 6}};
  convolution_form one = plain;
  one.before = {pointwise_layer{pointwise_function::clip, 0, 1}};
  convolution_form nchw = plain;
  nchw.layout = tensor_layout::row_major;
  const std::vector<std::string> texts = {to_text(plain), to_text(before), to_text(added),
                                          to_text(six),   to_text(one),    to_text(after),
                                          to_text(half),  to_text(nchw)};
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
}  // namespace graphline::nn
