#include "framework/report/html/latency_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analysis/sample_records.hpp"
#include "tests/report/html/page_records.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

json latency_of(const run_record& record) {
  return latency_data(record, summarize(record));
}

TEST(latency_data, has_every_frame_of_few) {
  const auto record = samples::two_models(timing_method::event, 60);
  const auto data = latency_of(record);
  EXPECT_EQ(data["frames"], 60);
  ASSERT_EQ(data["series"].size(), 4u);
  EXPECT_EQ(data["series"][0]["times"], json(end_to_end_times(record)));
  EXPECT_EQ(data["series"][2]["times"], json(lengths(record.stages[1].cpu)));
  EXPECT_EQ(data["series"][2]["what"], "cpu");
  ASSERT_EQ(data["rows"].size(), 60u);
  EXPECT_EQ(data["rows"][7][0], 7);
  EXPECT_EQ(data["rows"][7][2], end_to_end_times(record)[7]);
}

TEST(latency_data, draws_every_spike_of_many) {
  const auto record = samples::long_run(100'000);
  const auto data = latency_of(record);
  const auto frames = data["series"][0]["frames"].get<std::vector<std::size_t>>();
  const auto times = data["series"][0]["times"].get<std::vector<nanoseconds>>();
  EXPECT_LE(frames.size(), 2000u);
  EXPECT_EQ(std::count_if(times.begin(), times.end(), [](auto t) { return t > 120'000'000; }), 11);
  for (std::size_t i = 0; i < 100'000; i += 9973) {
    EXPECT_TRUE(std::binary_search(frames.begin(), frames.end(), i)) << i;
  }
  EXPECT_LE(data["rows"].size(), 200u);
  EXPECT_EQ(data["rows"].front()[0], 0);
  EXPECT_EQ(data["rows"].back()[1], 99'999);
}

TEST(latency_data, has_a_median_where_there_are_frames_on_both_sides) {
  const auto data = latency_of(samples::two_models(timing_method::event, 300));
  EXPECT_EQ(data["median"]["reach"], 15);
  EXPECT_EQ(data["median"]["frames"].front(), 15);
  EXPECT_EQ(data["median"]["frames"].back(), 284);
  EXPECT_FALSE(latency_of(samples::two_models(timing_method::event, 10)).contains("median"));
}

TEST(latency_data, places_dropped_frames_by_when_they_were_due) {
  auto record = samples::two_models_on_schedule(60);
  const auto data = latency_of(record);
  EXPECT_EQ(data["dropped"]["count"], 2);
  std::size_t all = 0;
  for (const auto& place : data["dropped"]["at"]) {
    const auto frame = place[0].get<std::size_t>();
    const auto due = record.load.dropped[all];
    EXPECT_TRUE(frame == 60 || record.frames[frame].due > due);
    EXPECT_TRUE(frame == 0 || record.frames[frame - 1].due <= due);
    all += place[1].get<std::size_t>();
  }
  EXPECT_EQ(all, 2u);
  EXPECT_EQ(data["deadline"], 80'000'000);
}

TEST(latency_data, takes_dropped_frames_together_where_they_are_many) {
  auto record = samples::two_models_on_schedule(5000);
  record.load.dropped.clear();
  for (const auto& frame : record.frames) record.load.dropped.push_back(frame.due + 1);
  const auto data = latency_of(record);
  EXPECT_LE(data["dropped"]["at"].size(), 401u);
  std::size_t all = 0;
  for (const auto& place : data["dropped"]["at"]) all += place[1].get<std::size_t>();
  EXPECT_EQ(all, 5000u);
}

}  // namespace
}  // namespace graphline
