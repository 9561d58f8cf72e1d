#include "framework/analysis/roofline/device_ceilings.hpp"

#include <gtest/gtest.h>

namespace graphline {
namespace {

constexpr auto float32 = precision::float32;

ceiling_figure figure(ceiling what, double value, double best, precision arithmetic = float32) {
  return {what, arithmetic, value, value / 2, best};
}

TEST(device_ceilings, are_the_higher_of_two_with_the_better_best_of_both) {
  const std::vector<ceiling_figure> measured = {
      figure(ceiling::read, 10e9, 13e9), figure(ceiling::copy, 12e9, 12.5e9),
      figure(ceiling::convolution, 90e9, 91e9), figure(ceiling::matmul, 80e9, 96e9)};
  const device_ceilings at(measured);
  ASSERT_TRUE(at.bandwidth);
  EXPECT_EQ(at.bandwidth->what, ceiling::copy);
  EXPECT_DOUBLE_EQ(at.bandwidth->value, 12e9);
  EXPECT_DOUBLE_EQ(at.bandwidth->best, 13e9);
  ASSERT_NE(at.rate(float32), nullptr);
  EXPECT_DOUBLE_EQ(at.rate(float32)->value, 90e9);
  EXPECT_DOUBLE_EQ(at.rate(float32)->best, 96e9);
  EXPECT_DOUBLE_EQ(at.compute[0].ridge_point, 7.5);
}

TEST(device_ceilings, have_a_roof_for_each_precision_that_was_measured) {
  const std::vector<ceiling_figure> measured = {
      figure(ceiling::matmul, 40e12, 41e12, precision::float16), figure(ceiling::read, 1e12, 1e12),
      figure(ceiling::convolution, 10e12, 11e12)};
  const device_ceilings at(measured);
  ASSERT_EQ(at.compute.size(), 2U);
  EXPECT_EQ(at.compute[0].arithmetic, float32);
  EXPECT_EQ(at.compute[1].arithmetic, precision::float16);
  EXPECT_DOUBLE_EQ(at.compute[1].ridge_point, 40);
  EXPECT_EQ(at.rate(precision::tf32), nullptr);
}

TEST(device_ceilings, have_no_roofs_without_a_bandwidth_and_no_links_that_were_not_measured) {
  const std::vector<ceiling_figure> measured = {figure(ceiling::matmul, 40e12, 41e12),
                                                figure(ceiling::device_to_host_pinned, 8e9, 9e9)};
  const device_ceilings at(measured);
  EXPECT_FALSE(at.bandwidth);
  EXPECT_TRUE(at.compute.empty());
  EXPECT_EQ(at.to_device, nullptr);
  EXPECT_EQ(at.to_host, &measured[1]);
}

TEST(device_ceilings, move_bytes_at_the_three_measured_bandwidths_exactly) {
  const std::vector<ceiling_figure> measured = {figure(ceiling::read, 20e9, 25e9),
                                                figure(ceiling::write, 40e9, 50e9),
                                                figure(ceiling::copy, 30e9, 32e9)};
  const device_ceilings at(measured);
  EXPECT_DOUBLE_EQ(at.time_to_move(20, 0).usual, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(25, 0).best, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(0, 40).usual, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(15, 15).usual, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(16, 16).best, 1);
}

TEST(device_ceilings, move_what_is_both_read_and_written_as_a_copy_and_the_rest_alone) {
  const std::vector<ceiling_figure> measured = {figure(ceiling::read, 20e9, 20e9),
                                                figure(ceiling::write, 40e9, 40e9),
                                                figure(ceiling::copy, 30e9, 30e9)};
  const device_ceilings at(measured);
  EXPECT_DOUBLE_EQ(at.time_to_move(15 + 20, 15).usual, 2);
  EXPECT_DOUBLE_EQ(at.time_to_move(15, 15 + 40).usual, 2);
}

TEST(device_ceilings, read_no_slower_alone_than_in_a_copy) {
  // A copy of 30 GB/s reads 15 of them: what was measured of reading alone does not hold.
  const std::vector<ceiling_figure> measured = {figure(ceiling::read, 10e9, 10e9),
                                                figure(ceiling::copy, 30e9, 30e9)};
  EXPECT_DOUBLE_EQ(device_ceilings(measured).time_to_move(15, 0).usual, 1);
}

TEST(device_ceilings, take_the_bandwidth_there_is_for_one_that_was_not_measured) {
  const std::vector<ceiling_figure> old = {figure(ceiling::read, 20e9, 20e9),
                                           figure(ceiling::copy, 30e9, 30e9)};
  EXPECT_DOUBLE_EQ(device_ceilings(old).time_to_move(0, 30).usual, 1);
  const std::vector<ceiling_figure> one = {figure(ceiling::read, 20e9, 20e9)};
  EXPECT_DOUBLE_EQ(device_ceilings(one).time_to_move(10, 10).usual, 1);
}

}  // namespace
}  // namespace graphline
