#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "framework/report/json/overhead_json.hpp"
#include "framework/report/terminal/overhead_table.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using samples::two_models_overhead;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(overhead_table, compares_the_methods) {
  expect_golden("overhead.txt", overhead_table(two_models_overhead(8)));
}

TEST(overhead_table, of_too_few_blocks_gives_no_interval) {
  auto record = two_models_overhead(3);
  record.trials.pop_back();
  record.interrupted = true;
  expect_golden("overhead_interrupted.txt", overhead_table(record));
}

TEST(overhead_table, names_the_method_under_which_a_run_failed) {
  auto record = two_models_overhead(4);
  record.trials.back().record.failure = "stage 'noise' failed in frame 3";
  EXPECT_THAT(overhead_table(record),
              AllOf(HasSubstr("FAILED under timing event: stage 'noise' failed in frame 3"),
                    HasSubstr("left out: 4 trials")));
}

TEST(overhead_table, has_room_for_all_methods) {
  auto record = two_models_overhead(8);
  record.methods.push_back(timing_method::layers);
  for (std::size_t block = 0; block < 8; ++block) {
    record.trials.push_back({block, samples::two_models(timing_method::layers, 5)});
  }
  const auto text = overhead_table(record);
  EXPECT_THAT(text, HasSubstr("layers  device time as under event"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(text_width(line), 80U) << line;
}

TEST(overhead_table, of_nothing_says_so) {
  EXPECT_EQ(overhead_table({}), "No trial was measured.\n");
}

TEST(overhead_json, holds_costs_with_their_intervals_and_every_trial) {
  const auto text = overhead_json(two_models_overhead(8));
  EXPECT_TRUE(text.starts_with(json_beginning));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "graphline.overhead/1");
  EXPECT_EQ(json["pipeline"], "two_models");
  EXPECT_EQ(json["complete_blocks"], 8);
  EXPECT_FALSE(json["settings"].contains("timing"));
  ASSERT_EQ(json["methods"].size(), 4u);
  EXPECT_TRUE(json["methods"][0]["overhead"].is_null());
  EXPECT_TRUE(json["methods"][0]["stages"].empty());
  const auto& sync = json["methods"][2];
  EXPECT_EQ(sync["timing"], "sync");
  EXPECT_EQ(sync["stages"][0]["measure"], "synchronized_time");
  EXPECT_EQ(sync["stages"][0]["time"]["median"], 70.0);
  EXPECT_NEAR(sync["overhead"]["median"].get<double>(), 16'000, 100);
  EXPECT_LT(sync["overhead"]["interval"][0], sync["overhead"]["median"]);
  EXPECT_GT(sync["overhead"]["interval"][1], sync["overhead"]["median"]);
  EXPECT_NEAR(sync["overhead"]["percent"].get<double>(), 21.6, 0.2);
  EXPECT_EQ(json["trials"].size(), 32u);
  EXPECT_EQ(json["trials"][0]["end_to_end"]["samples"].size(), 5u);
  EXPECT_FALSE(json["findings"].empty());
}

TEST(overhead_json, has_null_where_blocks_do_not_carry_an_interval) {
  const auto json = nlohmann::json::parse(overhead_json(two_models_overhead(2)));
  EXPECT_TRUE(json["methods"][2]["overhead"]["median"].is_number());
  EXPECT_TRUE(json["methods"][2]["overhead"]["interval"].is_null());
}

TEST(overhead_report, says_that_the_machine_was_disturbed) {
  auto record = two_models_overhead(2);
  EXPECT_THAT(overhead_table(record), Not(HasSubstr("disturbed")));
  EXPECT_FALSE(nlohmann::json::parse(overhead_json(record)).contains("conditions"));
  record.conditions = conditions_record{.lasted = 10'000'000'000, .cores = 2};
  record.conditions->others = 17'000'000'000;
  const std::string warning =
      "disturbed (machine noise): other processes kept 1.70 of 2 cores busy";
  EXPECT_THAT(overhead_table(record), EndsWith("\n\nwarning: " + warning + "\n"));
  const auto json = nlohmann::json::parse(overhead_json(record));
  EXPECT_EQ(json["conditions"], (nlohmann::json{{"other processes", "1.70 of 2 cores busy"}}));
  EXPECT_EQ(json["warnings"], nlohmann::json::array({warning}));
}

TEST(overhead_json, of_nothing_is_still_a_result_file) {
  const auto json = nlohmann::json::parse(overhead_json({}));
  EXPECT_EQ(json["complete_blocks"], 0);
  EXPECT_TRUE(json["trials"].empty());
}

TEST(overhead_json, becomes_no_larger_than_announced) {
  EXPECT_LE(overhead_json(two_models_overhead(20)).size(), expected_overhead_json_bytes(20, 5));
}

}  // namespace
}  // namespace graphline
