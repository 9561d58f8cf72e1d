// Times that are no whole microseconds, as files show them; that they are read back whole, the
// round trips of random records show.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/csv/run_csv.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

using ::testing::HasSubstr;

TEST(nanoseconds_of, a_run_stand_in_its_result_and_its_table) {
  std::vector<samples::frame_times> frames;
  for (nanoseconds more : {3, 1}) frames.push_back({1'234'567'891 + more, 987'654'321 + more});
  const auto run = samples::run_of(timing_method::event, frames);
  EXPECT_THAT(result_json(run), HasSubstr("[1234.567894, 1234.567892]"));
  const auto table = run_csv(run);
  EXPECT_THAT(table, HasSubstr("\n0,,,end_to_end,1000000,1235567894,1234567894\n"));
  EXPECT_THAT(table, HasSubstr("\n0,backbone,device,device_time,1000000,988654324,987654324\n"));
}

}  // namespace
}  // namespace graphline
