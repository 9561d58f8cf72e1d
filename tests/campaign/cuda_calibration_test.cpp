// A calibration of the `cuda` device, over the fake of the CUDA runtime and libraries that compute
// by plain loops.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "framework/base/error.hpp"
#include "framework/campaign/calibrate/calibration.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "stages/builtin.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"

namespace graphline {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class cuda_calibration : public testing::Test {
 protected:
  void SetUp() override { fake_cuda::reset(); }

  static calibration_options quick() {
    calibration_options options;
    options.sizes = calibration_sizes{.memory_bytes = 40'000,
                                      .transfer_bytes = 800,
                                      .channels = 8,
                                      .side = 6,
                                      .matrix = 16,
                                      .rounds = 1,
                                      .most_samples = 3,
                                      .calls = 5,
                                      .time_each = 0};
    return options;
  }

  stage_registry kinds_ = builtin_stages();
};

/// "read, write, ..., matmul float32, ..."; each must have been measured three times.
std::string names_of(const calibration_record& record) {
  std::string names;
  for (const ceiling_record& c : record.ceilings) {
    EXPECT_EQ(c.times.size(), 3U) << to_word(c.what);
    names.append(names.empty() ? "" : ", ").append(to_word(c.what));
    if (unit_of(c.what) == unit::flops_per_second) names.append(" ").append(to_word(c.arithmetic));
  }
  return names;
}

TEST_F(cuda_calibration, measures_products_in_every_precision_and_no_conversion_with_them) {
  const auto d = open_cuda_device(0);
  const calibration_record record = calibrate(kinds_, *d, quick());
  EXPECT_EQ(names_of(record),
            "read, write, copy, host_to_device_pinned, device_to_host_pinned, "
            "host_to_device_pageable, device_to_host_pageable, "
            "convolution float32, convolution tf32, convolution float16, convolution bfloat16, "
            "matmul float32, matmul tf32, matmul float16, matmul bfloat16, "
            "launch, event, synchronize, round_trip");
  EXPECT_THAT(record.ceilings.front().how, HasSubstr("sum kernel"));
  for (const ceiling_record& c : record.ceilings) {
    if (unit_of(c.what) != unit::flops_per_second) continue;
    EXPECT_THAT(c.how, testing::Not(HasSubstr("conversion"))) << to_word(c.arithmetic);
    EXPECT_EQ(c.amount, c.what == ceiling::matmul ? 2 * 16 * 16 * 16 : 2 * 8 * 8 * 25 * 36);
  }
}

TEST_F(cuda_calibration, gives_everything_back) {
  const auto d = open_cuda_device(0);
  calibrate(kinds_, *d, quick());  // the device keeps what its clock is checked by
  const auto before = fake_cuda::live();
  calibrate(kinds_, *d, quick());
  EXPECT_EQ(fake_cuda::live(), before);
}

TEST_F(cuda_calibration, leaves_out_what_memory_does_not_hold) {
  fake_cuda::set_device_capacity(300'000);
  const auto d = open_cuda_device(0);
  auto options = quick();
  options.sizes->memory_bytes = 64'000'000;
  const calibration_record record = calibrate(kinds_, *d, options);
  EXPECT_THAT(record.warnings, Contains(StartsWith("memory was left out: ")));
  EXPECT_THAT(names_of(record), HasSubstr("matmul bfloat16"));
}

TEST_F(cuda_calibration, fails_where_the_device_does) {
  const auto d = open_cuda_device(0);
  auto options = quick();
  options.on_progress = [&](const std::string& what, std::int64_t, std::int64_t) {
    if (what == "measuring costs of the host") {
      fake_cuda::fail_call("cudaGraphLaunch", 2, cudaErrorIllegalAddress);
    }
  };
  EXPECT_THROW(calibrate(kinds_, *d, options), run_error);
}

}  // namespace
}  // namespace graphline
