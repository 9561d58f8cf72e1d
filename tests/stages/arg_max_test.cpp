#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stages/kinds.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// The 64-bit integers of an output that a trial returns as floats.
std::vector<std::int64_t> integers(const std::vector<float>& words) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    values.push_back(std::bit_cast<std::int64_t>(std::array{words[i], words[i + 1]}));
  }
  return values;
}

TEST(arg_max, finds_the_first_greatest_element_and_nans_before_numbers) {
  stage_trial trial(arg_max_kind(), "{}", {floats({3, 2, 4})}, 2);
  const std::vector<float> classes =
      trial.run({{1,         3,         3,         2,   //
                  -infinity, -infinity, -infinity, -1,  //
                  -0.0F,     0,         -0.0F,     0,   //
                  infinity,  nan,       nan,       1,   //
                  -infinity, -infinity, -infinity, -infinity, nan, 5, infinity, nan}});
  EXPECT_EQ(integers(classes), (std::vector<std::int64_t>{1, 3, 0, 1, 0, 0}));
  const std::vector<float> values = trial.output(0, 1);
  EXPECT_EQ(std::vector(values.begin(), values.begin() + 3), (std::vector{3.0F, -1.0F, -0.0F}));
  EXPECT_TRUE(std::isnan(values[3]) && std::isnan(values[5]));
  EXPECT_EQ(values[4], -infinity);
}

TEST(arg_max, drops_the_last_axis_and_counts_each_element) {
  const prepared_stage found = prepare(arg_max_kind(), "{}", {floats({16, 40, 6625})});
  EXPECT_EQ(found.outputs,
            (std::vector<tensor_type>{{{16, 40}, dtype::int64}, {{16, 40}, dtype::float32}}));
  EXPECT_EQ(found.cost.bytes_read, 16'960'000);
  EXPECT_EQ(found.cost.bytes_written, 640 * 12);
  EXPECT_EQ(found.cost.flops, 4'240'000);
  EXPECT_EQ(found.known, known_cost::all);
}

TEST(arg_max, refuses_other_types) {
  for (const tensor_type& wrong :
       {tensor_type{{2, 4}, dtype::uint8}, floats({4}), floats({1, std::int64_t{1} << 31})}) {
    EXPECT_EQ(problems_of(arg_max_kind(), "{}", {wrong}),
              "1:1: arg_max reads float32 [..., C] of at least 2 axes and fewer than 2^31 classes "
              "C; found " +
                  to_string(wrong) + "\n");
  }
}

}  // namespace

}  // namespace graphline::test
