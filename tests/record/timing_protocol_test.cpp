#include "framework/record/timing_protocol.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {
namespace {

/// Logs the protocol's calls and throws at a given one.
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
  void call_begin() { step("call begin"); }
  void call_end() { step("call end"); }
  void synchronize() { step("synchronize"); }
  void keep_enqueued(nanoseconds begin, nanoseconds end) { enqueued.emplace_back(begin, end); }
  void keep_synced(nanoseconds begin, nanoseconds end) { synced.emplace_back(begin, end); }
};

TEST(timing_protocol, puts_clock_reads_events_and_waits_around_the_launch) {
  using log = std::vector<std::string>;
  const std::pair<timing_method, log> methods[] = {
      {timing_method::none, {"launch"}},
      {timing_method::host, {"now", "launch", "now"}},
      {timing_method::sync, {"synchronize", "now", "launch", "synchronize", "now"}},
      {timing_method::callback, {"now", "call begin", "launch", "call end", "now"}},
      {timing_method::event, {"now", "record begin", "launch", "record end", "now"}},
      {timing_method::layers, {"now", "record begin", "launch in parts", "record end", "now"}}};
  const std::vector<std::pair<nanoseconds, nanoseconds>> nothing;
  const std::vector<std::pair<nanoseconds, nanoseconds>> sample = {{10, 20}};
  for (const auto& [method, expected] : methods) {
    fake_operations ops;
    time_device_stage(method, ops);
    EXPECT_EQ(ops.log, expected) << to_word(method);
    const bool syncs = method == timing_method::sync;
    EXPECT_EQ(ops.synced, syncs ? sample : nothing);
    EXPECT_EQ(ops.enqueued, syncs || method == timing_method::none ? nothing : sample);
  }
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
                                         timing_method::sync, timing_method::callback,
                                         timing_method::event, timing_method::layers),
                         [](const auto& tested) { return std::string(to_word(tested.param)); });

}  // namespace
}  // namespace graphline
