#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The diagnostics for settings that differ from the defaults.
std::string said(const std::function<void(settings&)>& change, const settings_places& places = {}) {
  settings run;
  change(run);
  diagnostics out;
  check_settings(run, places, out);
  return out.render();
}

place option(const char* text) {
  return {std::make_shared<source_text>(text, "")};
}

TEST(settings, are_fine_where_they_make_sense_together) {
  const std::function<void(settings&)> fine[] = {
      [](settings&) {},
      [](settings& run) { run.strategy = strategy::serial; },
      [](settings& run) { run.timing = timing_method::sync; },
      [](settings& run) { run.arrival = arrival::poisson, run.rate = 29.97; },
      [](settings& run) { run.arrival = arrival::trace, run.arrival_file = "a.csv"; },
      [](settings& run) {
        run.arrival = arrival::trace, run.arrival_file = "a.csv", run.rate = 30;
        run.phase = 0, run.jitter = 0, run.burst = 4;
      },
      [](settings& run) { run.graphs = graph_mode::frame, run.timing = timing_method::none; },
      [](settings& run) { run.graphs = graph_mode::frame, run.timing = timing_method::event; },
      [](settings& run) { run.graphs = graph_mode::frame, run.timing = timing_method::layers; }};
  for (const auto& change : fine) EXPECT_EQ(said(change), "");
}

TEST(settings, are_refused_with_a_remedy_where_they_make_no_sense_together) {
  struct {
    std::function<void(settings&)> change;
    const char* problem;
    const char* remedy;
  } const cases[] = {
      {[](settings& run) { run.strategy = strategy::serial, run.in_flight = 2; },
       "error: in_flight: 2 makes no sense with strategy: serial", "or strategy: async"},
      {[](settings& run) { run.graphs = graph_mode::frame, run.timing = timing_method::host; },
       "error: timing: host makes no sense with graphs: frame", "use timing: event or none"},
      {[](settings& run) {
         run.graphs = graph_mode::frame, run.timing = timing_method::sync, run.in_flight = 2;
       },
       "error: timing: sync makes no sense with graphs: frame", "or graphs: stage"},
      {[](settings& run) { run.graphs = graph_mode::frame, run.timing = timing_method::callback; },
       "error: timing: callback makes no sense with graphs: frame", "or graphs: stage"},
      {[](settings& run) { run.graphs = graph_mode::frame, run.strategy = strategy::serial; },
       "error: strategy: serial makes no sense with graphs: frame", "use strategy: async"},
      {[](settings& run) { run.arrival = arrival::poisson; },
       "error: arrival: poisson needs to know", "such as rate: 30"},
      {[](settings& run) { run.arrival = arrival::trace, run.rate = 30; },
       "error: arrival: trace needs a file with the times", "such as arrival_file: arrivals.csv"},
      {[](settings& run) { run.rate = 29.97; },
       "error: rate: 29.97 makes no sense with arrival: closed", "constant or poisson"},
      {[](settings& run) { run.batch_frames = 4; },
       "error: batch_frames: 4 is not allowed with arrival: closed", "constant or poisson"},
      {[](settings& run) { run.late = late_rule::drop; }, "error: late: drop needs a deadline",
       "such as deadline: 20ms"},
      {[](settings& run) {
         run.late = late_rule::skip_rest, run.deadline = 1, run.graphs = graph_mode::frame;
       },
       "error: late: skip_rest makes no sense with graphs: frame", "use late: drop"},
      {[](settings& run) { run.timing = timing_method::sync, run.strategy = strategy::overlap; },
       "warning: timing: sync with strategy: overlap", "timing: event"},
      {[](settings& run) { run.timing = timing_method::sync, run.in_flight = 2; },
       "warning: timing: sync with in_flight: 2", "in_flight: 1"}};
  for (const auto& [change, problem, remedy] : cases) {
    const std::string text = said(change);
    EXPECT_THAT(text, StartsWith(problem));
    EXPECT_THAT(text, HasSubstr(remedy));
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(settings, warn_of_a_batch_wait_without_batches) {
  settings_places places;
  places.each["batch_wait"] = option("--batch-wait 3ms");
  places.each["batch_frames"] = option("--batch-frames 1");
  const auto with = [&](std::int64_t frames) {
    return said(
        [&](settings& run) {
          run.arrival = arrival::constant, run.rate = 30;
          run.batch_frames = frames, run.batch_wait = 3'000'000;
        },
        places);
  };
  EXPECT_THAT(with(1), StartsWith("--batch-wait 3ms: warning: batch_wait has no effect without"));
  EXPECT_EQ(with(2), "");
}

TEST(settings, warn_that_no_frame_is_late_when_it_begins_with_closed_arrival) {
  settings_places places;
  places.each["late"] = option("--late drop");
  const auto with = [&](late_rule late, arrival how) {
    return said(
        [&](settings& run) {
          run.late = late, run.deadline = 1, run.arrival = how;
          if (how != arrival::closed) run.rate = 30;
        },
        places);
  };
  EXPECT_THAT(with(late_rule::drop, arrival::closed),
              StartsWith("--late drop: warning: late: drop changes nothing with arrival: closed"));
  EXPECT_EQ(with(late_rule::skip_rest, arrival::closed), "");
  EXPECT_EQ(with(late_rule::drop, arrival::poisson), "");
}

TEST(settings, refuse_a_rate_that_no_clock_can_keep) {
  for (const double wrong :
       {0.0, -30.0, 9.9e-7, 1e6 + 1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(said([&](settings& run) { run.arrival = arrival::constant, run.rate = wrong; }),
                HasSubstr("rate must be from 0.000001 to 1000000"));
  }
}

TEST(settings, refuse_numbers_out_of_range) {
  EXPECT_EQ(said([](settings& run) {
              run.in_flight = run.frames = run.queue = 0;
              run.warmup = run.threads = -1;
              run.deadline = 0;
              run.phase = -1;
              run.burst = 0;
            }),
            "error: in_flight must be at least 1, found 0\n"
            "error: frames must be at least 1, found 0\n"
            "error: warmup must be at least 0, found -1\n"
            "error: threads must be at least 0, found -1\n"
            "error: deadline must be longer than 0 ns\n"
            "error: phase must not be negative\n"
            "error: burst must be at least 1, found 0\n"
            "error: queue must be at least 1, found 0");
}

place in_file(std::size_t line) {
  return {std::make_shared<source_text>("p.yaml", "pipeline: p\nrun:\n  graphs: frame\n"), line, 1};
}

TEST(settings, are_complained_of_at_the_option_or_the_line_that_gave_them) {
  const auto serial_frames = [](settings& run) {
    run.strategy = strategy::serial;
    run.graphs = graph_mode::frame;
  };
  settings_places places;
  places.section = in_file(2);
  EXPECT_THAT(said(serial_frames, places), StartsWith("p.yaml:2:1: error: strategy: serial makes"));
  places.each["graphs"] = in_file(3);
  EXPECT_THAT(said(serial_frames, places), StartsWith("p.yaml:3:1: error: strategy: serial makes"));
  places.each["strategy"] = option("--strategy serial");
  EXPECT_THAT(said(serial_frames, places),
              StartsWith("--strategy serial: error: strategy: serial"));
  places.unread.insert("timing");
  EXPECT_EQ(said(serial_frames, places), "") << "one of them may be another once it can be read";
}

TEST(settings, warn_where_a_queue_was_written_that_no_frame_can_wait_in) {
  settings_places places;
  const auto queue = [](settings& run) { run.queue = 4; };
  EXPECT_EQ(said(queue, places), "");
  places.each["queue"] = in_file(3);
  places.each["when_full"] = option("--when-full block");
  const std::string text = said(queue, places);
  EXPECT_THAT(text,
              HasSubstr("p.yaml:3:1: warning: queue: 4 changes nothing with arrival: closed"));
  EXPECT_THAT(text, HasSubstr("--when-full block: warning: when_full: block changes"));
  EXPECT_EQ(said([](settings& run) { run.arrival = arrival::constant, run.rate = 30; }, places),
            "");
}

TEST(settings, warn_of_a_file_of_arrivals_that_no_frame_follows) {
  settings_places places;
  places.each["arrival_file"] = in_file(3);
  const auto with = [&](arrival how) {
    return said([&](settings& run) { run.arrival = how, run.rate = 30, run.arrival_file = "a"; },
                places);
  };
  EXPECT_THAT(
      with(arrival::constant),
      StartsWith("p.yaml:3:1: warning: arrival_file changes nothing with arrival: constant; "
                 "use arrival: trace, or leave out arrival_file"));
  EXPECT_EQ(with(arrival::trace), "");
  const std::string closed = said([](settings& run) { run.arrival_file = "a"; }, places);
  EXPECT_THAT(closed, StartsWith("p.yaml:3:1: warning: arrival_file: a changes nothing with "
                                 "arrival: closed"));
}

TEST(settings, warn_where_workers_were_written_that_run_no_stage) {
  settings_places places;
  places.each["workers"] = in_file(3);
  const auto two = [&](strategy how, graph_mode graphs) {
    return said([=](settings& run) { run.workers = 2, run.strategy = how, run.graphs = graphs; },
                places);
  };
  EXPECT_EQ(two(strategy::overlap, graph_mode::stage), "");
  EXPECT_EQ(two(strategy::overlap, graph_mode::off), "");
  for (const strategy how : {strategy::serial, strategy::async}) {
    EXPECT_THAT(two(how, graph_mode::stage),
                StartsWith("p.yaml:3:1: warning: workers: 2 changes nothing with strategy: "));
  }
  EXPECT_THAT(two(strategy::overlap, graph_mode::frame),
              StartsWith("p.yaml:3:1: warning: workers: 2 changes nothing with graphs: frame"));
  EXPECT_EQ(said([](settings& run) { run.workers = 0; }, places), "");
}

TEST(planner, checks_settings_too) {
  spec_builder b;
  b.input("x", {4}).stage("a", "gpu", {"x"});
  EXPECT_THAT(errors_of(b), IsEmpty());
  b.spec.run.strategy = strategy::serial;
  b.spec.run.in_flight = 2;
  EXPECT_THAT(errors_of(b), ElementsAre(HasSubstr("strategy: serial")));
}

}  // namespace
}  // namespace graphline::plan_testing
