#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/analysis/roofline/roofline.hpp"
#include "tests/analysis/made_calibration.hpp"
#include "tests/analysis/made_roofline.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::five_times;
using samples::in_two_parts;
using samples::made_run;
using samples::ms;
using samples::one_after_another;
using samples::round_calibration;
using samples::us;
using samples::work;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> findings(const made_run& made, const run_record* layers = nullptr) {
  return roofline_findings(made.record, *hold_against_roofline(made.record, layers));
}

TEST(roofline_findings, name_first_what_has_most_to_gain) {
  auto made = one_after_another({{"product", 200 * ms}, {"copy in", 20 * ms}, {"tail", 1 * ms}});
  made.record.stages[0].cost = work(122'880'000, 250'000'000);
  made.record.stages[1].cost = work(0, 5'000'000'000);
  made.record.stages[2].cost = work(0, 10'000'000);
  EXPECT_THAT(
      findings(made),
      ElementsAre("look at 'product' first: 200 ms where its memory bound is 250 us, 800 times as "
                  "long; that is 90 % of the path",
                  "then at 'copy in': 20.0 ms where its memory bound is 5.00 ms, 4.00 times as "
                  "long; that is 9 % of the path"));
}

TEST(roofline_findings, name_the_part_that_most_of_it_is_in) {
  const auto made = in_two_parts();
  auto layers = made.record;
  layers.stages[0].parts[0].device = five_times(410 * us);
  layers.stages[0].parts[1].device = five_times(590 * us);
  EXPECT_THAT(findings(made, &layers),
              Contains(AllOf(
                  StartsWith("look at 'net' first"),
                  HasSubstr("most of what its parts take above their floors is in '1.gelu': 590 us "
                            "where its memory bound is 100 us"))));
}

TEST(roofline_findings, say_where_the_times_of_parts_are_of_another_run) {
  const auto made = in_two_parts();  // 1 ms
  auto layers = made.record;
  const auto parts_take = [&](nanoseconds first, nanoseconds second) {
    layers.stages[0].parts[0].device = five_times(first);
    layers.stages[0].parts[1].device = five_times(second);
    return findings(made, &layers);
  };
  EXPECT_THAT(parts_take(410 * us, 290 * us),
              Contains(StartsWith("'net' took 1.00 ms, but its parts 700 us together when they "
                                  "were timed: one of the two runs had other clocks")));
  EXPECT_THAT(parts_take(810 * us, 690 * us),
              Contains(StartsWith("'net' took 1.00 ms, but its parts 1.50 ms together when they "
                                  "were timed: timing them costs that much")));
  EXPECT_THAT(parts_take(410 * us, 690 * us), Not(Contains(HasSubstr("together"))));
}

TEST(roofline_findings, say_where_better_code_would_not_help) {
  auto made = one_after_another({{"x", 1100 * us}});
  made.record.stages[0].cost = work(0, 1'000'000'000);
  EXPECT_THAT(findings(made),
              ElementsAre("within 1.10 times of its floor: 'x'; to be faster takes less work or "
                          "another precision, not better code"));
}

TEST(roofline_findings, leave_what_beats_its_floor_out_of_what_is_near_it) {
  auto made = one_after_another({{"x", 1100 * us}, {"y", 1100 * us}, {"z", 1100 * us}});
  made.record.stages[0].cost = made.record.stages[1].cost = work(0, 1'000'000'000);
  made.record.stages[2].cost = work(0, 10'000'000'000);
  EXPECT_THAT(findings(made),
              Contains(StartsWith("within 1.10 times of their floor: 'x' and 'y'; ")));
}

TEST(roofline_findings, say_what_is_bound_by_launches) {
  auto made = one_after_another({{"small", 40 * us}});
  made.record.stages[0].cost = work(1'000, 1'000'000);
  EXPECT_THAT(findings(made), Contains(HasSubstr("'small' is bound by launches: its least time of "
                                                 "1.00 us is below the 5.00 us")));
  made.record.stages[0].cost = work(1'000, 6'000'000);
  EXPECT_THAT(findings(made), Not(Contains(HasSubstr("launches"))));
}

TEST(roofline_findings, explain_what_is_faster_than_its_floor) {
  const auto of = [](cost_record cost, nanoseconds measured) {
    auto made = one_after_another({{"x", measured}});
    made.record.stages[0].cost = cost;
    return findings(made);
  };
  EXPECT_THAT(of(work(0, 3'000'000), 2 * us),
              ElementsAre("'x' took 2.00 us, less than its floor of 3.00 us: its 3.00 MB may stay "
                          "in a cache, where the calibrated bandwidth of memory does not count"));
  EXPECT_THAT(of(work(0, 3'000'000'000), 2 * ms),
              ElementsAre(HasSubstr("it moves fewer bytes than are counted, or the calibration was "
                                    "made beside other work")));
  EXPECT_THAT(of(work(100'000'000'000, 1'000), 1 * ms), ElementsAre(HasSubstr("Winograd")));
}

TEST(roofline_findings, tell_copies_of_a_processor_from_those_over_a_bus) {
  for (const char* backend : {"host", "cuda"}) {
    auto made = one_after_another({{"copy", 2 * us}});
    made.record.device.backend = backend;
    made.record.stages[0].copy = true;
    made.record.stages[0].cost = {0, 1'000'000, 1'000'000};
    made.record.tensors = {{"x", {}, side::cpu, std::nullopt, {0}}};
    EXPECT_THAT(findings(made), ElementsAre(HasSubstr(backend == std::string("host")
                                                          ? "its 2.00 MB may stay in a cache"
                                                          : "it moves fewer bytes")));
  }
}

TEST(roofline_findings, name_together_what_is_faster_than_its_floor_for_one_reason) {
  const auto made = in_two_parts();
  auto layers = made.record;
  layers.stages[0].parts[0].device = five_times(300 * us);
  layers.stages[0].parts[1].device = five_times(50 * us);
  EXPECT_THAT(findings(made, &layers), Contains(StartsWith("'0.conv2d' of 'net' took 300 us")));

  auto many = one_after_another({{"a", us}, {"b", us}, {"c", us}, {"d", us}, {"e", us}, {"f", us}});
  for (auto& stage : many.record.stages) stage.cost = work(0, 10'000'000);
  EXPECT_THAT(findings(many), ElementsAre(AllOf(StartsWith("'a' took 1.00 us"),
                                                HasSubstr("; so did 'b', 'c', 'd' and 2 more"))));
}

TEST(roofline_findings, say_why_the_calibration_may_no_longer_hold) {
  auto made = one_after_another({{"x", 1 * ms}});
  made.record.calibration->stale = {"oneDNN was 2.6.2, is 2.6.3", "it is 91 days old"};
  EXPECT_THAT(findings(made), Contains("the calibration may no longer hold: oneDNN was 2.6.2, is "
                                       "2.6.3; it is 91 days old; 'graphline calibrate' measures "
                                       "anew"));
}

TEST(roofline_findings, say_which_precision_was_not_calibrated) {
  auto made = one_after_another({{"x", 1 * ms}, {"y", 1 * ms}});
  made.record.stages[0].cost = work(1'000, 1'000, precision::tf32);
  made.record.stages[1].cost = work(1'000, 1'000, precision::tf32);
  EXPECT_THAT(findings(made),
              Contains("no rate of tf32 was calibrated, so 'x' and 'y' have no floor"));
}

TEST(roofline_findings, pass_on_that_the_calibration_was_noisy) {
  auto made = one_after_another({{"x", 1 * ms}});
  made.record.stages[0].cost = work(0, 1'000'000'000);
  auto& ceilings = made.record.calibration->ceilings;
  ceilings[0].worst =
      0.8 * ceilings[0].value;  // read, a quarter longer; 1.05 times as fast at best
  ceilings.back().worst = 9 * ceilings.back().value;  // a cost of the host
  EXPECT_THAT(findings(made),
              Contains("the machine was busy when it was calibrated: times spread by more than 10 "
                       "%: memory, read (30 %); 'graphline calibrate' measures anew"));
}

TEST(roofline_findings, say_that_most_of_a_frame_is_not_the_devices) {
  auto made = made_run(strategy::async, timing_method::event)
                  .device_stage("x")
                  .cpu_stage("after", {{0, satisfied_by::completion}});
  made.frame(0, 10 * ms).launch(0, 0, 0).device(0, 0, 1 * ms).cpu(1, 1 * ms, 10 * ms);
  made.record.stages[0].cost = work(0, 1'000'000'000);
  made.record.calibration = round_calibration();
  EXPECT_THAT(findings(made), Contains(StartsWith("device stages are 10 % of the path")));
}

}  // namespace
}  // namespace graphline
