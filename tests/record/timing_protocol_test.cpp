#include "framework/record/timing_protocol.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;

/// Logs what the protocol asks for and throws at the step it is told to.
struct fake_operations {
  std::vector<std::string> log;
  std::size_t throw_at = static_cast<std::size_t>(-1);  ///< index into the log
  nanoseconds clock = 0;
  std::vector<std::pair<nanoseconds, nanoseconds>> enqueued;
  std::vector<std::pair<nanoseconds, nanoseconds>> synced;

  void step(const char* name) {
    log.emplace_back(name);
    if (log.size() - 1 == throw_at) throw std::runtime_error(name);
  }
  nanoseconds now() {
    step("now");
    return clock += 10;
  }
  void launch() { step("launch"); }
  void launch_in_parts() { step("launch in parts"); }
  void record_begin() { step("record begin"); }
  void record_end() { step("record end"); }
  void synchronize() { step("synchronize"); }
  void keep_enqueued(nanoseconds begin, nanoseconds end) { enqueued.emplace_back(begin, end); }
  void keep_synced(nanoseconds begin, nanoseconds end) { synced.emplace_back(begin, end); }
};

TEST(timing_protocol, none_only_launches) {
  fake_operations ops;
  time_device_stage(timing_method::none, ops);
  EXPECT_THAT(ops.log, ElementsAre("launch"));
  EXPECT_TRUE(ops.enqueued.empty());
  EXPECT_TRUE(ops.synced.empty());
}

TEST(timing_protocol, host_reads_the_clock_around_the_launch) {
  fake_operations ops;
  time_device_stage(timing_method::host, ops);
  EXPECT_THAT(ops.log, ElementsAre("now", "launch", "now"));
  EXPECT_THAT(ops.enqueued, ElementsAre(std::pair<nanoseconds, nanoseconds>(10, 20)));
}

TEST(timing_protocol, sync_waits_for_the_device_before_and_after_and_reads_the_clock_inside) {
  fake_operations ops;
  time_device_stage(timing_method::sync, ops);
  EXPECT_THAT(ops.log, ElementsAre("synchronize", "now", "launch", "synchronize", "now"));
  EXPECT_THAT(ops.synced, ElementsAre(std::pair<nanoseconds, nanoseconds>(10, 20)));
}

TEST(timing_protocol, event_puts_the_launch_between_its_events_and_never_waits) {
  fake_operations ops;
  time_device_stage(timing_method::event, ops);
  EXPECT_THAT(ops.log, ElementsAre("now", "record begin", "launch", "record end", "now"));
  EXPECT_THAT(ops.enqueued, ElementsAre(std::pair<nanoseconds, nanoseconds>(10, 20)));
}

TEST(timing_protocol, layers_is_event_with_the_stage_in_parts) {
  fake_operations ops;
  time_device_stage(timing_method::layers, ops);
  EXPECT_THAT(ops.log, ElementsAre("now", "record begin", "launch in parts", "record end", "now"));
  EXPECT_THAT(ops.enqueued, ElementsAre(std::pair<nanoseconds, nanoseconds>(10, 20)));
}

class failing_step : public testing::TestWithParam<timing_method> {};

TEST_P(failing_step, passes_the_exception_on_at_once_and_keeps_no_sample) {
  fake_operations whole;
  time_device_stage(GetParam(), whole);
  for (std::size_t step = 0; step < whole.log.size(); ++step) {
    fake_operations ops;
    ops.throw_at = step;
    EXPECT_THROW(time_device_stage(GetParam(), ops), std::runtime_error) << "step " << step;
    EXPECT_EQ(ops.log.size(), step + 1) << "nothing may follow the step that failed";
    EXPECT_TRUE(ops.enqueued.empty());
    EXPECT_TRUE(ops.synced.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(every_method, failing_step,
                         testing::Values(timing_method::none, timing_method::host,
                                         timing_method::sync, timing_method::event,
                                         timing_method::layers),
                         [](const auto& tested) { return std::string(to_word(tested.param)); });

}  // namespace
}  // namespace graphline
