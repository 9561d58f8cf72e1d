#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_experiments.hpp"

namespace graphline {
namespace {

using samples::frame_times;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Findings for none, host, sync and event. Frame times are those in `times` plus up to 0.1 %
/// shared by all methods of a block and 0.01 % of independent variation.
std::vector<std::string> findings_on(std::size_t blocks, const std::array<frame_times, 4>& times) {
  constexpr timing_method methods[] = {timing_method::none, timing_method::host,
                                       timing_method::sync, timing_method::event};
  experiment_record record;
  for (std::size_t m = 0; m < times.size(); ++m) {
    const std::string word(to_word(methods[m]));
    record.configurations.push_back({"timing=" + word, {{"timing", word}}, {"two_models"}});
    if (m > 0) record.pairs.push_back({{m, 0}, {0, 0}});
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t m = 0; m < times.size(); ++m) {
      auto frame = times[m];
      const double drift =
          1 + 1e-3 * samples::wobble(6, block) + 1e-4 * samples::wobble(7, 10 * block + m);
      frame.end_to_end = samples::scaled(frame.end_to_end, drift);
      const std::vector<frame_times> frames(5, frame);
      record.trials.push_back({m, block, 0, {samples::run_of(methods[m], frames)}});
    }
  }
  return samples::findings(record, summarize(record));
}

/// `sync` serializes 16 ms of CPU work; `event` costs almost nothing.
std::vector<std::string> findings_on_two_models(std::size_t blocks) {
  frame_times serial;
  serial.end_to_end = 90'000'000;
  return findings_on(blocks, {{{}, {}, serial, {}}});
}

TEST(timing_findings, report_that_sync_lengthens_the_path_and_why) {
  const auto said = findings_on_two_models(8);
  EXPECT_THAT(said, Contains(StartsWith("timing_adds_time method=sync cost=16.0 ms change=+21.6 % "
                                        "low=1")));
  EXPECT_THAT(said, Contains("sync_serializes_overlap stages=86.4 ms untimed=74.0 ms"));
}

TEST(timing_findings, do_not_mention_overlap_if_there_was_none) {
  frame_times serial;
  serial.end_to_end = 87'000'000;
  frame_times slower = serial;
  slower.end_to_end = 90'000'000;
  const auto said = findings_on(8, {serial, serial, slower, serial});
  EXPECT_THAT(said, Contains(StartsWith("timing_adds_time method=sync")));
  EXPECT_THAT(said, Each(Not(StartsWith("sync_serializes"))));
}

TEST(timing_findings, call_a_cost_invisible_when_its_interval_includes_zero) {
  EXPECT_THAT(findings_on_two_models(8),
              Contains(StartsWith("timing_cost_not_visible method=event")));
}

TEST(timing_findings, give_no_sign_to_rounded_zeros) {
  const auto said = findings_on(8, {{{}, {}, {}, {}}});
  EXPECT_THAT(said, Contains(StartsWith("timing_cost_not_visible")));
  EXPECT_THAT(said, Each(Not(ContainsRegex("[+-]0(\\.0+)? "))));
}

TEST(timing_findings, separate_launch_and_stage_times) {
  const auto said = findings_on_two_models(8);
  EXPECT_THAT(said, Contains("host_times_launch(backbone) launch=21.0 us time=70.0 ms "
                             "method=event"));
  EXPECT_THAT(said, Each(Not(HasSubstr("(noise)"))));
}

TEST(timing_findings, report_large_differences) {
  frame_times slower;
  slower.end_to_end *= 11;
  EXPECT_THAT(findings_on(8, {{{}, {}, slower, {}}}),
              Contains(StartsWith("timing_adds_time method=sync cost=740 ms change=+1000 %")));
}

TEST(timing_findings, give_no_verdict_on_too_few_blocks) {
  const auto said = findings_on_two_models(3);
  EXPECT_THAT(said, Contains("timing_cost_of_few_blocks method=sync cost=16.0 ms change=+21.6 % "
                             "blocks=3 needed=5"));
  EXPECT_THAT(said, Each(Not(StartsWith("timing_adds_time"))));
}

TEST(timing_findings, do_not_call_a_method_faster_than_none_a_gain) {
  frame_times faster;
  faster.end_to_end = 70'000'000;
  EXPECT_THAT(
      findings_on(8, {{{}, {}, {}, faster}}),
      Contains(StartsWith("timing_shortens_frame method=event cost=-4.00 ms change=-5.40 %")));
}

TEST(timing_findings, are_none_if_anything_else_varies) {
  std::vector<samples::made_configuration> grid;
  for (const char* depth : {"1", "2"}) {
    for (const auto method : {timing_method::none, timing_method::sync}) {
      grid.push_back(
          samples::made_of({{"timing", std::string(to_word(method))}, {"in_flight", depth}}));
      grid.back().timing = method;
    }
  }
  auto record = samples::made_experiment("grid", grid, 6);
  record.pairs = {{{1, 0}, {0, 0}}, {{3, 0}, {2, 0}}};
  EXPECT_THAT(samples::findings(record, summarize(record)), Each(Not(HasSubstr("sync"))));
}

}  // namespace
}  // namespace graphline
