#include "framework/analysis/run/ready_times.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/made_run.hpp"

namespace graphline {
namespace {

using samples::made_run;

std::optional<nanoseconds> ready(const made_run& made, std::size_t stage, std::size_t pass = 0) {
  return ready_time(made.record, run_passes(made.record), stage, pass);
}

TEST(ready_time, is_the_begin_of_the_frame_for_its_first_stages) {
  made_run made(strategy::overlap);
  made.cpu_stage("a");
  made.frame(10, 90, 5).cpu(0, 20, 80).cause(0, cause::frame_begun);
  EXPECT_EQ(ready(made, 0), 10);
}

TEST(ready_time, is_the_return_of_an_earlier_cpu_stage_or_launch) {
  made_run made(strategy::overlap);
  made.cpu_stage("a");
  made.device_stage("b", {{0, satisfied_by::cpu_return}});
  made.device_stage("c", {{1, satisfied_by::event_wait}}, "other");
  made.frame(0, 200).cpu(0, 0, 30).cause(0, cause::frame_begun);
  made.launch(1, 40, 50).device(1, 45, 120).cause(1, 0);
  made.launch(2, 60, 70).device(2, 120, 190).cause(2, 1);
  EXPECT_EQ(ready(made, 1), 30);
  EXPECT_EQ(ready(made, 2), 50) << "the device waits for the event, not the host";
}

TEST(ready_time, is_when_the_host_saw_a_device_stage_complete) {
  made_run made(strategy::async);
  made.device_stage("a");
  made.cpu_stage("b", {{0, satisfied_by::completion}});
  made.frame(0, 200).launch(0, 0, 10).device(0, 5, 100).seen(0, 120).cause(0, cause::frame_begun);
  made.cpu(1, 130, 190).cause(1, 0);
  made.frame(200, 400).launch(0, 200, 260).device(0, 205, 220).seen(0, 230);
  made.cause(0, cause::frame_begun).cpu(1, 270, 390).cause(1, 0);
  EXPECT_EQ(ready(made, 1), 120);
  EXPECT_EQ(ready(made, 1, 1), 260) << "the launch returned after the stage was complete";
}

TEST(ready_time, is_the_return_of_the_stage_in_the_previous_frame_that_it_waited_for) {
  made_run made(strategy::overlap);
  made.cpu_stage("a");
  made.frame(0, 100).cpu(0, 0, 100).cause(0, cause::frame_begun);
  made.frame(40, 200).cpu(0, 110, 200).cause(0, cause::previous_frame);
  EXPECT_EQ(ready(made, 0, 1), 100);
  made.record.stages[0].causes[1] = cause::dropped_frame;
  EXPECT_EQ(ready(made, 0, 1), std::nullopt) << "a frame without stamps was between them";
}

TEST(ready_time, is_unknown_without_causes) {
  made_run made(strategy::async);
  made.cpu_stage("a");
  made.frame(0, 100).cpu(0, 0, 100);
  EXPECT_EQ(ready(made, 0), std::nullopt);
  made.cause(0, cause::previous_frame);
  EXPECT_EQ(ready(made, 0), std::nullopt) << "no frame is before the first";
}

}  // namespace
}  // namespace graphline
