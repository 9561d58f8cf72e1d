#include "framework/analysis/run/attribution.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/made_run.hpp"

namespace graphline {
namespace {

using samples::made_run;
using samples::path_of;
using samples::sum_of;

constexpr auto in_order = satisfied_by::stream_order;
constexpr auto by_event = satisfied_by::event_wait;
constexpr auto complete = satisfied_by::completion;
constexpr auto returned = satisfied_by::cpu_return;

/// Device stage `backbone`, CPU stage `noise`, device stage `head` that reads `backbone`.
made_run two_models(strategy how, timing_method timing = timing_method::event) {
  return made_run(how, timing)
      .device_stage("backbone")
      .cpu_stage("noise")
      .device_stage("head", {{0, in_order}});
}

/// CPU stage `in`, device stage `net`, CPU stage `out`.
made_run there_and_back(strategy how, timing_method timing = timing_method::event) {
  return made_run(how, timing)
      .cpu_stage("in")
      .device_stage("net", {{0, returned}})
      .cpu_stage("out", {{1, complete}});
}

TEST(attribution, ends_with_the_launch_if_the_device_finished_during_the_call) {
  const auto made =
      made_run(strategy::async).device_stage("tiny").frame(0, 25).launch(0, 0, 20).device(0, 5, 10);
  EXPECT_EQ(path_of(made), "launch tiny 0-20, completion_delay 20-25");
}

TEST(attribution, follows_what_ended_during_the_launch_instead_of_the_launch) {
  const auto made = made_run(strategy::async)
                        .device_stage("a", {}, "left")
                        .device_stage("b", {{0, by_event}}, "right")
                        .frame(0, 50)
                        .launch(0, 0, 2)
                        .launch(1, 2, 20)
                        .device(0, 2, 10)
                        .device(1, 11, 50);
  EXPECT_EQ(path_of(made), "launch a 0-2, device a 2-10, stream_wait b 10-11, device b 11-50");
}

TEST(attribution, is_untimed_where_only_launches_are_timed) {
  const auto back = there_and_back(strategy::async, timing_method::host)
                        .frame(0, 100)
                        .cpu(0, 0, 20)
                        .launch(1, 20, 25)
                        .cause(1, cause::frame_begun)
                        .seen(1, 70)
                        .cpu(2, 71, 99)
                        .cause(2, 1)
                        .ended_by(2);
  EXPECT_EQ(path_of(back),
            "cpu in 0-20, launch net 20-25, untimed out 25-70, worker_wait out 70-71, "
            "cpu out 71-99, worker_wait 99-100");
  // The host waits for `head`, whose end is not timed.
  const auto ends = two_models(strategy::async, timing_method::host)
                        .frame(0, 100)
                        .launch(0, 0, 5)
                        .cpu(1, 5, 30)
                        .launch(2, 30, 32)
                        .cause(2, cause::frame_begun)
                        .ended_by(2);
  EXPECT_EQ(path_of(ends),
            "launch backbone 0-5, cpu noise 5-30, launch head 30-32, untimed 32-100");
  const auto serial = two_models(strategy::serial, timing_method::host)
                          .frame(0, 100)
                          .launch(0, 0, 5)
                          .seen(0, 44)
                          .cpu(1, 45, 60)
                          .cause(1, 0)
                          .launch(2, 61, 62)
                          .cause(2, cause::frame_begun)
                          .ended_by(2);
  EXPECT_EQ(path_of(serial),
            "launch backbone 0-5, untimed noise 5-44, worker_wait noise 44-45, cpu noise 45-60, "
            "worker_wait head 60-61, launch head 61-62, untimed 62-100");
}

TEST(attribution, is_one_untimed_piece_if_stages_are_not_timed) {
  const auto made = two_models(strategy::async, timing_method::none).frame(10, 100, 5);
  EXPECT_EQ(path_of(made), "queue_wait 5-10, untimed 10-100");
}

TEST(attribution, separates_previous_frame_waits_from_worker_waits) {
  auto made = there_and_back(strategy::overlap)
                  .frame(0, 60)
                  .cpu(0, 0, 20, 1)
                  .launch(1, 20, 21, 1)
                  .device(1, 21, 30)
                  .cpu(2, 31, 60, 2)
                  .frame(5, 100)
                  .cpu(0, 22, 30, 1)
                  .launch(1, 30, 31, 1)
                  .device(1, 31, 40)
                  .cpu(2, 63, 99, 2);
  made.record.run.in_flight = 2;
  made.record.ended_by = {2, 2};
  made.record.stages[0].causes = {cause::frame_begun, cause::previous_frame};
  made.record.stages[1].causes = {0, 0};
  made.record.stages[1].seen = {31, 42};
  made.record.stages[2].causes = {1, cause::previous_frame};
  EXPECT_EQ(
      path_of(made, 1),
      "previous_frame_wait in 5-20, worker_wait in 20-22, cpu in 22-30, launch net 30-31, "
      "device net 31-40, previous_frame_wait out 40-60, worker_wait out 60-63, cpu out 63-99, "
      "worker_wait 99-100");
  made.record.stages[2].causes[1] = cause::dropped_frame;
  const auto cut = path_of(made, 1);
  EXPECT_EQ(cut.substr(cut.find("device net")),
            "device net 31-40, untimed out 40-63, cpu out 63-99, worker_wait 99-100");
  made.record.stages[2].causes[1] = cause::other_rank;
  const auto received = path_of(made, 1);
  EXPECT_EQ(received.substr(received.find("device net")),
            "device net 31-40, other_rank_wait out 40-63, cpu out 63-99, worker_wait 99-100");
  // The host observed the device stage after the same stage of the previous frame had returned.
  made.record.stages[2].cpu[0] = {31, 35};
  made.record.stages[2].causes[1] = 1;
  const auto text = path_of(made, 1);
  EXPECT_EQ(text.substr(text.find("device net")),
            "device net 31-40, completion_delay out 40-42, worker_wait out 42-63, cpu out 63-99, "
            "worker_wait 99-100");
}

TEST(attribution, sees_the_host_thread_busy_with_other_frames_before_the_end) {
  auto made = made_run(strategy::async)
                  .device_stage("net")
                  .cpu_stage("aside")
                  .frame(0, 60)
                  .launch(0, 0, 2)
                  .device(0, 2, 20)
                  .cpu(1, 2, 10)
                  .frame(12, 100)
                  .launch(0, 12, 14)
                  .device(0, 20, 40)
                  .cpu(1, 14, 55);
  made.record.run.in_flight = 2;
  EXPECT_EQ(path_of(made),
            "launch net 0-2, device net 2-20, worker_wait 20-55, completion_delay 55-60");
  // Under `overlap`, a watching thread observes the completion.
  made.record.run.strategy = strategy::overlap;
  EXPECT_EQ(path_of(made), "launch net 0-2, device net 2-20, completion_delay 20-60");
}

TEST(attribution, follows_the_stage_whose_completion_made_room_in_the_window) {
  // Both are ready at 0; only one may be issued at a time. The host sees the first complete at 12.
  auto made = made_run(strategy::overlap)
                  .device_stage("a", {}, "left")
                  .device_stage("b", {}, "right")
                  .frame(0, 30)
                  .launch(0, 0, 2)
                  .device(0, 2, 10)
                  .launch(1, 12, 14)
                  .device(1, 14, 28)
                  .cause(0, cause::frame_begun)
                  .cause(1, cause::frame_begun);
  EXPECT_EQ(path_of(made),
            "launch a 0-2, worker_wait b 2-12, launch b 12-14, device b 14-28, "
            "completion_delay 28-30");
  made.record.run.window = 1;
  EXPECT_EQ(path_of(made),
            "launch a 0-2, device a 2-10, completion_delay b 10-12, launch b 12-14, "
            "device b 14-28, completion_delay 28-30");
  made.record.run.window = 2;  // not full: a worker was late
  EXPECT_EQ(path_of(made),
            "launch a 0-2, worker_wait b 2-12, launch b 12-14, device b 14-28, "
            "completion_delay 28-30");
  made.record.run.window = 1;  // of another device: a worker was late, too
  made.record.devices = {{"left", made.record.device}, {"right", made.record.device}};
  made.record.stages[1].device_index = 1;
  EXPECT_EQ(path_of(made),
            "launch a 0-2, worker_wait b 2-12, launch b 12-14, device b 14-28, "
            "completion_delay 28-30");
}

TEST(attribution, has_a_residual_if_clocks_contradict_each_other) {
  auto made = there_and_back(strategy::async)
                  .frame(0, 100)
                  .cpu(0, 0, 20)
                  .launch(1, 20, 25)
                  .device(1, 18, 73)
                  .cpu(2, 70, 100);
  made.record.clock_error = 4;
  // The device stage counts in full; 3 ns of it overlap `out` and 2 ns overlap `in`.
  EXPECT_EQ(path_of(made), "cpu in 0-20, device net 18-73, cpu out 70-100, residual -5");
  EXPECT_EQ(sum_of(attributor(made.record).of(0)), 100);
  // Stamps that contradict by more than the clock error are not used.
  made.record.clock_error = 1;
  EXPECT_EQ(path_of(made), "untimed net 0-18, device net 18-71, cpu out 70-100, residual -1");
}

TEST(attribution, includes_time_before_the_frame_up_to_the_clock_error) {
  auto made = made_run(strategy::async).device_stage("net").frame(100, 150);
  made.launch(0, 100, 101).device(0, 60, 140);
  made.record.clock_error = 3;
  EXPECT_EQ(path_of(made), "device net 97-140, completion_delay 140-150, residual -3");
}

TEST(attribution, keeps_the_order_of_short_stages_on_a_stream) {
  auto made = made_run(strategy::async)
                  .device_stage("a")
                  .device_stage("b")
                  .device_stage("after")
                  .cpu_stage("c", {{1, complete}})
                  .frame(0, 90)
                  .launch(0, 0, 1)
                  .launch(1, 1, 2)
                  .launch(2, 2, 3)
                  .device(0, 1, 40)
                  .device(1, 40, 42)
                  .device(2, 42, 43)
                  .cpu(3, 44, 90);
  // By clock error `after` may have ended before `b` began; by stream order it did not.
  made.record.clock_error = 5;
  EXPECT_EQ(path_of(made),
            "launch a 0-1, device a 1-40, device b 40-42, completion_delay c 42-44, cpu c 44-90");
}

TEST(attribution, is_untimed_for_a_frame_without_stamps) {
  EXPECT_EQ(path_of(two_models(strategy::async).frame(3, 9)), "untimed 3-9");
  EXPECT_EQ(path_of(made_run(strategy::async).frame(3, 9)), "untimed 3-9");
}

}  // namespace
}  // namespace graphline
