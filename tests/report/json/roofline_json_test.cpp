#include "framework/report/json/roofline_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

TEST(roofline_json, is_as_expected) {
  const auto text = roofline_json(samples::two_models_roofline(5));
  auto result = json::parse(text);
  EXPECT_TRUE(result.erase("record") == 1);  // which the reader of records is for
  samples::expect_golden("roofline.json", result.dump(2) + "\n");
}

TEST(roofline_json, has_null_for_what_is_not_known) {
  auto record = samples::two_models_roofline(5);
  record.stages.stages[2].cost = {};
  const auto result = json::parse(roofline_json(record));
  const auto& head = result["stages"][2];
  for (const auto* key : {"flops", "bytes_read", "intensity", "least", "bound", "ratio"}) {
    EXPECT_TRUE(head.at(key).is_null()) << key;
  }
  EXPECT_TRUE(result["least"]["value"].is_null());
  EXPECT_FALSE(head.at("measured").is_null());
}

TEST(roofline_json, has_null_for_a_median_of_too_few_frames) {
  const auto result = json::parse(roofline_json(samples::two_models_roofline(4)));
  for (const auto& stage : result["stages"]) {
    EXPECT_TRUE(stage.at("measured").is_null()) << stage["name"];
    for (const auto& part : stage.value("parts", json::array())) {
      EXPECT_TRUE(part.at("measured").is_null()) << part["name"];
      EXPECT_TRUE(part.at("ratio").is_null()) << part["name"];
    }
  }
  EXPECT_TRUE(result["findings"].empty());
}

TEST(roofline_json, leaves_out_what_takes_a_calibration) {
  auto record = samples::two_models_roofline(5);
  record.stages.calibration.reset();
  record.layers.failure = "out of memory";
  const auto result = json::parse(roofline_json(record));
  for (const auto* key : {"calibration", "roofs", "stages", "findings"}) {
    EXPECT_FALSE(result.contains(key)) << key;
  }
  EXPECT_EQ(result["failure"], "out of memory");
}

}  // namespace
}  // namespace graphline
