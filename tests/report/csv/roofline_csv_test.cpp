#include "framework/report/csv/roofline_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "tests/report/golden.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline {
namespace {

TEST(roofline_csv, is_as_expected) {
  samples::expect_golden("roofline.csv", roofline_csv(samples::two_models_roofline(5)));
}

TEST(roofline_csv, has_as_many_fields_in_each_row) {
  std::istringstream lines(roofline_csv(samples::two_models_roofline(5)));
  const auto fields = std::ranges::count(roofline_csv_header, ',');
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    EXPECT_EQ(std::ranges::count(line, ','), fields) << line;
  }
  EXPECT_EQ(rows, 1u + 3 + 2);
}

TEST(roofline_csv, has_no_median_of_too_few_frames) {
  const auto text = roofline_csv(samples::two_models_roofline(4));
  EXPECT_NE(text.find("stage,noise,,cpu.random_normal,cpu,,,,,,,,,,,,,\n"), std::string::npos);
  // 2,100,000 bytes at 12.3 GB/s, but for the 4 that are copied at 11.2 GB/s.
  EXPECT_NE(text.find(",170732.0963995"), std::string::npos) << "the earliest of head";
}

TEST(roofline_csv, has_no_rows_where_there_is_nothing_to_hold_against) {
  auto record = samples::two_models_roofline(5);
  record.stages.calibration.reset();
  EXPECT_EQ(roofline_csv(record), roofline_csv_header);
}

}  // namespace
}  // namespace graphline
