#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/report/json/diff_json.hpp"
#include "framework/report/json/roofline_json.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_roofline.hpp"
#include "tests/report/store/result_files.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using samples::two_models_roofline;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// On a device calibrated anew, with a faster `head` and another name for the work on the CPU.
roofline_record later_roofline() {
  auto record = two_models_roofline(45);
  record.stages.calibration->date = "2026-12-20T12:00:00Z";
  for (auto& ceiling : record.stages.calibration->ceilings) ceiling.value *= 2;
  for (auto& stamps : record.stages.stages[2].device) stamps.end -= stamps.length() / 2;
  record.stages.stages[1].name = record.layers.stages[1].name = "randoms";
  record.stages.interrupted = true;
  return record;
}

class roofline_diff_report : public samples::result_files {
 protected:
  roofline_diff diff_of(const roofline_record& before, const roofline_record& after) {
    return compare(read_back<saved_roofline>("old.json", roofline_json(before)),
                   read_back<saved_roofline>("new.json", roofline_json(after)));
  }
};

TEST_F(roofline_diff_report, shows_each_stages_time_and_ratio) {
  const auto diff = diff_of(two_models_roofline(45), later_roofline());
  expect_golden("diff_roofline.txt", diff_table(diff));
  for (const std::size_t width : {40, 60, 80, 120}) {
    EXPECT_LE(widest_line(diff_table(diff, {.width = width})), width);
  }
}

TEST_F(roofline_diff_report, says_that_nothing_changed) {
  const auto record = two_models_roofline(45);
  EXPECT_THAT(diff_table(diff_of(record, record)),
              AllOf(HasSubstr("all stages take as long as before"),
                    HasSubstr("device and environment are the same"),
                    Not(HasSubstr("least times are not the same"))));
}

TEST_F(roofline_diff_report, knows_no_stages_of_a_roofline_without_roofs) {
  auto without = two_models_roofline(45);
  without.stages.calibration->ceilings.clear();
  without.stages.failure = "the device went away";
  EXPECT_THAT(diff_table(diff_of(two_models_roofline(45), without)),
              AllOf(HasSubstr("no stage was measured in both"),
                    HasSubstr("new.json: FAILED: the device went away")));
}

TEST_F(roofline_diff_report, holds_each_stage_as_json) {
  using json = nlohmann::ordered_json;
  const auto result = json::parse(diff_json(diff_of(two_models_roofline(45), later_roofline())));
  EXPECT_EQ(result["of"], "graphline.roofline/1");
  ASSERT_EQ(result["stages"].size(), 4U);
  const auto& head = result["stages"][2];
  EXPECT_EQ(head["name"], "head");
  EXPECT_NEAR(head["measured"]["change_percent"].get<double>(), -50, 0.1);
  EXPECT_NEAR(head["least"]["change_percent"].get<double>(), -50, 0.1);
  EXPECT_NEAR(head["ratio"]["change_percent"].get<double>(), 0, 0.1);
  EXPECT_EQ(result["stages"][1]["ratio"]["before"], nullptr);
  EXPECT_EQ(result["stages"][3]["in"], (json{{"before", false}, {"after", true}}));
  EXPECT_EQ(result["interrupted"], (json{{"before", false}, {"after", true}}));
  EXPECT_EQ(result["failure"], (json{{"before", nullptr}, {"after", nullptr}}));
}

}  // namespace
}  // namespace graphline
