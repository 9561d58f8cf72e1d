#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "framework/report/describe/describe.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/page_records.hpp"

namespace graphline::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The charts of a run: "frame_times", "distribution", "timeline".
std::vector<chart> charts_of(const run_record& record) {
  document page;
  add_run_charts(page, record, analyze(record));
  std::vector<chart> list;
  for (const auto& part : page.parts) list.push_back(std::get<chart>(part));
  return list;
}

template <class Chart>
Chart chart_of(const run_record& record) {
  for (const auto& one : charts_of(record)) {
    if (const auto* drawn = std::get_if<Chart>(&one.drawn)) return *drawn;
  }
  ADD_FAILURE() << "there is no such chart";
  return {};
}

std::vector<std::string> keys_of(const run_record& record) {
  std::vector<std::string> keys;
  for (const auto& one : charts_of(record)) keys.push_back(one.key);
  return keys;
}

TEST(run_charts, are_those_of_which_there_is_something_to_draw) {
  EXPECT_THAT(keys_of(samples::two_models(timing_method::event, 60)),
              ElementsAre("frame_times", "distribution", "timeline"));
  EXPECT_THAT(keys_of(samples::two_models(timing_method::none, 60)),
              ElementsAre("frame_times", "distribution"));
  EXPECT_THAT(keys_of(samples::without_frames()), IsEmpty());
  EXPECT_THAT(keys_of(run_record()), IsEmpty());
}

// ---- Frame by frame -----------------------------------------------------------------------------

TEST(frames_chart, has_every_frame_of_few) {
  const auto record = samples::two_models(timing_method::event, 60);
  const auto drawn = chart_of<frames_chart>(record);
  EXPECT_EQ(drawn.frames, 60u);
  ASSERT_EQ(drawn.list.size(), 4u);
  EXPECT_EQ(drawn.list[0].times, end_to_end_times(record));
  EXPECT_EQ(drawn.list[2].times, lengths(record.stages[1].cpu));
  EXPECT_EQ(drawn.list[2].what, "cpu");
}

TEST(frames_chart, draws_every_spike_of_many) {
  auto record = samples::long_run(100'000);
  record.frames[31'415].end = record.frames[31'415].due + 1;
  const auto drawn = chart_of<frames_chart>(record);
  const auto& [name, what, frames, times] = drawn.list[0];
  EXPECT_LE(frames.size(), 2000u);
  EXPECT_GE(frames.size(), 1900u);
  EXPECT_EQ(frames.front(), 0u);
  EXPECT_EQ(frames.back(), 99'999u);
  EXPECT_EQ(std::ranges::adjacent_find(frames, std::greater_equal<>()), frames.end());
  EXPECT_EQ(std::count_if(times.begin(), times.end(), [](auto t) { return t > 120'000'000; }), 11);
  EXPECT_EQ(std::ranges::count(times, 1), 1);
  for (std::size_t i = 0; i < 100'000; i += 9973) {
    EXPECT_TRUE(std::binary_search(frames.begin(), frames.end(), i)) << i;
  }
}

// ---- Distributions ------------------------------------------------------------------------------

TEST(distributions_chart, counts_every_frame_however_many) {
  const auto drawn = chart_of<distributions_chart>(samples::long_run(100'000));
  EXPECT_EQ(drawn.list.size(), 11u);  // end to end, six stages, the launches of four
  for (const auto& one : drawn.list) {
    const auto& bins = one.bins;
    EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), bins.below + bins.beyond),
              100'000u);
  }
  const auto& frames = drawn.list[0];
  EXPECT_GE(frames.bins.beyond, 11u);  // what takes 60 ms longer
}

TEST(distributions_chart, names_whose_times_they_are) {
  const auto drawn = chart_of<distributions_chart>(samples::two_models(timing_method::event, 60));
  std::vector<std::string> names;
  for (const auto& one : drawn.list) names.push_back(one.name + ", " + one.color);
  EXPECT_THAT(names, ElementsAre("end to end, frame", "backbone, device", "backbone, launch",
                                 "noise, cpu", "head, device", "head, launch"));
  EXPECT_FALSE(drawn.deadline);
}

TEST(distributions_chart, marks_only_percentiles_that_the_sample_carries) {
  const auto drawn = chart_of<distributions_chart>(samples::two_models(timing_method::event, 45));
  std::vector<std::string> names;
  for (const auto& [name, time] : drawn.list[0].marks) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("min", "p50", "p90", "max"));
}

TEST(distributions_chart, has_the_wait_and_the_deadline_of_a_schedule) {
  const auto drawn = chart_of<distributions_chart>(samples::two_models_on_schedule(60));
  EXPECT_EQ(drawn.list[1].name, "queue wait");
  EXPECT_EQ(drawn.deadline, 80'000'000);
}

}  // namespace
}  // namespace graphline::report
