#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/report/json/calibration_json.hpp"
#include "framework/report/json/diff_json.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/sample_calibrations.hpp"
#include "tests/report/store/result_files.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using samples::host_calibration;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Of a month later, after which the convolution takes longer, and by another way.
calibration_record later_calibration() {
  auto record = host_calibration();
  record.environment = {{"graphline", "0.5.0"},
                        {"date", "2026-12-20T12:00:00Z"},
                        {"processor", "A Processor(R) CPU @ 2.80GHz"},
                        {"oneDNN", "2.7.0"}};
  auto& convolution = record.ceilings[6];
  convolution.how = "512 to 512 channels, 5x5, on [1, 512, 32, 32]; gemm";
  for (auto& time : convolution.times) time += time / 4;
  for (auto& time : record.ceilings[0].times) time += time / 200;
  record.ceilings.pop_back();
  return record;
}

class calibration_diff_report : public samples::result_files {
 protected:
  calibration_diff diff_of(const calibration_record& before, const calibration_record& after) {
    return compare(read_back<saved_calibration>("old.json", calibration_json(before)),
                   read_back<saved_calibration>("new.json", calibration_json(after)));
  }
};

TEST_F(calibration_diff_report, shows_each_ceiling_with_its_change) {
  const auto diff = diff_of(host_calibration(), later_calibration());
  expect_golden("diff_calibration.txt", diff_table(diff));
  for (const std::size_t width : {40, 60, 80, 120}) {
    EXPECT_LE(widest_line(diff_table(diff, {.width = width})), width);
  }
}

TEST_F(calibration_diff_report, says_first_that_devices_differ) {
  EXPECT_THAT(diff_table(diff_of(host_calibration(), samples::gpu_calibration())),
              StartsWith("different devices: A Processor(R) CPU @ 2.80GHz before, NVIDIA H200 "));
}

TEST_F(calibration_diff_report, says_that_nothing_changed) {
  EXPECT_THAT(diff_table(diff_of(host_calibration(), host_calibration())),
              AllOf(HasSubstr("none of 12 ceilings changed by more than"),
                    HasSubstr("device and environment are the same")));
}

TEST_F(calibration_diff_report, says_which_was_interrupted_and_what_is_in_one_alone) {
  auto interrupted = host_calibration();
  interrupted.ceilings.clear();
  interrupted.interrupted = true;
  const auto text = diff_table(diff_of(host_calibration(), interrupted));
  EXPECT_THAT(text, AllOf(HasSubstr("no ceiling was measured in both"),
                          HasSubstr("new.json: INTERRUPTED\n"), HasSubstr("9.50 GB/s")));
}

TEST_F(calibration_diff_report, holds_each_ceiling_as_json) {
  using json = nlohmann::ordered_json;
  const auto result = json::parse(diff_json(diff_of(host_calibration(), later_calibration())));
  EXPECT_EQ(result["of"], "graphline.calibration/1");
  ASSERT_EQ(result["ceilings"].size(), 12U);
  const auto& convolution = result["ceilings"][6];
  EXPECT_EQ(convolution["what"], "convolution");
  EXPECT_EQ(convolution["precision"], "float32");
  EXPECT_EQ(convolution["unit"], "FLOP/s");
  EXPECT_NEAR(convolution["change_percent"].get<double>(), -20, 0.1);
  EXPECT_EQ(convolution["beyond_spread"], true);
  EXPECT_EQ(result["ceilings"][0]["beyond_spread"], false);
  EXPECT_EQ(result["ceilings"][11]["after"], nullptr);
  EXPECT_EQ(result["ceilings"][11]["beyond_spread"], nullptr);
  EXPECT_EQ(result["differences"]["settings"][0]["name"], "convolution, float32");
}

}  // namespace
}  // namespace graphline
