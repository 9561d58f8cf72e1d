#include "framework/report/terminal/run_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "framework/report/terminal/floor_cells.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/roofline_records.hpp"

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

TEST(run_table, shows_a_run_of_frames_that_were_due_on_a_schedule) {
  expect_golden("run_schedule.txt", run_table(samples::two_models_on_schedule(45)));
}

TEST(run_table, says_overload_first_and_shows_no_percentile_of_it) {
  auto record = samples::overloaded_two_models(300);
  record.run.deadline = 1'000'000'000;
  const auto text = run_table(record);
  // 24 ms more with each frame, 20 of which are due in a second; frames 0 to 38 take up to 986 ms.
  EXPECT_LT(
      text.find("\noverloaded: completed 13.5 of 20 offered frame/s; latency grows by 480 ms "),
      text.find("end to end ("))
      << text;
  EXPECT_THAT(text, HasSubstr("\ndeadline of 1.00 s missed by 261 of 300 frames\n"));
  EXPECT_THAT(text, HasSubstr("\n-: overloaded: latency grows with the run's length\n"));
  EXPECT_THAT(text, Not(HasSubstr("needs")));
  std::istringstream from(text.substr(text.find("end to end (")));
  std::string headings;
  std::string cells;
  std::getline(from, headings);
  std::getline(from, cells);
  EXPECT_EQ(std::count(cells.begin(), cells.end(), '-'), 6) << cells;  // mean, stddev, p50 to p99
}

TEST(run_table, shows_no_queue_wait_that_grows_with_the_run) {
  const auto text = run_table(samples::overloaded_two_models(300));
  EXPECT_THAT(text, HasSubstr("; - (median) and 7.18 s (worst) from due to\n"));
  EXPECT_THAT(text, HasSubstr("\nbegin to end "));
  EXPECT_THAT(text, Not(HasSubstr("\nend to end  ")));
  EXPECT_THAT(text, Not(HasSubstr("the frame   queue wait")));
  EXPECT_THAT(text,
              HasSubstr("\nwithout queue wait: overloaded: latency grows with the run's length\n"));
}

TEST(run_table, says_which_frames_waited_outside_a_full_queue) {
  auto record = samples::two_models_on_schedule(45);
  record.run.when_full = queue_policy::block;
  record.run.queue = 16;
  record.load = {};
  record.load.longest_queue = 172;
  record.load.found_full = 362;
  const auto text = run_table(record, {.width = 100});
  EXPECT_THAT(text, HasSubstr("queue       at most 172 frames waited at once, 16 of them in the "
                              "queue and 156 outside it; 362\n            arrivals found the queue "
                              "full; dropped 0 of 45 frames; "));
}

TEST(run_table, has_no_throughput_of_a_few_frames_of_a_schedule) {
  auto record = two_models(timing_method::event, 1);
  record.run.arrival = arrival::constant;
  record.run.rate = 10;
  EXPECT_THAT(run_table(record),
              HasSubstr("\nthroughput  -: too few frames: on a schedule it needs 5\n"));
}

TEST(run_table, shows_the_intervals_of_percentiles_below_them) {
  // A run of few different times: nearly all frames take 74 ms, six of them 99 ms.
  std::vector<samples::frame_times> frames(600);
  for (std::size_t i = 50; i < frames.size(); i += 100) frames[i].end_to_end = 99'000'000;
  const auto text = run_table(samples::run_of(timing_method::none, frames));
  EXPECT_THAT(text, HasSubstr("\n95 % from                            74.0  74.0  74.0  74.0\n"
                              "to                                   74.0  74.0  74.0  99.0\n"))
      << text;
  EXPECT_THAT(text, HasSubstr("95 % from, to: confidence interval"));
  EXPECT_LE(widest_line(text), 80U);
}

TEST(run_table, has_p99_9_where_it_is_carried) {
  EXPECT_THAT(run_table(two_models(timing_method::none, 2994)), Not(HasSubstr("p99.9")));
  const auto text = run_table(two_models(timing_method::none, 2995));
  EXPECT_THAT(text, HasSubstr("  p99.9  "));
  EXPECT_LE(widest_line(text), 80U);
}

TEST(run_table, shows_a_run_without_stage_times) {
  expect_golden("run_none.txt", run_table(two_models(timing_method::none, 45)));
}

TEST(run_table, shows_the_parts_of_a_stage_its_operations_and_what_graphs_cost) {
  auto record = samples::two_models_in_parts(45);
  samples::add_graphs(record);
  samples::add_operations(record);
  record.clock_error = 1'200;
  record.clock_drift = -300;
  expect_golden("run_layers.txt", run_table(record));
}

TEST(run_table, has_no_ratio_where_there_are_too_few_times_for_a_p50) {
  auto record = samples::calibrated_two_models().layers;
  EXPECT_TRUE(floors(evaluate_roofline(record)).any_stage());
  for (auto& stage : record.stages) {
    stage.device.resize(std::min<std::size_t>(stage.device.size(), 4));
    for (auto& part : stage.parts) part.device.resize(4);
  }
  const floors held(evaluate_roofline(record));
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    if (const auto* figures = held.of_stage(s)) {
      EXPECT_TRUE(figures->roofline_time);
      EXPECT_FALSE(figures->ratio);
    }
    EXPECT_FALSE(held.any_part(s));
  }
}

TEST(run_table, holds_stages_and_parts_against_their_floors_where_there_is_a_calibration) {
  expect_golden("run_floors.txt", run_table(samples::calibrated_two_models().layers));
}

TEST(run_table, is_the_same_without_a_calibration_whatever_costs_are_known) {
  auto record = samples::uncalibrated().layers;
  const auto text = run_table(record);
  for (auto& stage : record.stages) {
    stage.cost = {};
    for (auto& part : stage.parts) part.cost = {};
  }
  EXPECT_EQ(run_table(record), text);
  EXPECT_THAT(text, Not(HasSubstr("ratio")));
}

TEST(run_table, has_no_floors_for_times_that_are_not_the_devices) {
  for (const auto method : {timing_method::host, timing_method::none}) {
    auto record = two_models(method, 45);
    const auto before = run_table(record);
    const auto calibrated = samples::calibrated_two_models().stages;
    record.calibration = calibrated.calibration;
    for (std::size_t s = 0; s < 3; ++s) record.stages[s].cost = calibrated.stages[s].cost;
    EXPECT_EQ(run_table(record), before) << to_word(method);
  }
}

TEST(run_table, keeps_ratios_where_there_is_little_room) {
  look narrow;
  narrow.width = 40;
  const auto text = run_table(samples::calibrated_gpu().stages, narrow);
  EXPECT_LE(widest_line(text), 40u) << text;
  EXPECT_THAT(text, HasSubstr("66.0x"));
  EXPECT_LE(widest_line(run_table(samples::calibrated_gpu().layers)), 80u);
}

TEST(run_table, shows_no_parts_where_they_were_not_timed) {
  auto record = samples::two_models_in_parts(5);
  for (auto& part : record.stages[0].parts) part.device.clear();
  EXPECT_THAT(run_table(record), Not(HasSubstr("in parts")));
}

TEST(run_table, says_nothing_of_a_clock_that_no_time_was_taken_from) {
  auto record = two_models(timing_method::none, 5);
  EXPECT_THAT(run_table(record), Not(HasSubstr("clock:")));
  record = two_models(timing_method::event, 5);
  record.clock_error = 0;
  EXPECT_THAT(run_table(record), Not(HasSubstr("clock:")));
}

TEST(run_table, says_when_graphs_never_pay_or_cannot_be_told_from_none) {
  auto record = two_models(timing_method::event, 5);
  samples::add_graphs(record);
  const auto set = [&record](std::vector<nanoseconds> launch, std::vector<nanoseconds> eager) {
    for (auto& graph : record.graphs) {
      graph.launch = launch;
      graph.eager = eager;
    }
    // As one line.
    auto text = run_table(record);
    for (std::size_t at; (at = text.find("\n            ")) != std::string::npos;) {
      text.replace(at, 13, " ");
    }
    return text;
  };
  EXPECT_THAT(set({9, 9, 9}, {2, 2, 2}),
              HasSubstr("never paid for: launching takes the host 14.0 ns longer a frame"));
  EXPECT_THAT(set({9, 9, 9}, {9, 9, 10}),
              HasSubstr("as long as enqueueing, as far as can be told"));
  EXPECT_THAT(set({9, 9}, {1, 1}), HasSubstr("too little was measured to tell"));
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

TEST(run_table, takes_no_more_where_it_names_parts_and_operations) {
  auto record = samples::two_models_in_parts(300);
  for (auto& part : record.stages[0].parts) {
    part.name += std::string(60, 'n');
    part.choice = std::string(60, 'c');
  }
  samples::add_graphs(record);
  samples::add_operations(record);
  record.stages[0].operations[0].name = std::string(200, 'o');
  EXPECT_LE(widest_line(run_table(record)), 80u) << run_table(record);
}

TEST(run_table, says_of_a_part_what_its_name_does_not) {
  const auto shown = [](const std::string& choice) {
    auto record = samples::two_models_in_parts(30);
    record.stages[0].parts[0].choice = choice;
    return run_table(record);
  };
  EXPECT_THAT(shown("oneDNN reorder [jit:uni], conv2d+bias+gelu [brgconv:avx512_core]"),
              HasSubstr("  oneDNN reorder, brgconv:avx512_core  "));
  EXPECT_THAT(shown("oneDNN linear [gemm:jit]; in float32, host has no float16"),
              AllOf(HasSubstr("  oneDNN gemm:jit; in float32, host has no  "),
                    HasSubstr("\n                          float16\n")));
  EXPECT_THAT(shown("a [ that is never closed"), HasSubstr("  a [ that is never closed  "));
  EXPECT_THAT(shown(" [jit]"), HasSubstr("jit"));
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
