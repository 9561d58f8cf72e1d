#include "framework/analysis/experiment/experiment_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/analysis/made_experiments.hpp"

namespace graphline {
namespace {

using samples::findings;
using samples::for_runs_of;
using samples::made_experiment;
using samples::made_of;
using samples::two_strategies;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(output_findings, say_that_all_configurations_computed_the_same) {
  EXPECT_THAT(findings(two_strategies()),
              Contains("all configurations computed the same outputs: score 00c0ffee00c0ffee (last "
                       "frame of 6 runs)"));
}

TEST(output_findings, say_by_how_much_outputs_differ_and_from_which) {
  auto record = two_strategies();
  for_runs_of(record, 0, [](run_record& run) { run.outputs.front().values = {0.5}; });
  for_runs_of(record, 1, [](run_record& run) {
    run.outputs.front().checksum = "1";
    run.outputs.front().values = {0.501};
  });
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("outputs of strategy=async differ from those of strategy=serial: "
                             "'score' by 0.001 at most in its values, 0.002 of the largest"));
  EXPECT_THAT(said, Each(Not(HasSubstr("computed the same"))));
}

TEST(output_findings, name_configurations_that_agree_with_each_other_together) {
  auto record = made_experiment("e",
                                {made_of({{"graphs", "off"}}), made_of({{"graphs", "stage"}}),
                                 made_of({{"graphs", "frame"}})},
                                3);
  for_runs_of(record, 0, [](run_record& run) { run.outputs.front().checksum = "1"; });
  EXPECT_THAT(
      findings(record),
      Contains(StartsWith("outputs of graphs=stage and graphs=frame differ from those of "
                          "graphs=off: 'score' by its checksum, though not in its values")));
}

TEST(output_findings, say_that_shapes_cannot_be_compared) {
  auto record = made_experiment("e", {made_of({{"batch", "1"}}), made_of({{"batch", "4"}})}, 3);
  for_runs_of(record, 1, [](run_record& run) {
    run.outputs.front().type.shape = {4, 1};
    run.outputs.front().checksum = "1";
  });
  EXPECT_THAT(findings(record),
              Contains("outputs of batch=4 cannot be compared with those of batch=1: 'score' is "
                       "float32 [1, 1] there, float32 [4, 1] here"));
}

TEST(output_findings, miss_no_output_that_only_the_baseline_has) {
  auto record = two_strategies();
  for_runs_of(record, 0, [](run_record& run) {
    run.outputs.push_back(run.outputs.front());
    run.outputs.back().tensor = "mask";
  });
  const auto other =
      "outputs of strategy=async cannot be compared with those of strategy=serial, "
      "which has 'mask' besides";
  EXPECT_THAT(findings(record), Contains(other));
  EXPECT_THAT(findings(record), Each(Not(HasSubstr("computed the same"))));
  for_runs_of(record, 1, [](run_record& run) { run.outputs.clear(); });
  EXPECT_THAT(findings(record), Contains(HasSubstr("which has 'score' besides")));
}

TEST(output_findings, do_not_compare_different_last_frames) {
  auto record = two_strategies();
  for_runs_of(record, 1, [](run_record& run) {
    run.outputs.front().checksum = "1";
    run.run.warmup = 7;
  });
  EXPECT_THAT(findings(record), Contains(HasSubstr("frame 25 was the last there, frame 27 here")));
  for_runs_of(record, 1, [](run_record& run) { run.load.dropped = {1}; });
  EXPECT_THAT(findings(record), Contains(HasSubstr("frames were dropped")));
}

TEST(output_findings, tell_of_a_configuration_whose_trials_differ) {
  auto record = two_strategies();
  record.trials.back().members.front().outputs.front().checksum = "1";
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("outputs of strategy=async differ from trial to trial: 'score' has "
                             "several checksums"));
  EXPECT_THAT(said, Each(Not(HasSubstr("computed the same"))));
}

TEST(output_findings, tell_of_values_that_are_not_finite) {
  auto record = two_strategies();
  for_runs_of(record, 1, [](run_record& run) {
    run.outputs.front().finite = false;
    run.outputs.front().checksum = "1";
    run.outputs.front().values = {std::numeric_limits<double>::quiet_NaN()};
  });
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("'score' holds NaN or infinity with strategy=async"));
  EXPECT_THAT(said, Contains(HasSubstr("'score' by its checksum")));
}

TEST(output_findings, know_configurations_that_agree_with_their_own_baseline_only) {
  auto record = made_experiment(
      "e",
      {made_of({{"batch", "1"}, {"wait", "block"}}), made_of({{"batch", "1"}, {"wait", "yield"}}),
       made_of({{"batch", "4"}, {"wait", "block"}}), made_of({{"batch", "4"}, {"wait", "yield"}})},
      3);
  record.pairs = {{{1, 0}, {0, 0}}, {{3, 0}, {2, 0}}};
  for (const std::size_t c : {2, 3}) {
    for_runs_of(record, c, [](run_record& run) { run.outputs.front().type.shape = {4, 1}; });
  }
  EXPECT_THAT(findings(record), Contains("every configuration computed the same outputs as its "
                                         "baseline (last frame of 12 runs)"));
}

}  // namespace
}  // namespace graphline
