#include "stages/nn/cuda/lowering/product_calls.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "tests/stages/nn/cuda/product_reference.hpp"
#include "tests/stages/product_samples.hpp"

namespace graphline::test {

using namespace nn;

namespace {

/// Evaluates the calls at their offsets. Unwritten elements stay zero; elements written twice are
/// summed.
numbers by_calls(const product_calls& product, const numbers& a, const numbers& b,
                 std::size_t results) {
  const auto from = [](const numbers& values, std::int64_t offset) {
    return numbers(values.begin() + offset, values.end());
  };
  numbers result(results);
  for (const product_offsets& call : product.calls) {
    const numbers room(results - static_cast<std::size_t>(call.d));
    const numbers part = expected_product(product.form, {from(a, call.a), from(b, call.b), room});
    for (std::size_t i = 0; i < part.size(); ++i) {
      result[static_cast<std::size_t>(call.d) + i] += part[i];
    }
  }
  return result;
}

/// Libraries require rows that do not overlap.
void expect_sound(const product_form& form) {
  EXPECT_GE(form.a_leading, form.transpose_a ? form.m : form.k);
  EXPECT_GE(form.b_leading, form.transpose_b ? form.k : form.n);
  EXPECT_GE(form.d_leading, form.n);
}

struct stored_matrices {
  std::vector<std::int64_t> extents;  ///< as multiplied
  bool transposed = false;

  shape stored() const {
    std::vector<std::int64_t> as_stored = extents;
    if (transposed) std::swap(as_stored.end()[-1], as_stored.end()[-2]);
    return shape(std::move(as_stored));
  }

  strided_matrices matrices() const {
    strided_matrices result{shape(extents), packed_strides(stored())};
    if (transposed) std::swap(result.strides.end()[-1], result.strides.end()[-2]);
    return result;
  }
};

strided_product product_of(const stored_matrices& a, const stored_matrices& b) {
  const std::size_t rank = a.extents.size();
  std::vector<std::int64_t> c(rank);
  for (std::size_t i = 0; i + 2 < rank; ++i) c[i] = std::max(a.extents[i], b.extents[i]);
  c[rank - 2] = a.extents[rank - 2];
  c[rank - 1] = b.extents[rank - 1];
  return {a.matrices(), b.matrices(), packed_matrices(shape(std::move(c)))};
}

TEST(matmul_products, equal_the_direct_evaluation_for_any_shapes) {
  std::mt19937 generator(7);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::int64_t>(generator() % limit);
  };
  for (int trial = 0; trial < 3000; ++trial) {
    const auto rank = static_cast<std::size_t>(2 + below(4));
    std::vector<std::int64_t> a(rank);
    std::vector<std::int64_t> b(rank);
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      const std::int64_t extent = 1 + below(4);
      const std::int64_t who = below(4);  // broadcasts
      a[i] = who == 0 ? 1 : extent;
      b[i] = who == 1 ? 1 : extent;
    }
    a[rank - 2] = 1 + below(3);
    a[rank - 1] = b[rank - 2] = 1 + below(3);
    b[rank - 1] = 1 + below(3);
    const stored_matrices left{a, below(2) == 0};
    const stored_matrices right{b, below(2) == 0};
    const strided_product whole = product_of(left, right);
    const auto operands = whole_operands(std::vector{
        static_cast<std::size_t>(whole.a.extents.elements()) * sizeof(float),
        static_cast<std::size_t>(whole.b.extents.elements()) * sizeof(float), sizeof(float)});
    const product_calls product = collapse_product(whole, precision::float32);
    expect_sound(product.form);
    const auto expected =
        batched_product(left.stored(), right.stored(), whole.c.extents, operands[0], operands[1],
                        left.transposed, right.transposed);
    ASSERT_EQ(by_calls(product, operands[0], operands[1], expected.size()), expected)
        << to_string(left.stored()) << (left.transposed ? " transposed x " : " x ")
        << to_string(right.stored()) << (right.transposed ? " transposed" : "");
  }
}

TEST(matmul_products, make_eight_calls_of_many_matrix_vector_products) {
  const product_calls product = collapse_product(
      product_of({{600, 200, 8, 1, 64}}, {{600, 1, 8, 64, 1}}), precision::float32);
  EXPECT_EQ(product.calls.size(), 8U);
  const product_form& form = product.form;
  EXPECT_EQ(form.batch, 600);
  EXPECT_EQ(form.m, 200);
  EXPECT_EQ(form.n, 1);
  EXPECT_EQ(form.k, 64);
  EXPECT_EQ(form.a_leading, 512);
  EXPECT_EQ(form.d_leading, 8);
  EXPECT_EQ(form.a_stride, 102400);
  EXPECT_EQ(product.calls[1].a, 64);
  EXPECT_EQ(product.calls[1].b, 64);
  EXPECT_EQ(product.calls[1].d, 1);
  EXPECT_EQ(form.alignment.a, 16U);
  EXPECT_EQ(form.alignment.b, 16U);
  EXPECT_EQ(form.alignment.d, 4U);  // results lie between those of other calls
}

TEST(matmul_products, make_one_call_where_strides_allow) {
  const auto calls = [](const stored_matrices& a, const stored_matrices& b) {
    return collapse_product(product_of(a, b), precision::float32).calls.size();
  };
  EXPECT_EQ(calls({{4, 5}}, {{5, 6}}), 1U);
  EXPECT_EQ(calls({{2, 3, 4, 5}}, {{2, 3, 5, 6}}), 1U);
  EXPECT_EQ(calls({{2, 3, 4, 5}}, {{2, 1, 5, 6}}), 1U);
  EXPECT_EQ(calls({{2, 3, 4, 5}}, {{1, 3, 5, 6}}), 2U);
  // A shared matrix on the right makes one tall product of the whole batch.
  const product_calls tall =
      collapse_product(product_of({{2, 3, 4, 5}}, {{1, 1, 5, 6}}), precision::float32);
  EXPECT_EQ(tall.calls.size(), 1U);
  EXPECT_EQ(tall.form.m, 24);
  EXPECT_EQ(tall.form.batch, 1);
}

}  // namespace

}  // namespace graphline::test
