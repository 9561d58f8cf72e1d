#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "framework/analysis/roofline/roofline.hpp"
#include "tests/analysis/made_roofline.hpp"

namespace graphline {
namespace {

using testing::HasSubstr;

constexpr std::int64_t floats = 4;  // bytes each

/// The card of docs/roofline.md.
calibration card(double bandwidth, double rate) {
  return {"",
          {{ceiling::read, precision::float32, bandwidth, bandwidth, bandwidth},
           {ceiling::matmul, precision::float32, rate, rate, rate}},
          {}};
}
const calibration measured_card = card(0.92e12, 78.65e12);
const calibration stated_card = card(1.01e12, 82.6e12);

constexpr std::int64_t image = 512 * 256 * 256;
constexpr std::int64_t filters = 512 * 512 * 5 * 5;
const cost_record convolution = {2 * image * 512 * 5 * 5, (image + filters) * floats,
                                 image* floats};
constexpr std::int64_t rows = 600 * 200 * 8;
const cost_record product = {2 * rows * 64, (rows * 64 + 600 * 8 * 64) * floats, rows* floats};

roofline_summary held(const cost_record& cost, const calibration& against,
                      nanoseconds took = 1'000'000) {
  auto made = samples::one_after_another({{"x", took}});
  made.record.stages[0].cost = cost;
  made.record.calibration = against;
  return *evaluate_roofline(made.record);
}

roofline_metrics figures(const cost_record& cost, const calibration& against,
                         nanoseconds took = 1'000'000) {
  return held(cost, against, took).stages.at(0).figures;
}

std::string documentation() {
  std::ifstream file(std::string(GRAPHLINE_TEST_DIR) + "/../../docs/roofline.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string milliseconds(double ns, int decimals) {
  return fmt::format("{:.{}f} ms", ns / 1e6, decimals);
}

TEST(roofline_examples, have_a_compute_bound_convolution) {
  EXPECT_EQ(convolution.flops, 858'993'459'200);
  EXPECT_EQ(*convolution.bytes_read + *convolution.bytes_written, 294'649'856);
  const auto of = figures(convolution, measured_card);
  EXPECT_EQ(of.by, bound::compute);
  EXPECT_EQ(milliseconds(*of.roofline_time, 2), "10.92 ms");
  EXPECT_EQ(milliseconds(*of.memory_time, 3), "0.320 ms");
  EXPECT_EQ(fmt::format("{:.0f}", *of.intensity), "2915");
  EXPECT_EQ(milliseconds(*figures(convolution, stated_card).roofline_time, 2), "10.40 ms");
}

TEST(roofline_examples, have_a_memory_bound_matrix_product) {
  EXPECT_EQ(product.flops, 122'880'000);
  EXPECT_EQ(*product.bytes_read + *product.bytes_written, 250'828'800);
  const auto of = figures(product, measured_card, 202'960'000);
  EXPECT_EQ(of.by, bound::memory);
  EXPECT_EQ(milliseconds(*of.roofline_time, 3), "0.273 ms");
  EXPECT_EQ(milliseconds(*of.compute_time, 5), "0.00156 ms");
  EXPECT_EQ(fmt::format("{:.2f}", *of.intensity), "0.49");
  EXPECT_EQ(fmt::format("{:.0f}", *of.ratio), "744");
  EXPECT_EQ(milliseconds(*figures(product, stated_card).roofline_time, 3), "0.248 ms");
  EXPECT_EQ(
      fmt::format("{:.1f}", held(product, measured_card).devices.at(0).compute.at(0).ridge_point),
      "85.5");
}

TEST(roofline_examples, agree_with_the_documentation) {
  const auto text = documentation();
  for (const auto* figure :
       {"858,993,459,200", "294,649,856", "2915 FLOP/B", "| 10.92 ms; 10.40 ms at", "| 0.320 ms |",
        "122,880,000", "250,828,800", "0.49 FLOP/B", "| 0.00156 ms |", "| 0.273 ms; 0.248 ms at",
        "744x roofline", "85.5 FLOP/B"}) {
    EXPECT_THAT(text, HasSubstr(figure));
  }
}

}  // namespace
}  // namespace graphline
