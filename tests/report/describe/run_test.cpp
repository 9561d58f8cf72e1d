#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/render/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/roofline_records.hpp"

namespace graphline::report {
namespace {

using json = nlohmann::ordered_json;
using samples::cell_of;
using samples::expect_golden;
using samples::fact_of;
using samples::part_of;
using samples::two_models;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string shown(const run_record& record, const terminal_style& as = {}) {
  return as_text(describe(record), as);
}

TEST(describe_run, says_why_a_schedule_of_few_frames_has_no_throughput) {
  auto record = two_models(timing_method::event, 4);
  EXPECT_THAT(shown(record), Not(HasSubstr("too few frames: on a schedule")));
  record.run.arrival = arrival::constant;
  record.run.rate = 10;
  EXPECT_THAT(shown(record), HasSubstr("too few frames: on a schedule it needs 5"));
}

TEST(describe_run, shows_stages_parts_operations_graphs_and_where_time_goes) {
  auto record = samples::calibrated_two_models().layers;
  samples::add_graphs(record);
  samples::add_operations(record);
  record.run.deadline = 74'500'000;
  record.clock_error = 1'200;
  record.clock_drift = -300;
  record.warnings = {"priority 'high' of stage 'backbone' has no effect: the device has one level"};
  expect_golden("run.txt", shown(record));
}

TEST(describe_run, shows_what_ended_a_run_before_its_first_frame) {
  auto record = two_models(timing_method::event, 0);
  record.run.frames = 45;
  record.failure = "stage 'noise' failed in frame 0: the folder 'images' holds no JPEG file";
  const auto text = shown(record);
  EXPECT_THAT(text, AllOf(HasSubstr("\nFAILED after 0 of 45 frames: stage 'noise' failed in frame"),
                          HasSubstr("\nNo frame was measured.\n"), Not(HasSubstr("p50"))));
}

TEST(describe_run, says_overload_first_and_shows_no_percentile_of_it) {
  auto record = samples::overloaded_two_models(300);
  record.run.deadline = 1'000'000'000;
  const auto text = shown(record);
  // Latency grows by 24 ms per frame at 20 frame/s; frames 0 to 38 take up to 986 ms.
  EXPECT_LT(
      text.find("\noverloaded: completed 13.51 of 20 offered frame/s; latency grows by 480 ms "),
      text.find("end to end ("))
      << text;
  EXPECT_THAT(text, HasSubstr("\ndeadline of 1.00 s missed by 261 of 300 frames\n"));
  EXPECT_THAT(text, HasSubstr("\n-: overloaded: latency grows with the run's length\n"));
  EXPECT_THAT(text, Not(HasSubstr("needs")));
  const auto says = describe(record);
  const auto& times = part_of<table>(says, "end_to_end_times");
  for (const char* column : {"mean", "stddev", "p50", "p90", "p95", "p99"}) {
    EXPECT_FALSE(cell_of(times, "300 frames", column).known()) << column;
  }
  EXPECT_TRUE(cell_of(times, "300 frames", "max").known());
}

TEST(describe_run, names_a_trace_with_what_changes_it_and_nothing_without_effect) {
  auto record = samples::two_models_on_schedule(45);
  const auto settings_of = [](const run_record& of) {
    return json::parse(result_json(of))["settings"];
  };
  for (const char* key : {"arrival_file", "phase_ns", "jitter_ns", "burst"}) {
    EXPECT_FALSE(settings_of(record).contains(key)) << key;
  }
  record.run.arrival_file = "a.csv";
  EXPECT_FALSE(settings_of(record).contains("arrival_file")) << "its arrivals are constant";
  record.run.arrival = arrival::trace;
  record.run.rate = 20;
  record.run.burst = 4;
  record.run.phase = 5'000'000;
  record.run.jitter = 0;
  EXPECT_EQ(arrival_of(record.run),
            "trace a.csv 20 frame/s in bursts of 4, phase=5.00 ms, jitter=0 ns");
  EXPECT_EQ(settings_of(record)["arrival_file"], "a.csv");
  EXPECT_EQ(settings_of(record)["burst"], 4);
  record.run.rate.reset();
  record.run.burst = 1;
  record.run.phase = record.run.jitter = std::nullopt;
  EXPECT_THAT(shown(record), HasSubstr("wait=block, trace a.csv\n"));
  record.run.arrival = arrival::closed;
  record.run.phase = 5'000'000;
  EXPECT_FALSE(settings_of(record).contains("phase_ns"));
}

TEST(describe_run, shows_how_long_frames_waited_in_the_queue) {
  const auto waits = [](const run_record& record, const char* column) {
    const auto says = describe(record);
    return cell_of(part_of<table>(says, "end_to_end_times"), "queue wait", column).number();
  };
  auto record = samples::two_models_on_schedule(45);
  for (auto& frame : record.frames) frame.begin = frame.due + 250'000;
  record.frames[3].begin += 4;
  EXPECT_EQ(waits(record, "min"), (quantity{250'000, unit::duration}));
  EXPECT_EQ(waits(record, "p50"), (quantity{250'000, unit::duration}));
  EXPECT_EQ(waits(record, "max"), (quantity{250'004, unit::duration}));
  record = samples::overloaded_two_models(300);
  EXPECT_EQ(waits(record, "p50"), std::nullopt);  // it grows with the run
  EXPECT_TRUE(waits(record, "max"));
}

TEST(describe_run, shows_the_intervals_of_percentiles_below_them) {
  // Two different times: six frames take 99 ms, all others 74 ms.
  std::vector<samples::frame_times> frames(600);
  for (std::size_t i = 50; i < frames.size(); i += 100) frames[i].end_to_end = 99'000'000;
  const auto says = describe(samples::run_of(timing_method::none, frames));
  const auto& times = part_of<table>(says, "end_to_end_times");
  EXPECT_EQ(samples::number(cell_of(times, "95 % from", "p99")), 74e6);
  EXPECT_EQ(samples::number(cell_of(times, "to", "p99")), 99e6);
  EXPECT_EQ(samples::text(cell_of(times, "to", "mean")), "");
  EXPECT_THAT(as_text(says), HasSubstr("95 % from, to: confidence interval"));
}

TEST(describe_run, has_rare_percentiles_where_they_are_carried) {
  EXPECT_THAT(shown(two_models(timing_method::none, 2994)), Not(HasSubstr("p99.9")));
  EXPECT_THAT(shown(two_models(timing_method::none, 2995)), HasSubstr("  p99.9  "));
  EXPECT_THAT(shown(two_models(timing_method::none, 29'955)), Not(HasSubstr("p99.99")));
  EXPECT_THAT(shown(two_models(timing_method::none, 29'956)), HasSubstr("  p99.9  p99.99  "));
}

TEST(describe_run, shows_no_parts_where_they_were_not_timed) {
  auto record = samples::two_models_in_parts(5);
  EXPECT_THAT(shown(record), HasSubstr("  0.conv2d"));
  for (auto& part : record.stages[0].parts) part.device.clear();
  EXPECT_THAT(shown(record), Not(HasSubstr("  0.conv2d")));
  EXPECT_EQ(json::parse(result_json(record))["stages"][0]["parts"][0]["kernel"],
            "cuDNN engine 8, workspace 2 MiB");
}

TEST(describe_run, says_when_graphs_never_pay_or_cannot_be_told_from_none) {
  auto record = two_models(timing_method::event, 5);
  samples::add_graphs(record);
  const auto said = [&record](std::vector<nanoseconds> launch, std::vector<nanoseconds> eager) {
    for (auto& graph : record.graphs) {
      graph.launch = launch;
      graph.eager = eager;
    }
    const auto says = describe(record);
    return fact_of(part_of<facts>(says, "summary"), "graphs").note;
  };
  EXPECT_THAT(said({9, 9, 9}, {2, 2, 2}),
              HasSubstr("graph launch costs the host 14.0 ns per frame"));
  EXPECT_THAT(said({9, 9, 9}, {9, 9, 10}), HasSubstr("no measurable saving from graph launch"));
  EXPECT_THAT(said({9, 9}, {1, 1}), HasSubstr("too few launches measured"));
}

TEST(describe_run, compares_slow_frames_only_with_enough_typical_ones) {
  for (const std::size_t frames : {1, 2, 4}) {
    EXPECT_THAT(shown(two_models(timing_method::event, frames)), Not(HasSubstr("typical")));
  }
  EXPECT_THAT(shown(two_models(timing_method::event, 5)), HasSubstr("typical: the "));
}

TEST(describe_run, lets_no_control_character_of_a_name_through) {
  auto record = two_models(timing_method::event, 5);
  record.pipeline = "two\nmodels";
  record.stages[0].name = "\x1b[31mred";
  record.stages[1].name = "caf\xc3\xa9 \xff";
  record.device.name = "tab\there";
  EXPECT_THAT(shown(record),
              AllOf(HasSubstr("two?models"), HasSubstr("?[31mred"), HasSubstr("caf\xc3\xa9 ?"),
                    HasSubstr("tab?here"), Not(HasSubstr("\x1b")), Not(HasSubstr("\xff"))));
}

}  // namespace
}  // namespace graphline::report
