#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "framework/report/json/capacity_json.hpp"
#include "framework/report/terminal/capacity_table.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/simulated_queue.hpp"
#include "tests/report/golden.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// A search by rates that are given: frames of 30 ms that arrive at random, p95 within 60 ms.
capacity_record two_models_capacity(const std::vector<double>& rates) {
  const samples::simulated_queue queue{arrival::poisson, 30e6, false};
  capacity_record record;
  record.how = {0.95, 60'000'000, arrival::poisson, 0.02, 240, 1};
  const auto make = [&](std::optional<double> rate, std::int64_t frames, std::uint64_t seed) {
    run_record run = samples::two_models(timing_method::none, 1);
    run.frames = queue.run(rate, frames, seed).frames;
    run.run.frames = frames;
    return run;
  };
  record.closed_loop = make({}, 240, 1);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    record.runs.push_back({i, rates[i], false, false, 0, make(rates[i], 240, 1)});
  }
  if (rates.empty()) return record;
  for (std::uint64_t seed = 2; seed < 18; ++seed) {
    const std::size_t at = seed % 2;
    record.runs.push_back({rates.size() + at, at == 0 ? 8.0 : 11.0, true, false, 0,
                           make(at == 0 ? 8 : 11, 480, seed)});
  }
  return record;
}

TEST(capacity_table, shows_every_rate_and_what_was_found) {
  auto record = two_models_capacity({6, 8, 12, 33.33});
  record.runs[3].cut_off = true;
  record.runs[3].overdue = 60;
  expect_golden("capacity.txt", capacity_table(record));
}

TEST(capacity_table, says_when_frames_alone_take_too_long) {
  auto record = two_models_capacity({});
  record.how.bound = 20'000'000;
  expect_golden("capacity_impossible.txt", capacity_table(record));
}

TEST(capacity_table, tells_of_interruption_and_failure) {
  auto record = two_models_capacity({6});
  record.interrupted = true;
  record.runs.back().record.failure = "stage 'noise' failed in frame 3";
  EXPECT_THAT(capacity_table(record), AllOf(HasSubstr("INTERRUPTED: "),
                                            HasSubstr("FAILED: stage 'noise' failed in frame 3")));
}

TEST(capacity_table, fits_the_terminal_with_dropped_frames_too) {
  auto record = two_models_capacity({6, 33.33});
  record.runs.front().record.load.dropped = {1, 2, 3};
  record.runs.back().cut_off = true;
  const auto text = capacity_table(record);
  EXPECT_THAT(text, HasSubstr("dropped"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(text_width(line), 80U) << line;
}

TEST(capacity_table, of_nothing_says_so) {
  EXPECT_THAT(capacity_table({}), HasSubstr("no rate was judged"));
}

TEST(capacity_json, holds_the_rate_every_probe_and_every_sample) {
  const auto text = capacity_json(two_models_capacity({6, 33.33}));
  EXPECT_TRUE(text.starts_with(json_beginning));
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
  EXPECT_NEAR(json["closed_loop"]["value"].get<double>(), 1e3 / 30, 0.01);
  ASSERT_EQ(json["probes"].size(), 4U);
  const auto& pooled = json["probes"][2];
  EXPECT_EQ(pooled["pooled"], true);
  ASSERT_EQ(pooled["runs"].size(), 8U);
  EXPECT_EQ(pooled["runs"][0]["end_to_end"]["samples"].size(), 480U);
  EXPECT_EQ(pooled["runs"][0]["disturbed"], false);
  EXPECT_EQ(json["probes"][1]["pooled"], false);
  EXPECT_EQ(json["probes"][1]["held_in"], 0);
  EXPECT_FALSE(json["findings"].empty());
}

TEST(capacity_report, says_that_the_machine_was_disturbed) {
  auto record = two_models_capacity({6});
  EXPECT_THAT(capacity_table(record), Not(HasSubstr("disturbed")));
  EXPECT_FALSE(nlohmann::json::parse(capacity_json(record)).contains("conditions"));
  record.conditions = conditions_record{.lasted = 10'000'000'000, .cores = 2};
  record.conditions->others = 17'000'000'000;
  const std::string warning =
      "disturbed (machine noise): other processes kept 1.70 of 2 cores busy";
  EXPECT_THAT(capacity_table(record), EndsWith("\n\nwarning: " + warning + "\n"));
  const auto json = nlohmann::json::parse(capacity_json(record));
  EXPECT_EQ(json["conditions"], (nlohmann::json{{"other processes", "1.70 of 2 cores busy"}}));
  EXPECT_EQ(json["warnings"], nlohmann::json::array({warning}));
}

TEST(capacity_json, of_nothing_is_still_a_result_file) {
  const auto json = nlohmann::json::parse(capacity_json({}));
  EXPECT_TRUE(json["capacity"]["value"].is_null());
  EXPECT_TRUE(json["probes"].empty());
}

}  // namespace
}  // namespace graphline
