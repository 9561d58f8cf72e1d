#include "framework/report/run_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "framework/report/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using samples::two_models;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, text_width(line));
  return widest;
}

TEST(run_table, shows_a_run_timed_by_events) {
  expect_golden("run_event.txt", run_table(two_models(timing_method::event, 45)));
}

TEST(run_table, shows_a_run_timed_by_the_host_clock) {
  expect_golden("run_host.txt", run_table(two_models(timing_method::host, 45)));
}

TEST(run_table, shows_a_run_timed_by_synchronizing) {
  expect_golden("run_sync.txt", run_table(two_models(timing_method::sync, 300)));
}

TEST(run_table, shows_a_run_without_stage_times) {
  expect_golden("run_none.txt", run_table(two_models(timing_method::none, 45)));
}

TEST(run_table, shows_deadline_warnings_and_interruption) {
  auto record = two_models(timing_method::event, 12);
  record.run.frames = 45;
  record.run.deadline = 74'500'000;
  record.run.priorities = false;
  record.interrupted = true;
  record.warnings = {"priority 'high' of stage 'backbone' has no effect: the device has one level"};
  expect_golden("run_interrupted.txt", run_table(record));
}

TEST(run_table, shows_what_ended_a_run_before_its_first_frame) {
  auto record = two_models(timing_method::event, 0);
  record.run.frames = 45;
  record.failure = "stage 'noise' failed in frame 0: the folder 'images' holds no JPEG file";
  expect_golden("run_failed.txt", run_table(record));
}

TEST(run_table, fits_eighty_columns) {
  for (const auto method :
       {timing_method::none, timing_method::host, timing_method::sync, timing_method::event}) {
    EXPECT_LE(widest_line(run_table(two_models(method, 300))), 80u) << to_word(method);
  }
}

TEST(run_table, of_one_frame_has_no_spread_and_says_so) {
  EXPECT_THAT(run_table(two_models(timing_method::event, 1)),
              HasSubstr("p50 needs 5, p90 needs 29, p95 needs 59, p99 needs 299"));
}

TEST(run_table, tells_a_deadline_that_was_met) {
  auto record = two_models(timing_method::event, 3);
  record.run.deadline = 100'000'000;
  EXPECT_THAT(run_table(record), HasSubstr("100 ms: met by all 3 frames"));
}

TEST(run_table, lets_no_control_character_of_a_name_through) {
  auto record = two_models(timing_method::event, 5);
  record.pipeline = "two\nmodels";
  record.stages[0].name = "\x1b[31mred";
  record.stages[1].name = "caf\xc3\xa9 \xff";
  record.device.name = "tab\there";
  const auto text = run_table(record);
  EXPECT_THAT(text,
              AllOf(HasSubstr("two?models"), HasSubstr("?[31mred"), HasSubstr("caf\xc3\xa9 ?"),
                    HasSubstr("tab?here"), Not(HasSubstr("\x1b")), Not(HasSubstr("\xff"))));
}

}  // namespace
}  // namespace graphline
