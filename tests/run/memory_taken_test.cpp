#include "framework/run/execute/prepared_pipeline.hpp"

#include <gtest/gtest.h>

namespace graphline {
namespace {

memory_usage on_device(std::size_t bytes, std::size_t peak) {
  memory_usage usage;
  usage.device_bytes = bytes;
  usage.device_peak_bytes = peak;
  return usage;
}

TEST(memory_taken, leaves_out_what_other_pipelines_hold) {
  const auto taken = taken_since(on_device(100, 100), on_device(150, 170));
  EXPECT_EQ(taken.device_bytes, 50U);
  EXPECT_EQ(taken.device_peak_bytes, 70U);
}

TEST(memory_taken, has_no_peak_of_its_own_below_one_that_was_reached_before) {
  const auto taken = taken_since(on_device(100, 400), on_device(150, 400));
  EXPECT_EQ(taken.device_bytes, 50U);
  EXPECT_EQ(taken.device_peak_bytes, 50U);
}

}  // namespace
}  // namespace graphline
