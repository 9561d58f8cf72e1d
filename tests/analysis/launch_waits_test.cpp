#include "framework/analysis/run/launch_waits.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/analysis/made_run.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::made_run;
using samples::ms;

/// Returns "device_waits_for_host 'net': idle 10.0 ms" or "nothing".
std::string found_in(const made_run& made) {
  const auto found = launch_finding(made.record);
  if (!found) return "nothing";
  auto text = std::string(found->key) + " '" + found->subjects.front() + "'";
  if (const auto* idle = found->find("idle")) {
    text += ": idle " + to_text(std::get<quantity>(*idle));
  }
  return text;
}

/// Three frames of 100 ms. `net` runs from 1 ms to `net_end`, followed by `small` for 1 ms. Both
/// are launched in turn, `small` from `from` for `takes`. Times in ms.
made_run net_and_small(nanoseconds net_end, nanoseconds from, nanoseconds takes) {
  made_run made = made_run(strategy::async, timing_method::event, "host")
                      .device_stage("net")
                      .device_stage("small", {{0, satisfied_by::stream_order}});
  for (nanoseconds f = 0; f < 3; ++f) {
    const auto t = f * 100 * ms;
    const auto launched = from + takes;
    const auto begin = std::max(net_end, launched - 1);
    made.frame(t, t + 100 * ms)
        .launch(0, t, t + 1 * ms)
        .device(0, t + 1 * ms, t + net_end * ms)
        .busy(0, (net_end - 1) * ms)
        .launch(1, t + from * ms, t + launched * ms)
        .device(1, t + begin * ms, t + (begin + 1) * ms)
        .busy(1, 1 * ms);
  }
  return made;
}

TEST(launch_waits, are_none_if_the_launch_returned_before_the_device_reached_the_stage) {
  // The launch takes twenty times as long as the work, but the device is busy meanwhile.
  EXPECT_EQ(found_in(net_and_small(50, 2, 20)), "nothing");
  EXPECT_EQ(found_in(net_and_small(50, 29, 20)), "nothing");
}

TEST(launch_waits, are_the_time_in_which_the_device_is_idle) {
  // `net` ends at 50 ms; the device is idle until `small` starts at 69 ms.
  EXPECT_EQ(found_in(net_and_small(50, 50, 20)), "device_waits_for_host 'small': idle 20.0 ms");
  EXPECT_EQ(found_in(net_and_small(50, 40, 20)), "device_waits_for_host 'small': idle 10.0 ms");
  const auto found = launch_finding(net_and_small(50, 40, 20).record);
  EXPECT_EQ(*found->find("share"), finding::figure(quantity{0.1, unit::share}));
  EXPECT_EQ(*found->find("enqueue"), finding::figure(quantity{20e6, unit::duration}));
  EXPECT_EQ(*found->find("device"), finding::figure(quantity{1e6, unit::duration}));
}

TEST(launch_waits, are_reported_from_five_percent_of_a_frame) {
  EXPECT_EQ(found_in(net_and_small(50, 40, 14)), "nothing");  // 1 + 3 ms of 100
  EXPECT_NE(found_in(net_and_small(50, 40, 15)), "nothing");
  auto unsure = net_and_small(50, 40, 20);
  unsure.record.clock_error = 3 * ms;  // at both ends of both stages
  EXPECT_EQ(found_in(unsure), "nothing");
}

TEST(launch_waits, do_not_count_while_other_frames_keep_the_device_busy) {
  auto made = net_and_small(50, 40, 20);
  made.record.run.in_flight = 2;
  EXPECT_NE(found_in(made), "nothing");
  // A concurrent frame uses the device from 49 to 70 ms.
  for (nanoseconds f = 0; f < 3; ++f) {
    const auto t = f * 100 * ms;
    made.frame(t, t + 100 * ms)
        .launch(0, t + 1 * ms, t + 2 * ms)
        .device(0, t + 49 * ms, t + 70 * ms)
        .busy(0, 21 * ms)
        .launch(1, t + 2 * ms, t + 3 * ms)
        .device(1, t + 71 * ms, t + 72 * ms)
        .busy(1, 1 * ms);
  }
  EXPECT_EQ(found_in(made), "nothing");
}

TEST(launch_waits, include_idle_time_within_a_stage) {
  // Launched operation by operation: the device is busy for 20 of 60 ms.
  made_run made =
      made_run(strategy::async, timing_method::event, "host").device_stage("net").frame(0, 61 * ms);
  made.launch(0, 0, 60 * ms).device(0, 1 * ms, 61 * ms).busy(0, 20 * ms);
  EXPECT_EQ(found_in(made), "device_waits_for_host 'net': idle 41.0 ms");
  // Without busy time, the time between events may be host time.
  made.record.stages[0].busy.clear();
  EXPECT_EQ(found_in(made), "device_time_may_hold_waits 'net'");
  made.record.stages[0].enqueued[0].end = 40 * ms;  // 39 of the 60 ms between the events
  EXPECT_EQ(found_in(made), "nothing");
}

TEST(launch_waits, begin_when_all_that_the_stage_waits_for_has_ended) {
  // A CPU stage that `net` reads ends while `net` is being launched.
  made_run made = made_run(strategy::overlap, timing_method::event, "host")
                      .cpu_stage("cpu")
                      .device_stage("net", {{0, satisfied_by::cpu_return}})
                      .frame(0, 100 * ms)
                      .cpu(0, 0, 58 * ms, 1);
  made.launch(1, 50 * ms, 60 * ms).device(1, 60 * ms, 99 * ms).busy(1, 39 * ms);
  EXPECT_EQ(found_in(made), "nothing");
  made.record.stages[0].cpu[0].end = 50 * ms;
  EXPECT_EQ(found_in(made), "device_waits_for_host 'net': idle 10.0 ms");
}

}  // namespace
}  // namespace graphline
