#include "framework/report/html/attribution_data.hpp"

#include <gtest/gtest.h>

#include "framework/report/html/page_parts.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

nlohmann::ordered_json attribution_of(const run_record& record) {
  const auto summary = attribute(record);
  return attribution_data(record, *summary);
}

TEST(attribution_data, has_rows_that_add_up_to_the_end_to_end_time_of_each_group) {
  for (const auto& record :
       {samples::two_models(timing_method::event, 400),
        samples::two_models(timing_method::host, 400), samples::two_models_on_schedule(400)}) {
    const auto data = attribution_of(record);
    for (const auto* group : {"all", "typical", "slowest"}) {
      double sum = data["residual"][group];
      for (const auto& row : data["rows"]) sum += row[group].get<double>();
      EXPECT_NEAR(sum, data["end_to_end"][group].get<double>(), 0.1) << group;
    }
  }
}

TEST(attribution_data, counts_the_frames_of_each_group) {
  const auto data = attribution_of(samples::two_models(timing_method::event, 400));
  EXPECT_EQ(data["frames"]["all"], 400U);
  EXPECT_EQ(data["frames"]["slowest"], 4U);
  EXPECT_GT(data["frames"]["typical"], 30U);
}

TEST(attribution_data, compares_the_best_possible_with_the_time_from_begin_to_end) {
  // A frame that waits in the queue is not slow for that.
  const auto record = samples::two_models_on_schedule(50);
  const auto data = attribution_of(record);
  EXPECT_LT(data["running"], data["end_to_end"]["all"]);
  EXPECT_LE(data["best_by_plan"], data["running"]);
  EXPECT_LE(data["best_by_edges"], data["best_by_plan"]);
  double sum = 0;
  for (const auto& frame : record.frames) sum += static_cast<double>(frame.end - frame.begin);
  EXPECT_NEAR(data["running"].get<double>(), sum / 50, 0.001);
}

TEST(attribution_data, has_no_best_possible_time_where_stages_were_not_timed) {
  const auto data = attribution_of(samples::two_models(timing_method::host, 50));
  EXPECT_TRUE(data["best_by_plan"].is_null());
  EXPECT_TRUE(data["best_by_edges"].is_null());
  EXPECT_TRUE(data["stages"].empty());
}

TEST(attribution_data, says_whose_time_a_row_is) {
  const auto data = attribution_of(samples::two_models_on_schedule(50));
  EXPECT_EQ(data["rows"][0]["what"], "queue_wait");
  EXPECT_TRUE(data["rows"][0]["stage"].is_null());
  bool found = false;
  for (const auto& row : data["rows"]) found |= row["what"] == "device" && row["stage"] == 0U;
  EXPECT_TRUE(found);
}

TEST(attribution_data, goes_to_a_page_that_has_a_word_and_a_colour_for_each_thing) {
  for (const auto& [word, what] : spent_words) {
    EXPECT_NE(page_script.find("\n  " + std::string(word) + ": "), page_script.npos) << word;
    EXPECT_NE(page_style.find("--" + std::string(word) + ":"), page_style.npos) << word;
  }
}

}  // namespace
}  // namespace graphline
