#include "framework/analysis/run/operations.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

TEST(operations, are_counted_per_frame_and_stand_for_themselves_by_their_median) {
  auto record = samples::two_models(timing_method::event, 5);
  samples::add_operations(record);
  const auto found = operations_of(record.stages[0]);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].calls, 2);
  EXPECT_EQ(found[0].median, 20'000'000);
  EXPECT_EQ(found[0].together, 60'000'000);
  EXPECT_EQ(found[1].name, "gelu");
  EXPECT_EQ(found[1].calls, 1);
  EXPECT_TRUE(operations_of(record.stages[1]).empty());
}

}  // namespace
}  // namespace graphline
