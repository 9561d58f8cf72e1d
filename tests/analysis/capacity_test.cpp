#include "framework/analysis/capacity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/analysis/capacity_findings.hpp"
#include "tests/analysis/simulated_queue.hpp"

namespace graphline {
namespace {

using samples::simulated_queue;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr simulated_queue one_millisecond{arrival::constant, 1e6, false};

capacity_settings within_5_ms() {
  capacity_settings how;
  how.bound = 5'000'000;
  how.frames = 240;
  return how;
}

capacity_run run_at(double rate, std::size_t probe = 0, std::int64_t frames = 240) {
  capacity_run run;
  run.probe = probe;
  run.rate = rate;
  run.record = one_millisecond.run(rate, frames, 1);
  return run;
}

probe_summary summary_of(const std::vector<capacity_run>& runs) {
  return summarize(std::span(runs), within_5_ms());
}

capacity_record record_of(const std::vector<capacity_run>& runs) {
  capacity_record record;
  record.how = within_5_ms();
  record.closed_loop = one_millisecond.run({}, 240, 1);
  record.runs = runs;
  return record;
}

TEST(capacity, of_a_rate_below_the_throughput_holds) {
  const auto probe = summary_of({run_at(900)});
  EXPECT_EQ(probe.verdict, bound_verdict::holds);
  EXPECT_EQ(probe.held, true);
  EXPECT_EQ(probe.times.frames, 216U);  // without the first tenth
  EXPECT_EQ(probe.times.p50, 1'000'000);
  EXPECT_EQ(probe.growing, 0U);
}

TEST(capacity, of_a_rate_far_above_it_fails) {
  const auto probe = summary_of({run_at(1200)});
  EXPECT_EQ(probe.verdict, bound_verdict::fails);
  EXPECT_EQ(probe.held, false);
  EXPECT_EQ(probe.growing, 1U);
}

TEST(capacity, of_a_queue_that_grows_is_open_after_one_run_and_fails_after_two) {
  // 1 % too fast: after 240 frames the last waits 2.4 ms, well within the bound.
  const auto once = summary_of({run_at(1010)});
  EXPECT_EQ(once.times.verdict, bound_verdict::holds);
  EXPECT_EQ(once.verdict, bound_verdict::open);
  EXPECT_EQ(once.held, false);
  const auto twice = summary_of({run_at(1010), run_at(1010)});
  EXPECT_EQ(twice.verdict, bound_verdict::fails);
}

TEST(capacity, counts_dropped_and_overdue_frames_as_late) {
  auto run = run_at(900);
  for (nanoseconds at = 100'000'000; at < 108'000'000; at += 1'000'000) {
    run.record.load.dropped.push_back(at);
  }
  run.overdue = 30;
  const auto probe = summary_of({run});
  EXPECT_EQ(probe.dropped, 8U);
  EXPECT_EQ(probe.times.frames, 216U + 8 + 30);
  EXPECT_EQ(probe.times.late, 38U);
  EXPECT_EQ(probe.held, false);
}

TEST(capacity, of_a_run_that_a_person_stopped_is_not_guessed) {
  auto run = run_at(900, 0, 50);
  run.record.interrupted = true;
  EXPECT_FALSE(summary_of({run}).held);
  run.cut_off = true;
  EXPECT_EQ(summary_of({run}).held, true);
}

TEST(capacity, is_the_highest_rate_that_held_with_the_lowest_that_did_not) {
  const auto summary =
      summarize(record_of({run_at(500, 0), run_at(700, 1), run_at(1200, 2), run_at(1400, 3)}));
  ASSERT_TRUE(summary.best && summary.worse);
  EXPECT_EQ(summary.probes[*summary.best].rate, 700);
  EXPECT_EQ(summary.probes[*summary.worse].rate, 1200);
  EXPECT_FALSE(summary.confirmed);
  EXPECT_NEAR(*summary.closed_loop, 1000, 1e-6);
}

TEST(capacity, believes_longer_runs_more_than_short_ones) {
  auto refuted = run_at(1200, 3);
  refuted.rate = 900;
  refuted.confirming = true;
  auto summary = summarize(record_of({run_at(500, 0), run_at(700, 1), run_at(900, 2), refuted}));
  ASSERT_TRUE(summary.best && summary.worse);
  EXPECT_EQ(summary.probes[*summary.best].rate, 700);
  EXPECT_EQ(summary.probes[*summary.worse].rate, 900);
  EXPECT_FALSE(summary.confirmed);

  auto confirmed = run_at(600, 4);
  confirmed.confirming = true;
  summary =
      summarize(record_of({run_at(500, 0), run_at(700, 1), run_at(900, 2), refuted, confirmed}));
  EXPECT_EQ(summary.probes[*summary.best].rate, 600);
  EXPECT_TRUE(summary.confirmed);
}

TEST(capacity, tells_frames_that_are_late_without_any_queue) {
  auto record = record_of({});
  record.how.bound = 900'000;
  const auto summary = summarize(record);
  EXPECT_EQ(summary.alone.frames, 240U);
  EXPECT_EQ(summary.alone.verdict, bound_verdict::fails);
  EXPECT_THAT(findings_of(summary, record.how),
              ElementsAre(AllOf(HasSubstr("no rate can keep p95 within 900 us"),
                                HasSubstr("it is 1.00 ms"), HasSubstr("240 of 240 frames late"))));
}

TEST(capacity, takes_frames_beside_others_for_no_measure_of_frames_alone) {
  auto record = record_of({});
  for (auto& frame : record.closed_loop.frames) frame.begin -= 500'000;
  EXPECT_EQ(summarize(record).alone.frames, 0U);
}

TEST(capacity, is_told_in_sentences) {
  auto confirmed = run_at(700, 2, 960);
  confirmed.confirming = true;
  auto record = record_of({run_at(700, 0), run_at(1200, 1), confirmed});
  record.runs[1].cut_off = true;
  const auto found = findings_of(summarize(record), record.how);
  EXPECT_THAT(found, Contains("at 700.0 frame/s, p95 is within 5.00 ms: 1.00 ms (95 % interval "
                              "1.00 ms to 1.00 ms); confirmed by runs of their own"));
  EXPECT_THAT(found, Contains("at 1200 frame/s it is not: frames came faster than they were done, "
                              "and the run was cut off"));
  EXPECT_THAT(found, Contains("this is 70 % of the 1000 frame/s of frames that are all due at "
                              "once"));
}

TEST(capacity, is_placed_between_rates_that_are_clear_where_those_about_it_are_not) {
  auto unclear = run_at(800, 2, 60);  // too few frames for p95
  const auto record = record_of({run_at(700, 0), run_at(1200, 1), unclear});
  const auto summary = summarize(record);
  EXPECT_EQ(summary.probes[*summary.best].rate, 800);
  EXPECT_EQ(summary.probes[*summary.best].verdict, bound_verdict::open);
  EXPECT_THAT(findings_of(summary, record.how),
              Contains(HasSubstr("the highest lies between 700.0 frame/s and 1200 frame/s")));
  EXPECT_THAT(findings_of(summary, record.how),
              Contains(HasSubstr("by the count alone: 0 of 54 frames late")));
}

capacity_run named_rate(capacity_run run, double rate) {
  run.rate = rate;
  return run;
}

TEST(capacity, tells_when_runs_contradict_each_other_and_what_is_left_with_all_of_them) {
  auto refuted = named_rate(run_at(1200, 3), 900);
  refuted.confirming = true;
  const auto told = [](const std::vector<capacity_run>& runs) {
    const auto record = record_of(runs);
    return findings_of(summarize(record), record.how);
  };
  // At one rate, with others above that held; the longer run does not make the others undone.
  auto found = told(
      {run_at(700, 0), run_at(900, 1), named_rate(run_at(900, 2), 950), refuted, run_at(1200, 4)});
  EXPECT_THAT(found, Contains("the runs contradict each other: it failed at 900.0 frame/s and held "
                              "at 950.0 frame/s; with all of them, the highest lies between 700.0 "
                              "frame/s and 1200 frame/s; more --frames bring these together"));
  EXPECT_THAT(found, Not(Contains(HasSubstr("with 95 % at each rate"))));
  EXPECT_THAT(told({run_at(700, 0), run_at(900, 1), refuted}),
              Contains(AllOf(HasSubstr("at 900.0 frame/s it held once and failed once"),
                             HasSubstr("the highest lies above 700.0 frame/s;"))));
  EXPECT_THAT(told({run_at(700, 0), run_at(900, 1), run_at(1200, 2)}),
              Not(Contains(HasSubstr("contradict"))));
}

TEST(capacity, of_nothing_says_so) {
  const auto summary = summarize(capacity_record{});
  EXPECT_FALSE(summary.best);
  EXPECT_FALSE(summary.closed_loop);
  EXPECT_THAT(findings_of(summary, {}), ElementsAre("no rate was judged"));
}

}  // namespace
}  // namespace graphline
