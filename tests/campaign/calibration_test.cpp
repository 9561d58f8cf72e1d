#include "framework/campaign/calibrate/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "stages/builtin.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

/// Small sizes, with which a calibration takes a fraction of a second.
calibration_options quick() {
  calibration_options options;
  options.sizes = calibration_sizes{.memory_bytes = 4000,
                                    .transfer_bytes = 800,
                                    .channels = 8,
                                    .side = 6,
                                    .matrix = 16,
                                    .rounds = 2,
                                    .most_samples = 4,
                                    .calls = 5,
                                    .time_each = 0};
  return options;
}

/// Calibrates a new device.
class calibration : public testing::Test {
 protected:
  calibration_record run(const calibration_options& options = quick(),
                         const stage_registry& kinds = builtin_stages()) {
    return calibrate(kinds, *device_, options);
  }

  std::unique_ptr<device> device_ = open_host_device(1);
};

TEST_F(calibration, measures_every_ceiling_of_a_host_device_in_order) {
  const calibration_record record = run();
  EXPECT_FALSE(record.interrupted);
  EXPECT_EQ(record.device.backend, "host");
  const struct {
    ceiling what;
    double amount;
    const char* how;
  } expected[] = {
      {ceiling::read, 4004, "3.91 KiB read; sums by "},  // with the sum
      {ceiling::write, 4000, "3.91 KiB written; "},
      {ceiling::copy, 8000, "3.91 KiB read and written; "},
      {ceiling::host_to_device_pinned, 800, "800 B by the stage"},
      {ceiling::device_to_host_pinned, 800, "800 B by the stage"},
      {ceiling::host_to_device_pageable, 800, "800 B at a time"},
      {ceiling::device_to_host_pageable, 800, "800 B at a time"},
      {ceiling::convolution, 2 * 8 * 8 * 25 * 36, "8 to 8 channels, 5x5, on [1, 8, 6, 6]; oneDNN"},
      {ceiling::matmul, 2 * 16 * 16 * 16, "[16, 16] times [16, 16]; oneDNN"},
      {ceiling::launch, 5, "a graph that fills 256 bytes, 5 at a time"},
      {ceiling::event, 5, "a timed event"},
      {ceiling::synchronize, 5, "an idle device"},
      {ceiling::round_trip, 1, "a graph that fills 256 bytes, its end awaited by spin"}};
  ASSERT_EQ(record.ceilings.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const ceiling_record& c = record.ceilings[i];
    EXPECT_EQ(c.what, expected[i].what);
    EXPECT_EQ(c.arithmetic, precision::float32);
    EXPECT_EQ(c.amount, expected[i].amount) << to_word(c.what);
    EXPECT_THAT(c.how, StartsWith(expected[i].how));
    EXPECT_GE(c.times.size(), 6U) << to_word(c.what);
    EXPECT_LE(c.times.size(), 8U) << to_word(c.what);
    EXPECT_GE(*std::ranges::min_element(c.times), 0) << to_word(c.what);
  }
  EXPECT_THAT(record.environment, Contains(Pair("oneDNN", testing::_)).Times(1));
  EXPECT_THAT(record.environment, Contains(Pair("graphline", testing::_)).Times(1));
  EXPECT_THAT(stale_reasons(record, device_->properties(), record.environment), ElementsAre());
}

TEST_F(calibration, tells_before_each_measurement_how_far_it_is) {
  auto options = quick();
  std::vector<std::string> told;
  std::int64_t last = -1;
  options.on_progress = [&](const std::string& what, std::int64_t done, std::int64_t total) {
    EXPECT_EQ(done, last + 1);
    EXPECT_LT(done, total);
    last = done;
    told.push_back(what);
  };
  run(options);
  EXPECT_EQ(told.size(), 18U);  // six to prepare, two rounds
  EXPECT_EQ(told.front(), "preparing memory");
  EXPECT_EQ(told[6], "measuring memory");
  EXPECT_EQ(told.back(), "measuring costs of the host");
}

TEST_F(calibration, leaves_out_what_it_has_no_kind_for_and_says_so) {
  stage_registry few;
  few.add(copy_kind());
  few.add(spin_kind());
  few.add(network_kind());
  const calibration_record record = run(quick(), few);
  EXPECT_THAT(record.warnings, Contains(StartsWith("memory was left out: ")));
  EXPECT_THAT(record.warnings, Contains(HasSubstr("unknown kind 'traffic'")));
  EXPECT_EQ(record.ceilings.front().what, ceiling::host_to_device_pinned);
  EXPECT_EQ(record.ceilings.size(), 10U);
}

TEST_F(calibration, comes_back_with_what_was_measured_before_a_stop) {
  auto options = quick();
  stop_request stop;
  options.stop = &stop;
  options.on_progress = [&](const std::string&, std::int64_t done, std::int64_t) {
    if (done == 7) stop.raise();  // after the first samples of memory
  };
  const calibration_record record = run(options);
  EXPECT_TRUE(record.interrupted);
  ASSERT_EQ(record.ceilings.size(), 3U);
  EXPECT_EQ(record.ceilings[0].what, ceiling::read);
  EXPECT_EQ(record.ceilings[1].what, ceiling::write);
  EXPECT_EQ(record.ceilings[2].what, ceiling::copy);
  EXPECT_EQ(record.ceilings[0].times.size(), 3U);
}

TEST_F(calibration, measures_nothing_once_it_was_stopped) {
  auto options = quick();
  stop_request stop;
  stop.raise();
  options.stop = &stop;
  const calibration_record record = run(options);
  EXPECT_TRUE(record.interrupted);
  EXPECT_TRUE(record.ceilings.empty());
  EXPECT_TRUE(record.warnings.empty());
}

TEST_F(calibration, leaves_the_device_its_memory) {
  const auto before = device_->usage();
  run();
  EXPECT_EQ(device_->usage().device_bytes, before.device_bytes);
  EXPECT_EQ(device_->usage().pinned_bytes, before.pinned_bytes);
}

TEST(calibration_pipelines, ask_for_the_precision_in_their_network) {
  for (const auto& [word, p] : precision_words) {
    for (const auto& made :
         {convolution_pipeline(*quick().sizes, p), matmul_pipeline(*quick().sizes, p)}) {
      EXPECT_EQ(made.arithmetic, p);
      EXPECT_THAT(made.name, EndsWith(std::string(" in ") + std::string(word)));
      EXPECT_EQ(made.spec.stages.at(0).parameters.find("precision")->text(), word);
    }
  }
}

TEST(calibration_sizes, take_no_more_than_a_quarter_of_the_memory_together) {
  device_properties small;
  small.backend = "host";
  small.memory_bytes = std::uint64_t{1} << 30;
  const calibration_sizes sizes = sizes_for(small);
  EXPECT_LE(3 * sizes.memory_bytes + 5 * sizes.transfer_bytes, *small.memory_bytes / 4);
  EXPECT_GE(3 * sizes.memory_bytes + 5 * sizes.transfer_bytes, *small.memory_bytes / 5);
  small.memory_bytes = std::uint64_t{1} << 40;
  EXPECT_EQ(sizes_for(small).memory_bytes, std::size_t{512} << 20);
  small.backend = "cuda";
  EXPECT_EQ(sizes_for(small).memory_bytes, std::size_t{1} << 30);
  EXPECT_EQ(sizes_for(small).matrix, 8192);
}

TEST(calibration_sizes, are_doubted_where_caches_may_hold_them) {
  device_properties small;
  small.backend = "host";
  small.memory_bytes = std::uint64_t{1} << 30;
  EXPECT_EQ(doubt_of_caches(sizes_for(small).memory_bytes, small),
            "for lack of memory (1.00 GiB in all) bandwidths were measured on 46.5 MiB, which "
            "may fit into caches: they can be too high; calibrate again with 2.75 GiB free");
  small.memory_bytes = std::uint64_t{11} << 28;
  EXPECT_EQ(doubt_of_caches(sizes_for(small).memory_bytes, small), "");
}

TEST(calibration_sizes, of_a_gpu_make_the_convolution_of_docs_costs) {
  device_properties gpu;
  gpu.backend = "cuda";
  const auto made = convolution_pipeline(sizes_for(gpu), precision::float16);
  EXPECT_EQ(made.measured.at(0).how, "512 to 512 channels, 5x5, on [1, 512, 256, 256]");
}

}  // namespace
}  // namespace graphline
