#include "framework/report/csv/stamps_csv.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

using samples::two_models;

TEST(run_csv, has_a_row_for_each_part_of_a_stage) {
  samples::expect_golden("run_layers.csv", run_csv(samples::two_models_in_parts(2)));
}

TEST(run_csv, is_written_as_ever) {
  samples::expect_golden("run_event.csv", run_csv(two_models(timing_method::event, 3)));
}

TEST(run_csv, of_no_frames_is_its_header) {
  EXPECT_EQ(run_csv(two_models(timing_method::event, 0)), csv_header);
}

TEST(run_csv, has_a_row_for_the_wait_of_a_frame_that_was_due_on_a_schedule) {
  run_record record;
  record.run.arrival = arrival::constant;
  record.frames = {{.due = 100, .begin = 130, .end = 150}};
  EXPECT_EQ(run_csv(record), std::string(csv_header) +
                                 "0,,,end_to_end,100,150,50,,130\n"
                                 "0,,,queue_wait,100,130,30,,\n");
}

TEST(run_csv, quotes_names_that_need_it) {
  run_record record;
  record.run.timing = timing_method::event;
  record.frames = {{0, 0, 9}};
  record.stages.resize(1);
  record.stages[0].name = "a \"b\", c\nd";
  record.stages[0].on = side::cpu;
  record.stages[0].cpu = {{1, 3}};
  EXPECT_EQ(run_csv(record), std::string(csv_header) +
                                 "0,,,end_to_end,0,9,9,,0\n"
                                 "0,\"a \"\"b\"\", c?d\",cpu,cpu_time,1,3,2,,\n");
}

TEST(csv_field, is_quoted_where_a_reader_would_end_it) {
  for (const char* const plain : {"", "a b", "a;b", "größe"}) EXPECT_EQ(csv_field(plain), plain);
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
}

TEST(csv_field, is_no_formula_of_a_spreadsheet) {
  for (const std::string sign : {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"}) {
    EXPECT_EQ(csv_field(sign + "cmd|' /C calc'!A0"), "'" + sign + "cmd|' /C calc'!A0");
    EXPECT_EQ(csv_field("a" + sign + "1"), "a" + sign + "1");
  }
  EXPECT_EQ(csv_field("=1,2"), "\"'=1,2\"");
  for (const char* const number : {"-1", "+2.5", "-1e-3", "-0.5"}) {
    EXPECT_EQ(csv_field(number), number);
  }
  for (const char* const text : {"-1ms", "+1+1", "-", "--1", "+-1", "-1 "}) {
    EXPECT_EQ(csv_field(text), "'" + std::string(text));
  }
}

TEST(run_csv, ends_with_the_frames_that_were_dropped_or_left_unfinished) {
  auto record = samples::two_models(timing_method::none, 1);
  record.run.arrival = arrival::constant;
  record.frames = {{10, 20, 70}};
  record.load.dropped = {40, 50};
  record.load.unfinished = {60};
  EXPECT_EQ(run_csv(record), std::string(csv_header) +
                                 "0,,,end_to_end,10,70,60,,20\n"
                                 "0,,,queue_wait,10,20,10,,\n"
                                 ",,,dropped,40,,,,\n"
                                 ",,,dropped,50,,,,\n"
                                 ",,,unfinished,60,,,,\n");
}

}  // namespace
}  // namespace graphline
