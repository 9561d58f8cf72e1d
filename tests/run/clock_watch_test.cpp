#include "framework/run/execute/clock_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/device/host/host_device.hpp"
#include "tests/run/watched_device.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_kinds::watched_device;

constexpr nanoseconds epoch = 5'000;

/// As they were read, ns since the epoch.
run_record read_stamps() {
  run_record record;
  stage_record stage;
  stage.device = {{0, 100}, {500'000, 500'100}, {1'001'000, 1'501'500}};
  stage.enqueued = {{500'000, 500'100}};
  stage.cpu = {{500'000, 500'100}};
  stage.parts.push_back({.name = "part", .choice = "", .device = {{1'000'900, 1'001'000}}});
  record.stages.push_back(stage);
  return record;
}

class clock_watch_of_a_device : public testing::Test {
 protected:
  run_record settled(nanoseconds drift) {
    device_.first_check = {.at = epoch, .error = 10, .drift = 77'000};
    device_.later_check = {.at = epoch + 1'000'000, .error = 20, .drift = drift};
    clock_watch watch(device_);
    watch.end();
    run_record record = read_stamps();
    watch.settle(record, epoch);
    return record;
  }

  static auto stamps(nanoseconds begin, nanoseconds end) {
    return testing::AllOf(Field("begin", &stamp_pair::begin, begin),
                          Field("end", &stamp_pair::end, end));
  }

  watched_device device_{open_host_device(1)};
};

TEST_F(clock_watch_of_a_device, takes_as_much_drift_out_of_each_stamp_as_had_come_up) {
  const run_record record = settled(1'000);
  // At the last check it read 1'001'000 where 1'000'000 was right; beyond it goes on so.
  EXPECT_THAT(record.stages[0].device,
              ElementsAre(stamps(0, 100), stamps(499'500, 499'600), stamps(1'000'000, 1'500'000)));
  EXPECT_THAT(record.stages[0].parts[0].device, ElementsAre(stamps(999'900, 1'000'000)));
  EXPECT_EQ(record.clock_drift, 1'000);
  EXPECT_EQ(record.clock_error, 20);
}

TEST_F(clock_watch_of_a_device, puts_stamps_of_a_slow_clock_later) {
  const run_record record = settled(-500'000);
  EXPECT_THAT(record.stages[0].device[1], stamps(1'000'000, 1'000'200));
}

TEST_F(clock_watch_of_a_device, leaves_what_the_host_stamped) {
  const run_record record = settled(1'000);
  EXPECT_THAT(record.stages[0].enqueued, ElementsAre(stamps(500'000, 500'100)));
  EXPECT_THAT(record.stages[0].cpu, ElementsAre(stamps(500'000, 500'100)));
}

TEST_F(clock_watch_of_a_device, leaves_stamps_as_they_are_where_no_drift_can_be_told) {
  const auto as_read =
      ElementsAre(stamps(0, 100), stamps(500'000, 500'100), stamps(1'001'000, 1'501'500));
  EXPECT_THAT(settled(0).stages[0].device, as_read);
  EXPECT_THAT(settled(-1'000'000).stages[0].device, as_read) << "it stood still";
  const clock_watch not_ended(device_);
  run_record record = read_stamps();
  not_ended.settle(record, epoch);
  EXPECT_THAT(record.stages[0].device, as_read);
  EXPECT_EQ(record.clock_drift, 0);
  EXPECT_THAT(record.warnings, IsEmpty());
}

TEST_F(clock_watch_of_a_device, warns_where_the_clock_cannot_be_checked) {
  device_.clock_problem = "the counter is gone";
  clock_watch watch(device_);
  watch.end();
  run_record record = read_stamps();
  watch.settle(record, epoch);
  EXPECT_THAT(record.warnings,
              ElementsAre(HasSubstr("checked before the frames"), HasSubstr("checked after")));
  EXPECT_EQ(record.clock_error, 0);
}

}  // namespace
}  // namespace graphline
