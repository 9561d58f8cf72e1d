#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

TEST(copy, gives_the_same_bytes) {
  stage_trial trial(copy_kind(), "{}", {floats({3, 5})});
  const auto input = some_values(15);
  EXPECT_EQ(trial.run({input}), input);
}

TEST(copy, keeps_any_type_and_counts_bytes_only) {
  const tensor_type type{{4, 2}, dtype::uint8};
  const stage_shape s = infer(copy_kind(), "{}", {type});
  EXPECT_EQ(s.outputs, std::vector{type});
  EXPECT_EQ(s.cost.bytes_read, 8);
  EXPECT_EQ(s.cost.bytes_written, 8);
  EXPECT_EQ(s.cost.flops, 0);
  EXPECT_EQ(s.known, known_cost::all);
  EXPECT_TRUE(copy_kind().moves);
}

}  // namespace

}  // namespace graphline::test
