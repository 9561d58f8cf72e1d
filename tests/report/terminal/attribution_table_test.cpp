#include "framework/report/terminal/attribution_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/terminal/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"

namespace graphline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double one_ms = 1e6;

attribution_summary made_summary() {
  attribution_summary s;
  s.rows = {{spent::queue_wait, {}, 2 * one_ms, 1 * one_ms, 30 * one_ms},
            {spent::launch, 0, 0.02 * one_ms, 0.02 * one_ms, 0.02 * one_ms},
            {spent::stream_wait, 0, 0.03 * one_ms, 0.01 * one_ms, 0.05 * one_ms},
            {spent::device, 0, 70 * one_ms, 70 * one_ms, 71 * one_ms},
            {spent::thread_wait, 1, 0, 0, 3 * one_ms},
            {spent::turn_wait, 1, 1 * one_ms, 1 * one_ms, 1 * one_ms},
            {spent::cpu, 1, 16 * one_ms, 16 * one_ms, 15.93 * one_ms},
            {spent::copy, 2, 0.95 * one_ms, 0.97 * one_ms, 1 * one_ms},
            {spent::unnoticed, {}, 1 * one_ms, 1 * one_ms, 2 * one_ms}};
  s.end_to_end = {91 * one_ms, 90 * one_ms, 124 * one_ms};
  s.typical_frames = {4, 5, 6};
  s.slowest_frames = {9};
  s.median_frame = 5;
  return s;
}

TEST(attribution_table, shows_what_a_slow_frame_has_more_and_puts_small_rows_together) {
  samples::expect_golden(
      "attribution.txt",
      attribution_table(samples::two_models(timing_method::event, 10), made_summary()));
}

TEST(attribution_table, sets_nothing_against_frames_too_few_for_a_typical_one) {
  auto summary = made_summary();
  summary.typical_frames = summary.slowest_frames = {0};
  for (const std::size_t frames : {1, 2, 4}) {
    const auto text = attribution_table(samples::two_models(timing_method::event, frames), summary);
    EXPECT_THAT(text, HasSubstr("\nstage (ms)  goes to           mean\n"
                                "the frame   queue wait       2.00\n"));
    EXPECT_THAT(text, AllOf(Not(HasSubstr("typical")), Not(HasSubstr("slowest")))) << frames;
  }
  EXPECT_THAT(attribution_table(samples::two_models(timing_method::event, 5), summary),
              HasSubstr("typical: the"));
}

TEST(attribution_table, tells_the_residual_where_there_is_one) {
  const auto record = samples::two_models(timing_method::event, 10);
  auto summary = made_summary();
  EXPECT_THAT(attribution_table(record, summary), Not(HasSubstr("residual")));
  summary.residual = {-1'000, 0, 0};
  summary.largest_residual = 10'000;
  EXPECT_THAT(attribution_table(record, summary),
              HasSubstr("residual: rows overlap by up to 10.0 us in a frame"));
}

TEST(attribution_table, takes_no_parts_of_nothing) {
  auto summary = made_summary();
  summary.end_to_end.slowest = summary.end_to_end.typical;
  const auto text = attribution_table(samples::two_models(timing_method::event, 10), summary);
  EXPECT_THAT(
      text, HasSubstr("\nthe frame   queue wait       2.00     1.00    30.0    +29.0         -\n"));
  EXPECT_THAT(text, HasSubstr("  0           -\n"));
  // Parts of next to nothing would be thousands of percent.
  summary.end_to_end.slowest = 1.005 * summary.end_to_end.typical;
  EXPECT_THAT(
      attribution_table(samples::two_models(timing_method::event, 10), summary),
      HasSubstr("\nthe frame   queue wait       2.00     1.00    30.0    +29.0         -\n"));
}

TEST(attribution_table, keeps_stage_and_what_it_does_together_where_it_goes_on_below_itself) {
  const auto text = attribution_table(samples::two_models(timing_method::event, 10), made_summary(),
                                      {.width = 40});
  EXPECT_LE(widest_line(text), 40U) << text;
  EXPECT_THAT(text, HasSubstr("\nstage (ms)  goes to         slowest"));
}

TEST(attribution_table, lets_no_control_character_of_a_name_through) {
  auto record = samples::two_models(timing_method::event, 10);
  record.stages[0].name = "back\nbone\x1b[31m";
  EXPECT_THAT(attribution_table(record, made_summary()),
              AllOf(HasSubstr("back?bone?[31m"), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace graphline
