#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "tests/stages/product_samples.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::HasSubstr;

void expect_product(const shape& a, const shape& b, const shape& expected, bool transpose_a,
                    bool transpose_b, int threads = 1) {
  const stage_kind kind = matmul_kind();
  const std::string yaml = std::string("{transpose_a: ") + (transpose_a ? "true" : "false") +
                           ", transpose_b: " + (transpose_b ? "true" : "false") + "}";
  const std::vector<tensor_type> inputs{floats(a), floats(b)};
  const prepared_stage s = prepare(kind, yaml, inputs);
  ASSERT_EQ(s.outputs.at(0), floats(expected));

  const auto left = some_values(a.elements(), 1);
  const auto right = some_values(b.elements(), 2);
  const std::int64_t k = transpose_a ? a[a.rank() - 2] : a[a.rank() - 1];
  EXPECT_EQ(s.cost.macs, expected.elements() * k);
  EXPECT_EQ(s.cost.flops, 2 * s.cost.macs);
  EXPECT_EQ(s.known, known_cost::all);
  EXPECT_EQ(s.cost.bytes_read, 4 * (a.elements() + b.elements()));
  stage_trial trial(kind, yaml, inputs, threads);
  EXPECT_LE(difference(trial.run({left, right}),
                       batched_product(a, b, expected, left, right, transpose_a, transpose_b)),
            1e-5);
}

TEST(matmul, multiplies_matrices_in_all_four_orders) {
  expect_product({7, 5}, {5, 9}, {7, 9}, false, false);
  expect_product({5, 7}, {5, 9}, {7, 9}, true, false);
  expect_product({7, 5}, {9, 5}, {7, 9}, false, true);
  expect_product({5, 7}, {9, 5}, {7, 9}, true, true);
}

TEST(matmul, multiplies_batches) {
  expect_product({4, 3, 7, 5}, {4, 3, 5, 9}, {4, 3, 7, 9}, false, false);
  expect_product({4, 5, 7}, {4, 9, 5}, {4, 7, 9}, true, true, 2);
}

TEST(matmul, broadcasts_leading_dimensions) {
  expect_product({4, 3, 7, 5}, {5, 9}, {4, 3, 7, 9}, false, false);
  expect_product({7, 5}, {3, 5, 9}, {3, 7, 9}, false, false);
  expect_product({4, 1, 7, 5}, {1, 3, 5, 9}, {4, 3, 7, 9}, false, false);
  expect_product({4, 1, 5, 7}, {3, 9, 5}, {4, 3, 7, 9}, true, true);
}

TEST(matmul, multiplies_many_small_matrices_with_vectors) {
  expect_product({6, 20, 8, 1, 64}, {6, 1, 8, 64, 1}, {6, 20, 8, 1, 1}, false, false);
}

TEST(matmul, keeps_denormals) {
  stage_trial trial(matmul_kind(), "{}", {floats({1, 2}), floats({2, 1})});
  EXPECT_EQ(trial.run({{1e-39F, 1e-39F}, {1, 1}}), std::vector{1e-39F + 1e-39F});
}

TEST(matmul, names_its_operation) {
  stage_trial trial(matmul_kind(), "{}", {floats({4, 4}), floats({4, 4})});
  EXPECT_THAT(trial.operations(), testing::ElementsAre(testing::StartsWith("matmul [")));
}

TEST(matmul, refuses_what_does_not_fit) {
  const auto problems = [](const std::string& yaml, const tensor_type& a, const tensor_type& b) {
    return problems_of(matmul_kind(), yaml, {a, b});
  };
  EXPECT_EQ(problems("{}", floats({2, 3}), floats({4, 5})),
            "1:1: matmul cannot multiply 'a' of [2, 3] by 'b' of [4, 5]: 3 columns do not fit 4 "
            "rows\n");
  EXPECT_THAT(problems("{transpose_a: true}", floats({2, 3}), floats({3, 5})),
              HasSubstr("cannot multiply transposed 'a' of [3, 2] by 'b' of [3, 5]"));
  EXPECT_THAT(problems("{}", floats({4, 2, 3}), floats({5, 3, 2})),
              HasSubstr("[5, 3, 2]: their leading dimensions do not broadcast"));
  EXPECT_THAT(problems("{}", floats({3}), {{3, 2}, dtype::uint8}),
              HasSubstr("of at least 2 dimensions; found float32 [3], uint8 [3, 2]"));
  EXPECT_THAT(problems("{}", floats(shape(std::vector<std::int64_t>(13, 1))), floats({1, 1})),
              HasSubstr("takes at most 12 dimensions but 'a' gives"));
  const shape large{std::int64_t{1} << 20, std::int64_t{1} << 20};
  EXPECT_THAT(problems("{}", floats(large), floats(large)), HasSubstr("2^57 FLOPs"));
}

}  // namespace

}  // namespace graphline::test
