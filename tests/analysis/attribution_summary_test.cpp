#include "framework/analysis/run/attribution_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_run.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::made_run;
using samples::ms;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

/// Delays of a frame, in addition to 40 ms on the device with 16 ms of concurrent CPU work, then 10
/// ms on the CPU.
struct delays {
  nanoseconds queue = 0;
  nanoseconds net = 0;
  nanoseconds after = 0;
};

made_run beside_and_after(std::size_t frames, const std::function<delays(std::size_t)>& of,
                          const char* last = "after") {
  made_run made = made_run(strategy::async, timing_method::event, "host")
                      .device_stage("net")
                      .cpu_stage("beside")
                      .cpu_stage(last, {{0, satisfied_by::completion}});
  nanoseconds t = 0;
  for (std::size_t f = 0; f < frames; ++f) {
    const auto more = of(f);
    const nanoseconds done = t + 41 * ms + more.net;
    const nanoseconds end = done + 12 * ms + more.after;
    made.frame(t, end, t - more.queue)
        .launch(0, t, t + 1 * ms)
        .device(0, t + 1 * ms, done)
        .cpu(1, t + 1 * ms, t + 17 * ms)
        .cpu(2, done + 1 * ms, end - 1 * ms);
    t = end;
  }
  return made;
}

made_run steady(std::size_t frames) {
  return beside_and_after(frames, [](std::size_t) { return delays{}; });
}

std::string text_of(const run_record& record, const attribution_summary& summary) {
  std::string text;
  for (const auto& row : summary.rows) {
    text += text.empty() ? "" : ", ";
    text += to_word(row.what);
    if (row.stage) text += " " + record.stages[*row.stage].name;
    text += " " + std::to_string(static_cast<int>(row.all / 1e6)) + "/" +
            std::to_string(static_cast<int>(row.typical / 1e6)) + "/" +
            std::to_string(static_cast<int>(row.slowest / 1e6));
  }
  return text;
}

std::vector<std::string> findings(const made_run& made) {
  return samples::texts_of(attribution_findings(made.record, *attribute(made.record)));
}

TEST(attribution_summary, has_rows_in_order_of_the_path) {
  const auto made = beside_and_after(4, [](std::size_t f) {
    return delays{.queue = f == 3 ? 8 * ms : 0, .net = {}, .after = f == 3 ? 4 * ms : 0};
  });
  const auto summary = attribute(made.record);
  ASSERT_TRUE(summary);
  EXPECT_EQ(
      text_of(made.record, *summary),
      "queue_wait 2/0/8, launch net 1/1/1, device net 40/40/40, completion_delay after 1/1/1, "
      "cpu after 11/10/14, completion_delay 1/1/1");
  EXPECT_DOUBLE_EQ(summary->end_to_end.all, 56e6);
  EXPECT_DOUBLE_EQ(summary->end_to_end.typical, 53e6);
  EXPECT_DOUBLE_EQ(summary->end_to_end.slowest, 65e6);
  EXPECT_EQ(summary->residual.all, 0);
  EXPECT_EQ(summary->largest_residual, 0);
}

TEST(attribution_summary, groups_frames_by_their_rank) {
  // Frame f has rank 7 f mod 200.
  const auto made = beside_and_after(200, [](std::size_t f) {
    return delays{.queue = {}, .net = static_cast<nanoseconds>(7 * f % 200) * ms, .after = {}};
  });
  const auto summary = attribute(made.record);
  ASSERT_TRUE(summary);
  const auto rank = [](std::size_t f) { return 7 * f % 200; };
  EXPECT_EQ(rank(summary->median_frame), 99U);
  ASSERT_THAT(summary->slowest_frames, SizeIs(2));
  EXPECT_EQ(rank(summary->slowest_frames[0]), 199U);
  EXPECT_EQ(rank(summary->slowest_frames[1]), 198U);
  // Ranks 90 to 110 of 200, counted from 1.
  EXPECT_THAT(summary->typical_frames, SizeIs(21));
  EXPECT_THAT(summary->typical_frames, Contains(summary->median_frame));
  for (const auto f : summary->typical_frames) EXPECT_TRUE(rank(f) >= 89 && rank(f) <= 109);
}

TEST(attribution_summary, splits_stage_times_into_on_and_off_path) {
  const auto summary = attribute(steady(5).record);
  ASSERT_TRUE(summary);
  ASSERT_THAT(summary->stages, SizeIs(3));
  EXPECT_EQ(summary->stages[0].on_path, 40e6);
  EXPECT_EQ(summary->stages[0].off_path, 0);
  EXPECT_EQ(summary->stages[0].share_of_frames, 1);
  EXPECT_EQ(summary->stages[1].on_path, 0);
  EXPECT_EQ(summary->stages[1].off_path, 16e6);
  EXPECT_EQ(summary->stages[1].share_of_frames, 0);
  EXPECT_THAT(summary->bound_of_median.stages, ElementsAre(0, 2));
  EXPECT_EQ(summary->bound, 50e6);
  EXPECT_EQ(summary->bound_of_any, 50e6);
}

TEST(attribution_summary, does_not_count_waits_for_a_busy_device_as_overlap) {
  // Both began together on a device that executes one operation at a time; `second` was on the
  // path.
  const auto crossing = [](const char* backend) {
    return *attribute(made_run(strategy::overlap, timing_method::event, backend)
                          .device_stage("first", {}, "one")
                          .device_stage("second", {}, "two")
                          .frame(0, 100)
                          .launch(0, 0, 1)
                          .launch(1, 1, 2)
                          .device(0, 2, 60)
                          .device(1, 2, 100)
                          .record);
  };
  EXPECT_EQ(crossing("host").stages[0].off_path, 0);
  EXPECT_EQ(crossing("cuda").stages[0].off_path, 58);
}

TEST(attribution_summary, is_absent_without_frames_or_timing) {
  EXPECT_FALSE(attribute(steady(0).record));
  auto untimed = made_run(strategy::async, timing_method::none).cpu_stage("c").frame(0, 10);
  EXPECT_FALSE(attribute(untimed.record));
  const auto by_host = attribute(made_run(strategy::async, timing_method::host)
                                     .device_stage("net")
                                     .frame(0, 10)
                                     .launch(0, 0, 2)
                                     .record);
  ASSERT_TRUE(by_host);
  EXPECT_THAT(by_host->rows, SizeIs(2));
  EXPECT_THAT(by_host->stages, IsEmpty());
  EXPECT_FALSE(by_host->bound);
  EXPECT_FALSE(by_host->bound_of_any);
}

TEST(attribution_findings, explain_slow_frames) {
  const auto one_slow = [](std::size_t frames) {
    return beside_and_after(frames, [](std::size_t f) {
      return delays{.queue = {}, .net = f == 7 ? ms / 4 : 0, .after = f == 7 ? 5 * ms : 0};
    });
  };
  EXPECT_THAT(findings(one_slow(100)),
              Contains("slow_frames frames=1 more=5.25 ms pieces=5.00 ms/95.2 %/cpu time/after"));
  // The slowest of few frames is not representative of slow frames.
  EXPECT_THAT(findings(one_slow(19)), Each(Not(StartsWith("slow_frames"))));
  EXPECT_THAT(findings(one_slow(20)), Contains(StartsWith("slow_frames")));
}

TEST(attribution_findings, exclude_frames_delayed_by_a_standstill) {
  auto made = beside_and_after(100, [](std::size_t f) {
    return delays{.queue = {}, .net = 0, .after = f == 7 ? 1200 * ms : f == 9 ? 5 * ms : 0};
  });
  const auto& held_up = made.record.frames[7];
  made.record.conditions.emplace().standstills = {{held_up.begin + ms, 1190 * ms}};
  ASSERT_LT(held_up.begin + ms + 1190 * ms, held_up.end);
  EXPECT_THAT(findings(made),
              Contains("slow_frames frames=1 more=5.00 ms pieces=5.00 ms/100 %/cpu time/after"));
}

TEST(attribution_summary, excludes_frames_queued_behind_a_standstill) {
  made_run made(strategy::async, timing_method::event, "host");
  made.cpu_stage("only");
  nanoseconds free = 0;
  for (std::size_t f = 0; f < 400; ++f) {
    const auto due = static_cast<nanoseconds>(f) * 10 * ms;
    const auto begin = std::max(due, free);
    free = begin + 6 * ms + (f == 50 ? 900 * ms : f == 390 ? ms : 0);
    made.frame(begin, free, due).cpu(0, begin, free);
  }
  made.record.run.arrival = arrival::constant;
  made.record.conditions.emplace().standstills = {{501 * ms, 898 * ms}};
  const auto summary = attribute(made.record, "");
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->end_to_end.typical, 6 * ms);
  // The queue is empty after 900 / 4 frames; two of the other 174 are the slowest.
  EXPECT_EQ(summary->end_to_end.slowest, 6.5 * ms);
  EXPECT_THAT(summary->slowest_frames, AllOf(SizeIs(2), Contains(390U)));
}

TEST(attribution_findings, list_several_reasons_by_size) {
  const auto made = beside_and_after(300, [](std::size_t f) {
    return f % 100 == 5 ? delays{.queue = 6 * ms, .net = 3 * ms, .after = ms / 2} : delays{};
  });
  EXPECT_THAT(findings(made), Contains("slow_frames frames=3 more=9.50 ms pieces=6.00 ms/63.2 %/"
                                       "queue wait/, 3.00 ms/31.6 %/device time/net"));
}

TEST(attribution_findings, are_none_for_equal_frames) {
  EXPECT_THAT(findings(steady(50)), Each(Not(StartsWith("slow_frames"))));
  // A difference below the clock error is not reported either.
  auto made = beside_and_after(50, [](std::size_t f) {
    return delays{.queue = {}, .net = f == 3 ? 3 * ms : 0, .after = {}};
  });
  EXPECT_THAT(findings(made), Contains(StartsWith("slow_frames")));
  made.record.clock_error = 2 * ms;
  EXPECT_THAT(findings(made), Each(Not(StartsWith("slow_frames"))));
}

TEST(attribution_findings, compare_the_run_with_its_lower_bound) {
  EXPECT_THAT(findings(steady(5)),
              Contains("critical_path(net, after) bound=50.0 ms running=53.0 ms above=6 %"));
  auto serial = steady(5);
  serial.record.run.strategy = strategy::serial;
  EXPECT_THAT(findings(serial),
              Contains(StartsWith(
                  "critical_path(net, beside, after) of=this schedule bound_of_schedule=66.0 ms "
                  "bound_of_any=50.0 ms ")));
}

TEST(attribution_findings, name_the_cores_or_the_device_if_they_limit_a_frame) {
  auto made = made_run(strategy::overlap).frame(0, 50 * ms);
  for (const char* name : {"a", "b", "c"}) made.cpu_stage(name);
  for (std::size_t s = 0; s < 3; ++s) made.cpu(s, 0, 20 * ms);
  made.record.cpu_cores = 2;
  EXPECT_THAT(findings(made),
              Contains("cpu_cores(a, b, c) cores=2 says=limited by bound=30.0 ms running=50.0 "
                       "ms above=66.7 %"));
  auto on_device = made_run(strategy::overlap, timing_method::event, "host").frame(0, 50 * ms);
  on_device.device_stage("x", {}, "one").device_stage("y", {}, "two");
  for (std::size_t s = 0; s < 2; ++s) on_device.device(s, 0, 40 * ms).busy(s, 20 * ms);
  EXPECT_THAT(findings(on_device),
              Contains(StartsWith("device(x, y) says=limited by bound=40.0 ms")));
  // A frame that takes three times as long is not limited by what sets its lower bound.
  on_device.record.frames[0].end = 120 * ms;
  EXPECT_THAT(findings(on_device),
              Contains(StartsWith("device(x, y) says=the lower bound is set by bound=40.0 ms")));
}

TEST(attribution_findings, express_frames_far_above_the_bound_as_a_ratio) {
  auto slow = steady(5);
  for (auto& frame : slow.record.frames) frame.end += 10'000 * ms;
  EXPECT_THAT(findings(slow), Contains(HasSubstr("running=10.1 s ratio=201x")));
}

TEST(attribution_findings, mention_that_queue_waits_are_excluded) {
  auto due = steady(5);
  due.record.run.arrival = arrival::constant;
  EXPECT_THAT(findings(due), Contains(HasSubstr("running=53.0 ms without=queue wait above=6")));
  due.record.run.batch_frames = 2;
  EXPECT_THAT(findings(due), Contains(HasSubstr("without=queue and batch waits above=6")));
}

TEST(attribution_findings, report_the_time_hidden_by_overlap) {
  EXPECT_THAT(findings(steady(5)),
              Contains("overlap_hid hidden=16.0 ms pieces=16.0 ms/100 %//beside"));
  auto unsure = steady(5);
  unsure.record.clock_error = 9 * ms;
  EXPECT_THAT(findings(unsure), Each(Not(StartsWith("overlap_hid"))));
}

}  // namespace
}  // namespace graphline
