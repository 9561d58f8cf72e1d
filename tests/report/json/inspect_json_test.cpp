#include "framework/report/json/inspect_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/report/golden.hpp"
#include "tests/report/sample_costs.hpp"

namespace graphline::samples {

namespace {

TEST(inspect_json, is_as_expected) {
  expect_golden("inspect.json", inspect_json(sample_costs()));
}

TEST(inspect_json, has_the_known_figures_to_the_last_digit_and_null_for_unknown_ones) {
  const auto result = nlohmann::json::parse(inspect_json(sample_costs()));
  EXPECT_EQ(result["schema"], "graphline.inspect/1");
  EXPECT_EQ(result["stages"][1]["layers"][0]["flops"], 858'993'459'200);
  EXPECT_TRUE(result["stages"][2]["flops"].is_null());
  EXPECT_EQ(result["stages"][2]["bytes_read"], 2'000);
  EXPECT_TRUE(result["stages"][3]["bytes_read"].is_null());
  EXPECT_EQ(result["total"]["without_flops"].size(), 2u);
}

}  // namespace

}  // namespace graphline::samples
