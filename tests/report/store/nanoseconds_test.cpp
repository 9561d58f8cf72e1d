// Times that are no whole microseconds, through every file that is written and read again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "framework/report/csv/run_csv.hpp"
#include "framework/report/store/record_reader.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_calibrations.hpp"
#include "tests/report/sample_roofline.hpp"
#include "tests/report/store/result_files.hpp"

namespace graphline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

/// Five frames that take 1,234,567,891 ns and up to 4 ns more, their stages an odd number less.
run_record odd_run(timing_method method) {
  std::vector<samples::frame_times> frames;
  for (nanoseconds more : {3, 1, 4, 0, 2}) {
    frames.push_back({1'234'567'891 + more, 987'654'321 + more, 123'456'789 + more,
                      7'654'321 + more, 1'357 + more});
  }
  return samples::run_of(method, frames);
}

template <class Times>
auto from(nanoseconds least, const Times& times) {
  return std::ranges::equal(times, std::vector{least, least + 1, least + 2, least + 3, least + 4});
}

class nanoseconds_of : public samples::result_files {
 protected:
  template <class Record>
  Record record_of(const std::string& text) const {
    return std::get<Record>(read_record(write("record.json", text)));
  }

  static void expect_whole(const run_record& run) {
    EXPECT_EQ(run.frames[0].due, 1'000'000);
    EXPECT_EQ(run.frames[0].end, 1'235'567'894);
    EXPECT_EQ(run.stages[0].device[2].length(), 987'654'325);
    EXPECT_EQ(run.stages[1].cpu[2].length(), 123'456'793);
  }
};

TEST_F(nanoseconds_of, a_run_are_read_back_by_report_and_diff) {
  const auto text = result_json(odd_run(timing_method::event));
  EXPECT_THAT(text, HasSubstr("[1234.567894, 1234.567892, 1234.567895, 1234.567891, 1234.567893]"));
  expect_whole(record_of<run_record>(text));
  const auto run = summarize(record_of<run_record>(text));
  EXPECT_TRUE(from(1'234'567'891, run.end_to_end->sorted()));
  EXPECT_TRUE(from(987'654'321, run.stages[0].columns[0].times->sorted()));
  EXPECT_TRUE(from(123'456'789, run.stages[1].columns[0].times->sorted()));
  EXPECT_TRUE(from(7'654'321, run.stages[2].columns[0].times->sorted()));
  for (const auto method : {timing_method::host, timing_method::sync}) {
    const auto other = summarize(record_of<run_record>(result_json(odd_run(method))));
    EXPECT_TRUE(from(method == timing_method::sync ? 987'654'321 : 1'357,
                     other.stages[0].columns[0].times->sorted()));
  }
}

TEST_F(nanoseconds_of, an_experiment_are_read_back_by_report_and_diff) {
  experiment_record record;
  record.configurations = {{"one", {}, {"two_models"}}};
  record.trials = {{0, 0, 1'234'567'891, {odd_run(timing_method::event)}}};
  const auto text = result_json(record);
  const auto back = record_of<experiment_record>(text);
  EXPECT_EQ(back.trials[0].begun, 1'234'567'891);
  expect_whole(back.trials[0].members[0]);
  const auto& frames = back.trials[0].members[0].frames;
  EXPECT_EQ(frames[0].due, 1'000'000);
  EXPECT_EQ(frames[0].end, 1'235'567'894);
  EXPECT_EQ(frames[4].end - frames[4].due, 1'234'567'893);
}

TEST_F(nanoseconds_of, a_roofline_are_read_back) {
  auto record = samples::two_models_roofline(5);
  for (std::size_t s = 0; s < 3; ++s) {
    const auto odd = odd_run(timing_method::event);
    record.stages.stages[s].device = odd.stages[s].device;
    record.stages.stages[s].cpu = odd.stages[s].cpu;
  }
  record.stages.frames = odd_run(timing_method::event).frames;
  const auto text = result_json(record);
  expect_whole(record_of<roofline_record>(text).stages);
}

TEST_F(nanoseconds_of, a_calibration_are_read_back) {
  auto record = samples::host_calibration();
  record.environment.emplace_back("date", "2026-11-20T12:00:00Z");
  record.ceilings[0].times = {1'234'567'891, 7, 1'001};
  const auto path = write("c.json", calibration_json(record));
  EXPECT_THAT(read_calibration(path).ceilings[0].times, ElementsAre(1'234'567'891, 7, 1'001));
}

TEST_F(nanoseconds_of, a_run_are_the_columns_of_a_table) {
  const auto text = run_csv(odd_run(timing_method::event));
  EXPECT_THAT(text, HasSubstr("\n0,,,end_to_end,1000000,1235567894,1234567894\n"));
  EXPECT_THAT(text, HasSubstr("\n0,backbone,device,device_time,1000000,988654324,987654324\n"));
}

}  // namespace
}  // namespace graphline
