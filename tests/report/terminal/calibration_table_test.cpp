#include "framework/report/terminal/calibration_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/golden.hpp"
#include "tests/report/sample_calibrations.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using samples::gpu_calibration;
using samples::host_calibration;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(calibration_table, shows_the_ceilings_of_a_host) {
  expect_golden(
      "calibration_host.txt",
      calibration_table(host_calibration(),
                        {{}, {}, "/home/someone/.cache/graphline/calibrations/host.json"}));
}

TEST(calibration_table, holds_a_gpu_against_what_it_could_do_in_theory) {
  expect_golden("calibration_gpu.txt", calibration_table(gpu_calibration(), {{}, {}, "gpu.json"}));
}

TEST(calibration_table, shows_more_where_there_is_more_room) {
  expect_golden("calibration_wide.txt",
                calibration_table(gpu_calibration(), {{}, {}, "gpu.json"}, {.width = 120}));
}

TEST(calibration_table, shows_less_where_there_is_little_room) {
  expect_golden("calibration_narrow.txt",
                calibration_table(gpu_calibration(), {{}, {}, "gpu.json"}, {.width = 40}));
}

TEST(calibration_table, says_why_it_may_no_longer_hold) {
  EXPECT_THAT(
      calibration_table(host_calibration(), {{}, {"oneDNN was 2.6.2, is 2.6.3", "it is old"}, ""}),
      HasSubstr("\nIt may no longer hold: oneDNN was 2.6.2, is 2.6.3; it is old\n"));
}

TEST(calibration_table, takes_the_clock_that_was_given) {
  const auto text = calibration_table(gpu_calibration(), {1000.0, {}, ""});
  EXPECT_THAT(text, AllOf(HasSubstr("peaks of cores at 1000 MHz, as given"),
                          HasSubstr("132 SMs x 128 x 2 x 1 GHz"), Not(HasSubstr("kept in"))));
}

TEST(calibration_table, says_that_a_peak_is_not_known_and_why) {
  auto record = gpu_calibration();
  record.device.details[0].second = "14.2";
  const auto text = calibration_table(record);
  EXPECT_THAT(text, AllOf(HasSubstr("float32      51.4 TFLOP/s   2.0 %             -        -\n"),
                          HasSubstr("peak of float32 cores, not known: the units of compute")));
}

TEST(calibration_table, tells_of_an_interruption_and_of_what_is_missing) {
  auto record = host_calibration();
  record.interrupted = true;
  record.ceilings.resize(1);
  EXPECT_THAT(calibration_table(record),
              AllOf(HasSubstr("INTERRUPTED: not all was measured, and nothing is kept of it"),
                    Not(HasSubstr("arithmetic")), Not(HasSubstr("costs of the host"))));
  record.ceilings.clear();
  EXPECT_THAT(calibration_table(record), HasSubstr("Nothing was measured."));
}

}  // namespace
}  // namespace graphline
