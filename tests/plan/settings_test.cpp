#include <gmock/gmock.h>

#include <limits>

#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> errors(const settings& run) {
  diagnostics out;
  check_settings(run, {}, out);
  return messages(out, severity::error);
}

std::vector<std::string> warnings(const settings& run) {
  diagnostics out;
  check_settings(run, {}, out);
  return messages(out, severity::warning);
}

TEST(settings, are_fine_by_default) {
  EXPECT_THAT(errors({}), IsEmpty());
}

TEST(settings, refuse_serial_with_several_frames_in_flight) {
  settings run;
  run.strategy = strategy::serial;
  EXPECT_THAT(errors(run), IsEmpty());
  run.in_flight = 2;
  EXPECT_THAT(errors(run), ElementsAre(AllOf(HasSubstr("in_flight: 2 makes no sense with strategy: "
                                                       "serial"),
                                             HasSubstr("use in_flight: 1, or strategy: async"))));
}

TEST(settings, warn_of_sync_where_other_work_runs_beside_a_stage) {
  settings run;
  run.timing = timing_method::sync;
  EXPECT_THAT(warnings(run), IsEmpty());
  run.strategy = strategy::overlap;
  EXPECT_THAT(warnings(run), ElementsAre(HasSubstr("timing: sync with strategy: overlap")));
  run.strategy = strategy::async;
  run.in_flight = 2;
  EXPECT_THAT(warnings(run), ElementsAre(HasSubstr("timing: sync with in_flight: 2")));
  EXPECT_THAT(errors(run), IsEmpty());
}

TEST(settings, refuse_in_a_frames_graph_what_happens_between_its_stages) {
  settings run;
  run.graphs = graph_mode::frame;
  for (const auto method : {timing_method::none, timing_method::event, timing_method::layers}) {
    run.timing = method;
    EXPECT_THAT(errors(run), IsEmpty()) << to_word(method);
  }
  run.timing = timing_method::host;
  EXPECT_THAT(errors(run), ElementsAre(AllOf(HasSubstr("timing: host makes no sense"),
                                             HasSubstr("use timing: event or none"))));
  run.timing = timing_method::sync;
  run.in_flight = 2;
  EXPECT_THAT(errors(run), ElementsAre(AllOf(HasSubstr("timing: sync makes no sense"),
                                             HasSubstr("or graphs: stage"))));
  EXPECT_THAT(warnings(run), IsEmpty());
  run.timing = timing_method::event;
  run.in_flight = 1;
  run.strategy = strategy::serial;
  EXPECT_THAT(errors(run), ElementsAre(AllOf(HasSubstr("strategy: serial makes no sense"),
                                             HasSubstr("use strategy: async"))));
}

TEST(settings, refuse_a_schedule_without_a_rate_and_a_rate_without_a_schedule) {
  settings run;
  run.arrival = arrival::poisson;
  EXPECT_THAT(errors(run), ElementsAre(AllOf(HasSubstr("arrival: poisson needs to know"),
                                             HasSubstr("such as rate: 30"))));
  run.rate = 29.97;
  EXPECT_THAT(errors(run), IsEmpty());
  run.arrival = arrival::closed;
  EXPECT_THAT(errors(run),
              ElementsAre(AllOf(HasSubstr("rate: 29.97 makes no sense with arrival: closed"),
                                HasSubstr("use arrival: constant or poisson"))));
}

TEST(settings, refuse_a_rate_that_no_clock_can_keep) {
  settings run;
  run.arrival = arrival::constant;
  for (const double wrong :
       {0.0, -30.0, 9.9e-7, 1e6 + 1, std::numeric_limits<double>::quiet_NaN()}) {
    run.rate = wrong;
    EXPECT_THAT(errors(run), ElementsAre(HasSubstr("rate must be from 0.000001 to 1000000")));
  }
}

place option(const char* text) {
  return {std::make_shared<source_text>(text, "")};
}

place in_file(std::size_t line) {
  return {std::make_shared<source_text>("p.yaml", "pipeline: p\nrun:\n  graphs: frame\n"), line, 1};
}

TEST(settings, are_complained_of_at_the_options_that_gave_them) {
  settings run;
  run.strategy = strategy::serial;
  run.graphs = graph_mode::frame;
  settings_places places;
  places.section = in_file(2);
  const auto shown = [&] {
    diagnostics out;
    check_settings(run, places, out);
    return out.render();
  };
  EXPECT_THAT(shown(), StartsWith("p.yaml:2:1: error: strategy: serial makes no sense"));
  EXPECT_THAT(shown(), Not(HasSubstr("is set in")));
  places.each["strategy"] = option("--strategy serial");
  places.each["graphs"] = in_file(3);
  EXPECT_THAT(shown(), AllOf(StartsWith("--strategy serial: error: strategy: serial makes no sense "
                                        "with graphs: frame"),
                             EndsWith("or graphs: stage (graphs is set in p.yaml:3)")));
  places.each["graphs"] = option("--graphs frame");
  EXPECT_THAT(shown(), AllOf(StartsWith("--strategy serial --graphs frame: error: "),
                             EndsWith("or graphs: stage")));
}

TEST(settings, warn_where_a_queue_was_written_that_no_frame_can_wait_in) {
  settings run;
  run.queue = 4;
  settings_places places;
  places.section = in_file(2);
  const auto shown = [&] {
    diagnostics out;
    check_settings(run, places, out);
    return out.render();
  };
  EXPECT_EQ(shown(), "");
  places.each["queue"] = in_file(3);
  places.each["when_full"] = option("--when-full block");
  EXPECT_THAT(shown(), AllOf(HasSubstr("p.yaml:3:1: warning: queue: 4 changes nothing with "
                                       "arrival: closed"),
                             HasSubstr("--when-full block: warning: when_full: block changes"),
                             HasSubstr("use arrival: constant or poisson with a rate, or leave")));
  run.arrival = arrival::constant;
  run.rate = 30;
  EXPECT_EQ(shown(), "");
}

TEST(settings, refuse_numbers_out_of_range) {
  settings run;
  run.in_flight = 0;
  run.frames = 0;
  run.warmup = -1;
  run.threads = -1;
  run.deadline = 0;
  run.queue = 0;
  EXPECT_THAT(
      errors(run),
      ElementsAre("in_flight must be at least 1, found 0", "frames must be at least 1, found 0",
                  "warmup must be at least 0, found -1", "threads must be at least 0, found -1",
                  "deadline must be longer than 0 ns", "queue must be at least 1, found 0"));
}

TEST(planner, checks_settings_too) {
  spec_builder b;
  b.input("x", {4}).stage("a", "gpu", {"x"});
  b.spec.run.strategy = strategy::serial;
  b.spec.run.in_flight = 2;
  EXPECT_THAT(errors_of(b), ElementsAre(HasSubstr("strategy: serial")));
}

}  // namespace
}  // namespace graphline::testing
