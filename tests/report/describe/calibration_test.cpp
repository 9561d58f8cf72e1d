#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/sample_calibrations.hpp"

namespace graphline::report {
namespace {

using samples::cell_of;
using samples::expect_golden;
using samples::fact_of;
using samples::gpu_calibration;
using samples::host_calibration;
using samples::number;
using samples::part_of;
using samples::sentences_of;
using samples::text;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(describe_calibration, has_the_ceilings_of_a_processor) {
  expect_golden("calibration_host.txt",
                as_text(describe(host_calibration(),
                                 {{}, "/home/someone/.cache/graphline/calibrations/host.json"})));
}

TEST(describe_calibration, compares_a_gpu_with_what_its_architecture_could_do) {
  const auto says = describe(gpu_calibration(), {{}, "gpu.json"});
  expect_golden("calibration_gpu.txt", as_text(says));
  const auto& ceilings = part_of<table>(says, "ceilings");
  // 132 SMs x 128 x 2 x 1.98 GHz.
  const double peak = 132 * 128 * 2 * 1.98e9;
  const auto value = *number(cell_of(ceilings, "convolution, float32", "value"));
  EXPECT_NEAR(*number(cell_of(ceilings, "convolution, float32", "peak")), peak, 1e-6 * peak);
  EXPECT_NEAR(*number(cell_of(ceilings, "convolution, float32", "share_of_peak")), value / peak,
              1e-9);
  EXPECT_FALSE(cell_of(ceilings, "launch a graph", "peak").known());
  // The ridge point is that of the faster of convolution and product.
  const auto read = *number(cell_of(ceilings, "memory, read", "value"));
  EXPECT_NEAR(*number(cell_of(ceilings, "convolution, float32", "ridge_point")), value / read,
              1e-9);
  EXPECT_FALSE(cell_of(ceilings, "matrix product, float32", "ridge_point").known());
}

TEST(describe_calibration, has_a_ridge_point_whichever_ceiling_had_the_best_time) {
  auto record = gpu_calibration();
  for (auto& one : record.ceilings) {
    if (one.what != ceiling::matmul || one.arithmetic != precision::float32) continue;
    *std::ranges::min_element(one.times) /= 4;
  }
  const auto says = describe(record);
  const auto& ceilings = part_of<table>(says, "ceilings");
  EXPECT_TRUE(cell_of(ceilings, "convolution, float32", "ridge_point").known());
  EXPECT_FALSE(cell_of(ceilings, "matrix product, float32", "ridge_point").known());
}

TEST(describe_calibration, takes_the_clock_that_was_given) {
  const auto says = describe(gpu_calibration(), {1000.0, ""});
  EXPECT_EQ(text(cell_of(part_of<table>(says, "theoretical_peaks"), "float32 cores", "formula")),
            "132 SMs x 128 x 2 x 1 GHz");
}

TEST(describe_calibration, says_that_a_peak_is_not_known_and_why) {
  auto record = gpu_calibration();
  record.device.details[0].second = "14.2";
  const auto says = describe(record);
  EXPECT_FALSE(cell_of(part_of<table>(says, "ceilings"), "convolution, float32", "peak").known());
  const auto& peaks = part_of<table>(says, "theoretical_peaks");
  EXPECT_FALSE(cell_of(peaks, "float32 cores", "value").known());
  EXPECT_THAT(text(cell_of(peaks, "float32 cores", "formula")), HasSubstr("the units of compute"));
}

TEST(describe_calibration, reports_an_interruption_and_what_is_missing) {
  auto record = host_calibration();
  record.interrupted = true;
  record.ceilings.resize(1);
  EXPECT_THAT(sentences_of(describe(record), finding_severity::failure),
              ElementsAre(HasSubstr("INTERRUPTED: the calibration is incomplete")));
  EXPECT_EQ(part_of<table>(describe(record), "ceilings").rows.size(), 1u);
  record.ceilings.clear();
  EXPECT_THAT(as_text(describe(record)), HasSubstr("Nothing was measured."));
}

TEST(describe_calibration, differs_from_another) {
  const auto before = host_calibration();
  auto after = before;
  for (auto& time : after.ceilings[6].times) time = time * 5 / 4;      // convolution, 20 % slower
  for (auto& time : after.ceilings[0].times) time = time * 201 / 200;  // read, within its spread
  after.ceilings.pop_back();
  const auto says = diff(describe(before), describe(after), "old.json", "new.json");
  expect_golden("diff_calibration.txt", as_text(says));
  const auto& ceilings = part_of<table>(says, "ceilings");
  EXPECT_NEAR(*number(cell_of(ceilings, "convolution, float32", "value_change")), -0.2, 1e-6);
}

}  // namespace
}  // namespace graphline::report
