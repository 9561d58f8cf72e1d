#include "framework/analysis/experiment/overhead_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> overhead_findings(const overhead_record& record) {
  return findings_of(summarize(record));
}

TEST(findings, say_that_sync_lengthens_the_path_and_why) {
  const auto said = overhead_findings(samples::two_models_overhead(8));
  EXPECT_THAT(said, Contains(AllOf(StartsWith("sync lengthens the path by +15.998 ms (+21.6 %)"),
                                   HasSubstr("95 % interval"))));
  EXPECT_THAT(said, Contains(AllOf(HasSubstr("add up to 86.4 ms"), HasSubstr("takes 74.0 ms"))));
}

TEST(findings, do_not_speak_of_overlap_where_there_was_none) {
  samples::frame_times serial;
  serial.end_to_end = 87'000'000;
  samples::frame_times slower = serial;
  slower.end_to_end = 90'000'000;
  const auto said = overhead_findings(samples::overhead_of(8, {serial, serial, slower, serial}));
  EXPECT_THAT(said, Contains(StartsWith("sync lengthens the path by +")));
  EXPECT_THAT(said, Each(Not(HasSubstr("overlapped"))));
}

TEST(findings, call_a_cost_invisible_when_its_interval_includes_zero) {
  EXPECT_THAT(overhead_findings(samples::two_models_overhead(8)),
              Contains(AllOf(StartsWith("event: "), HasSubstr("no cost visible"))));
}

TEST(findings, give_no_sign_to_what_rounds_to_nothing) {
  const auto said = overhead_findings(samples::overhead_of(8, {{{}, {}, {}, {}}}));
  EXPECT_THAT(said, Contains(HasSubstr("no cost visible")));
  EXPECT_THAT(said, Each(Not(ContainsRegex("[+-]0(\\.0+)? "))));
}

TEST(findings, tell_the_launch_from_the_stage) {
  const auto said = overhead_findings(samples::two_models_overhead(8));
  EXPECT_THAT(said, Contains("host reports 21.0 us for backbone: the time to launch it, not the "
                             "70.0 ms it takes (event)"));
  EXPECT_THAT(said, Each(Not(HasSubstr("for noise"))));
}

TEST(findings, say_whether_sync_and_event_agree) {
  EXPECT_THAT(overhead_findings(samples::two_models_overhead(8)),
              Contains(HasSubstr("agree on every device stage to within 2 %")));
  samples::frame_times slower;
  slower.head *= 2;
  const auto said = overhead_findings(samples::overhead_of(8, {{{}, {}, slower, {}}}));
  EXPECT_THAT(said, Contains("sync and event differ most on head: 800 us by sync, 400 us by event "
                             "(100.0 %)"));
}

TEST(findings, tell_large_differences_in_times) {
  samples::frame_times slower;
  slower.head *= 534;
  slower.end_to_end *= 11;
  const auto said = overhead_findings(samples::overhead_of(8, {{{}, {}, slower, {}}}));
  EXPECT_THAT(said, Contains("sync and event differ most on head: 214 ms by sync, 400 us by event "
                             "(534 times as long)"));
  EXPECT_THAT(said, Contains(AllOf(StartsWith("sync lengthens the path by +"),
                                   HasSubstr(" (11.0 times as long), 95 % interval"))));
}

TEST(findings, give_no_verdict_on_too_few_blocks) {
  const auto said = overhead_findings(samples::two_models_overhead(3));
  EXPECT_THAT(said, Contains(AllOf(StartsWith("sync: +16.0 ms"),
                                   HasSubstr("3 complete blocks: no interval and no verdict"))));
  EXPECT_THAT(said, Each(Not(HasSubstr("lengthens"))));
}

TEST(findings, do_not_call_a_method_faster_than_none_a_gain) {
  samples::frame_times faster;
  faster.end_to_end = 70'000'000;
  EXPECT_THAT(overhead_findings(samples::overhead_of(8, {{{}, {}, {}, faster}})),
              Contains(AllOf(StartsWith("event: -4.00"), HasSubstr("shorter than untimed"))));
}

TEST(findings, are_none_without_data) {
  EXPECT_THAT(overhead_findings({}), IsEmpty());
}

}  // namespace
}  // namespace graphline
