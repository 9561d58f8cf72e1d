#include "stages/matmul_cuda.hpp"

#include <gtest/gtest.h>

#include <random>

namespace graphline::test {

namespace {

/// Whole numbers, whose products and sums are exact.
std::vector<double> numbers(std::int64_t count, std::mt19937& generator) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = static_cast<double>(generator() % 17) - 8;
  return values;
}

/// The element (row, column) of the batch entry that `index` counts in `of`.
double element(const std::vector<double>& values, const shape& s, const shape& of,
               std::int64_t index, std::int64_t row, std::int64_t column, bool transposed) {
  const std::size_t rank = s.rank();
  std::int64_t stride = s[rank - 1] * s[rank - 2];
  std::int64_t offset = transposed ? column * s[rank - 2] + row : row * s[rank - 1] + column;
  for (std::size_t axis = rank - 2; axis-- > 0;) {
    offset += (s[axis] == 1 ? 0 : index % of[axis]) * stride;
    index /= of[axis];
    stride *= s[axis];
  }
  return values[static_cast<std::size_t>(offset)];
}

std::vector<double> direct(const matmul_form& form, const std::vector<double>& a,
                           const std::vector<double>& b) {
  const std::size_t rank = form.c.rank();
  std::vector<double> result;
  const std::int64_t m = form.c[rank - 2];
  const std::int64_t n = form.c[rank - 1];
  for (std::int64_t index = 0; index < form.c.elements() / (m * n); ++index) {
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (std::int64_t j = 0; j < form.a[rank - 1]; ++j) {
          sum += element(a, form.a, form.c, index, row, j, form.transpose_a) *
                 element(b, form.b, form.c, index, j, column, form.transpose_b);
        }
        result.push_back(sum);
      }
    }
  }
  return result;
}

std::vector<double> by_calls(const product_calls& product, std::vector<double> a,
                             std::vector<double> b, std::size_t results) {
  if (product.swapped) std::swap(a, b);
  std::vector<double> result(results, 1e9);
  const product_form& form = product.form;
  for (const product_offsets& call : product.calls) {
    for (std::int64_t i = 0; i < form.batch; ++i) {
      for (std::int64_t row = 0; row < form.m; ++row) {
        for (std::int64_t column = 0; column < form.n; ++column) {
          double sum = 0;
          for (std::int64_t j = 0; j < form.k; ++j) {
            const std::int64_t at_a =
                form.transpose_a ? j * form.a_leading + row : row * form.a_leading + j;
            const std::int64_t at_b =
                form.transpose_b ? column * form.b_leading + j : j * form.b_leading + column;
            sum += a.at(static_cast<std::size_t>(call.a + i * form.a_stride + at_a)) *
                   b.at(static_cast<std::size_t>(call.b + i * form.b_stride + at_b));
          }
          result.at(static_cast<std::size_t>(call.d + i * form.d_stride + row * form.d_leading +
                                             column)) = sum;
        }
      }
    }
  }
  return result;
}

/// What a library asks of leading dimensions: that rows do not overlap.
void expect_sound(const product_form& form) {
  EXPECT_GE(form.a_leading, form.transpose_a ? form.m : form.k);
  EXPECT_GE(form.b_leading, form.transpose_b ? form.k : form.n);
  EXPECT_GE(form.d_leading, form.n);
}

matmul_form product_of(std::vector<std::int64_t> a, std::vector<std::int64_t> b,
                       bool transpose_a = false, bool transpose_b = false) {
  const std::size_t rank = a.size();
  std::vector<std::int64_t> c(rank);
  for (std::size_t i = 0; i + 2 < rank; ++i) c[i] = std::max(a[i], b[i]);
  c[rank - 2] = a[rank - 2];
  c[rank - 1] = b[rank - 1];
  return {shape(std::move(a)), shape(std::move(b)), shape(std::move(c)), transpose_a, transpose_b};
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
    const matmul_form form = product_of(a, b, below(2) == 0, below(2) == 0);
    const auto left = numbers(form.a.elements(), generator);
    const auto right = numbers(form.b.elements(), generator);
    const product_calls product = collapse_product(form, precision::float32);
    expect_sound(product.form);
    const auto expected = direct(form, left, right);
    ASSERT_EQ(by_calls(product, left, right, expected.size()), expected)
        << to_string(form.a) << (form.transpose_a ? " transposed x " : " x ") << to_string(form.b)
        << (form.transpose_b ? " transposed" : "");
  }
}

TEST(matmul_products, make_eight_calls_of_many_matrix_vector_products) {
  const product_calls product =
      collapse_product(product_of({600, 200, 8, 1, 64}, {600, 1, 8, 64, 1}), precision::float32);
  EXPECT_EQ(product.calls.size(), 8U);
  EXPECT_FALSE(product.swapped);
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
  EXPECT_EQ(form.alignment, 4U);  // of results that lie between each other's
}

TEST(matmul_products, make_one_call_where_strides_allow) {
  const auto calls = [](const matmul_form& form) {
    return collapse_product(form, precision::float32).calls.size();
  };
  EXPECT_EQ(calls(product_of({4, 5}, {5, 6})), 1U);
  EXPECT_EQ(calls(product_of({2, 3, 4, 5}, {2, 3, 5, 6})), 1U);
  EXPECT_EQ(calls(product_of({2, 3, 4, 5}, {2, 1, 5, 6})), 1U);
  EXPECT_EQ(calls(product_of({2, 3, 4, 5}, {1, 3, 5, 6})), 2U);
  // A shared matrix on the right makes one tall product of the whole batch.
  const product_calls tall =
      collapse_product(product_of({2, 3, 4, 5}, {1, 1, 5, 6}), precision::float32);
  EXPECT_EQ(tall.calls.size(), 1U);
  EXPECT_EQ(tall.form.m, 24);
  EXPECT_EQ(tall.form.batch, 1);
  // One on the left meets columns; products with vectors are turned around.
  const product_calls turned =
      collapse_product(product_of({1, 4, 5}, {7, 5, 1}), precision::float32);
  EXPECT_TRUE(turned.swapped);
  EXPECT_EQ(turned.form.batch, 1);
}

}  // namespace

}  // namespace graphline::test
