#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "stages/kinds.hpp"
#include "stages/nn/host/gemv_loops.hpp"
#include "stages/nn/operations/gemv.hpp"
#include "tests/base/guarded.hpp"
#include "tests/stages/product_samples.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(const gemv_case& wanted) {
  return to_string(wanted.a) + " x " + to_string(wanted.x);
}

class gemv_method : public testing::TestWithParam<const char*> {
 protected:
  std::string yaml() const { return std::string("{method: ") + GetParam() + "}"; }
};
INSTANTIATE_TEST_SUITE_P(both, gemv_method, testing::Values("library", "fused"),
                         [](const auto& method) { return std::string(method.param); });

TEST_P(gemv_method, computes_products_of_every_shape_with_one_thread_and_with_several) {
  const stage_kind kind = matmul_kind();
  for (const gemv_case& wanted : gemv_cases()) {
    const std::vector<tensor_type> inputs{floats(wanted.a), floats(wanted.x)};
    const prepared_stage inferred = prepare(kind, yaml(), inputs);
    ASSERT_EQ(inferred.outputs.at(0), floats(wanted.y)) << text_of(wanted);
    const auto a = some_values(wanted.a.elements(), 1);
    const auto x = some_values(wanted.x.elements(), 2);
    const auto expected = gemv_reference(wanted, a, x);
    for (const int threads : {1, 3}) {
      stage_trial trial(kind, yaml(), inputs, threads);
      EXPECT_LE(difference(trial.run({a, x}), expected), 1e-5)
          << text_of(wanted) << ", " << threads << " threads";
    }
  }
}

TEST_P(gemv_method, has_one_part_with_its_cost) {
  const stage_kind kind = matmul_kind();
  const std::vector<tensor_type> inputs{floats({6, 20, 8, 1, 64}), floats({6, 1, 8, 64, 1})};
  const prepared_stage inferred = prepare(kind, yaml(), inputs);
  EXPECT_EQ(inferred.known, known_cost::all);
  EXPECT_EQ(inferred.cost.macs, 6 * 20 * 8 * 64);
  EXPECT_EQ(inferred.cost.flops, 2 * inferred.cost.macs);
  EXPECT_EQ(inferred.cost.bytes_read, 4 * (6 * 20 * 8 * 64 + 6 * 8 * 64));
  EXPECT_EQ(inferred.cost.bytes_written, 4 * 6 * 20 * 8);
  stage_trial trial(kind, yaml(), inputs);
  ASSERT_EQ(trial.parts().size(), 1U);
  const stage_part part = trial.parts().front();
  EXPECT_EQ(part.name, GetParam() == std::string_view("fused") ? "gemv" : "matmul");
  ASSERT_TRUE(part.cost);
  EXPECT_EQ(part.cost->flops, inferred.cost.flops);
  EXPECT_EQ(part.cost->bytes_read, inferred.cost.bytes_read);
  EXPECT_EQ(trial.enqueue_in_parts(), 1U);
  trial.wait();
}

TEST(gemv, gives_the_same_bits_whatever_the_number_of_threads) {
  for (const gemv_case& wanted : gemv_cases()) {
    const auto a = some_values(wanted.a.elements(), 1);
    const auto x = some_values(wanted.x.elements(), 2);
    const auto with = [&](int threads) {
      stage_trial trial(matmul_kind(), "{method: fused}", {floats(wanted.a), floats(wanted.x)},
                        threads);
      return trial.run({a, x});
    };
    const auto one = with(1);
    EXPECT_EQ(with(2), one) << text_of(wanted);
    EXPECT_EQ(with(5), one) << text_of(wanted);
  }
}

TEST(gemv, keeps_what_is_not_a_number_in_its_row) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  stage_trial trial(matmul_kind(), "{method: fused}", {floats({9, 5}), floats({5, 1})});
  std::vector<float> a(45, 1.0F);
  a[5] = infinity;
  a[10] = std::numeric_limits<float>::quiet_NaN();
  const auto y = trial.run({a, std::vector<float>(5, 2.0F)});
  EXPECT_EQ(y[0], 10.0F);
  EXPECT_EQ(y[1], infinity);
  EXPECT_NE(y[2], y[2]);
  for (std::size_t row = 3; row < 9; ++row) EXPECT_EQ(y[row], 10.0F);
}

TEST(gemv_loops, agree_whatever_instructions_they_are_made_of_and_stay_within_their_operands) {
  ASSERT_FALSE(gemv_codes().empty());
  for (const gemv_code& code : gemv_codes()) {
    for (const gemv_case& wanted : gemv_cases()) {
      if (wanted.a.rank() != wanted.y.rank() || wanted.x.rank() != wanted.y.rank()) continue;
      const gemv_form form = collapse_rows(gemv_of(wanted.a, wanted.x, wanted.y));
      const auto a = some_values(wanted.a.elements(), 1);
      const auto x = some_values(wanted.x.elements(), 2);
      const gemv_pieces pieces = pieces_of(form);
      const std::int64_t rows = form.rows();
      ASSERT_EQ(rows, wanted.y.elements());
      for (const guard at : guards) {
        const guarded<float> rows_of_a(a, at);
        const guarded<float> vectors(x, at);
        const guarded<float> sums(static_cast<std::size_t>(rows * pieces.count), at);
        code.run(form, rows_of_a.data(), vectors.data(), sums.data(), 0, rows * pieces.count);
        EXPECT_TRUE(sums.alone()) << code.instructions << ", " << text_of(wanted);
        std::vector<float> y(static_cast<std::size_t>(rows), 0.0F);
        for (std::size_t i = 0; i < sums.span().size(); ++i) y[i % y.size()] += sums.data()[i];
        EXPECT_LE(difference(y, gemv_reference(wanted, a, x)), 1e-5)
            << code.instructions << ", " << text_of(wanted);
      }
    }
  }
}

TEST(gemv_form, takes_as_few_axes_as_the_strides_allow) {
  const auto axes = [](const shape& a, const shape& x, const shape& y) {
    return collapse_rows(gemv_of(a, x, y)).axes;
  };
  EXPECT_THAT(
      axes({600, 200, 8, 1, 64}, {600, 1, 8, 64, 1}, {600, 200, 8, 1, 1}),
      ElementsAre(gemv_axis{600, 102400, 512}, gemv_axis{200, 512, 0}, gemv_axis{8, 64, 64}));
  EXPECT_THAT(axes({4, 5, 6, 7}, {1, 1, 7, 1}, {4, 5, 6, 1}), ElementsAre(gemv_axis{120, 7, 0}));
  EXPECT_THAT(axes({4, 5, 1, 7}, {4, 5, 7, 1}, {4, 5, 1, 1}), ElementsAre(gemv_axis{20, 7, 7}));
  EXPECT_THAT(axes({1, 6, 7}, {3, 7, 1}, {3, 6, 1}),
              ElementsAre(gemv_axis{3, 0, 7}, gemv_axis{6, 7, 0}));
  EXPECT_THAT(axes({1, 7}, {7, 1}, {1, 1}), ElementsAre());
}

TEST(gemv, takes_a_row_transposed_for_a_column) {
  stage_trial trial(matmul_kind(), "{method: fused, transpose_b: true}",
                    {floats({2, 3}), floats({1, 3})});
  EXPECT_THAT(trial.run({{1, 2, 3, 4, 5, 6}, {1, 10, 100}}), ElementsAre(321, 654));
}

TEST(gemv, refuses_what_does_not_fit) {
  const auto problems = [](const std::string& yaml, const tensor_type& a, const tensor_type& x) {
    return problems_of(matmul_kind(), yaml, {a, x});
  };
  EXPECT_EQ(problems("{method: fused}", floats({2, 3}), floats({3, 5})),
            "1:10: method: fused multiplies by one column, but 'b' has 5; use method: library\n");
  EXPECT_EQ(problems("{method: fused, transpose_a: true}", floats({3, 2}), floats({3, 1})),
            "1:30: method: fused does not transpose 'a'; use method: library\n");
  EXPECT_EQ(problems("{method: fused, precision: float16}", floats({2, 3}), floats({3, 1})),
            "1:28: method: fused computes in float32; use method: library\n");
  EXPECT_THAT(problems("{method: fast}", floats({2, 3}), floats({3, 1})),
              AllOf(HasSubstr("fast"), HasSubstr("library"), HasSubstr("fused")));
}

}  // namespace

}  // namespace graphline::test
