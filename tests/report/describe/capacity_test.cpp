#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/render/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/simulated_queue.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_capacity.hpp"

namespace graphline::report {
namespace {

using samples::expect_golden;
using samples::two_models_capacity;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const capacity_record& record) {
  return as_text(describe(record));
}

TEST(describe_capacity, shows_every_rate_and_what_was_found) {
  auto record = two_models_capacity({6, 8, 12, 33.33});
  record.runs[3].cut_off = true;
  record.runs[3].overdue = 60;
  expect_golden("capacity.txt", text_of(record));
}

TEST(describe_capacity, says_when_frames_alone_take_too_long) {
  auto record = two_models_capacity({});
  record.how.bound = 20'000'000;
  expect_golden("capacity_impossible.txt", text_of(record));
}

TEST(describe_capacity, tells_of_interruption_and_failure) {
  auto record = two_models_capacity({6});
  record.interrupted = true;
  record.runs.back().members.front().failure = "stage 'noise' failed in frame 3";
  EXPECT_THAT(text_of(record),
              AllOf(HasSubstr("INTERRUPTED: "),
                    HasSubstr("FAILED after 480 of 480 frames: stage 'noise' failed in frame 3")));
}

TEST(describe_capacity, judges_no_rate_by_a_run_without_counted_frames) {
  auto record = two_models_capacity({6, 12});
  record.runs[0].members.front().interrupted = true;
  record.runs[0].members.front().frames.resize(10);
  record.runs[1].members.front().conditions = conditions_record{};
  record.runs[1].members.front().conditions->standstills.push_back({0, 300'000'000, false});
  EXPECT_THAT(text_of(record), AllOf(HasSubstr("0       0       -         -     -     -     -  not "
                                               "completed\n"),
                                     HasSubstr("0       0       -         -     -     -     -  "
                                               "disturbed\n")));
}

TEST(describe_capacity, shows_outcomes_whole_in_80_columns) {
  auto record = two_models_capacity({6, 1200.5});
  record.how.arrival = arrival::constant;
  auto& run = record.runs[1];
  run.cut_off = true;
  run.members.front().load.dropped.assign(2000, 1);
  for (std::size_t i = 0; i < run.members.front().frames.size(); ++i) {
    auto& frame = run.members.front().frames[i];
    const auto late = static_cast<nanoseconds>(i) * 10'000'000;
    frame = {static_cast<nanoseconds>(i) * 800'000, frame.due + late,
             frame.due + late + 30'000'000};
  }
  EXPECT_THAT(text_of(record), AllOf(HasSubstr("fails *, queue grows\n"), Not(HasSubstr("…"))));
}

TEST(describe_capacity, holds_the_rate_every_probe_and_every_sample) {
  const auto text = result_json(two_models_capacity({6, 33.33}));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "graphline.capacity/1");
  EXPECT_EQ(json["pipeline"], "two_models");
  EXPECT_EQ(json["percentile"], "p95");
  EXPECT_EQ(json["bound_ms"], 60.0);
  EXPECT_EQ(json["settings"]["arrival"], "poisson");
  EXPECT_FALSE(json["settings"].contains("rate"));
  const auto& found = json["capacity"];
  const double truth = samples::md1_capacity(30e6, 0.95, 60e6);
  EXPECT_NEAR(found["value"].get<double>(), truth, 0.02 * truth);
  EXPECT_LE(found["interval"][0].get<double>(), truth);
  EXPECT_GE(found["interval"][1].get<double>(), truth);
  EXPECT_EQ(found["runs"], 16);
  EXPECT_EQ(found["frames"], 16 * 432);
  EXPECT_NEAR(found["closed_loop"].get<double>(), 1e3 / 30, 0.01);
  ASSERT_EQ(json["probes"].size(), 4U);
  const auto& pooled = json["probes"][1];  // by rate
  EXPECT_EQ(pooled["pooled"], true);
  EXPECT_EQ(pooled["runs"], 8);
  ASSERT_EQ(json["record"]["runs"].size(), 18U);
  EXPECT_EQ(json["record"]["runs"][2]["members"][0]["frames"]["end"].size(), 480U);
  EXPECT_EQ(json["probes"][3]["pooled"], false);
  EXPECT_EQ(json["probes"][3]["held_in"], 0);
  EXPECT_FALSE(json["findings"].empty());
}

TEST(describe_capacity, says_that_the_machine_was_disturbed) {
  auto record = two_models_capacity({6});
  EXPECT_THAT(text_of(record), Not(HasSubstr("disturbed")));
  record.conditions = conditions_record{.lasted = 10'000'000'000, .cores = 2};
  record.conditions->others = 17'000'000'000;
  const std::string warning =
      "disturbed (machine noise): other processes kept 1.70 of 2 cores busy";
  EXPECT_THAT(text_of(record), EndsWith("\n\nwarning: " + warning + "\n"));
  const auto json = nlohmann::json::parse(result_json(record));
  EXPECT_EQ(json["warnings"], nlohmann::json::array({warning}));
}

TEST(describe_capacity, of_nothing_is_still_a_result_file) {
  const auto json = nlohmann::json::parse(result_json(capacity_record{}));
  EXPECT_TRUE(json["capacity"]["value"].is_null());
  EXPECT_TRUE(json["probes"].empty());
}

}  // namespace
}  // namespace graphline::report
