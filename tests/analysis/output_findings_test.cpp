#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/analysis/finding_texts.hpp"
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

TEST(output_findings, report_equal_outputs) {
  EXPECT_THAT(findings(two_strategies()), Contains("same_outputs runs=6"));
}

TEST(output_findings, report_the_difference_and_the_reference) {
  auto record = two_strategies();
  for_runs_of(record, 0, [](run_record& run) { run.outputs.front().values = {0.5}; });
  for_runs_of(record, 1, [](run_record& run) {
    run.outputs.front().checksum = "1";
    run.outputs.front().values = {0.501};
  });
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("values_differ(strategy=async) tensor=score compared=its values "
                             "largest=0.001 relative=0.002 reference=strategy=serial "
                             "configurations=strategy=async"));
  EXPECT_THAT(said, Each(Not(StartsWith("same_outputs"))));
}

TEST(output_findings, merge_configurations_with_equal_differences) {
  auto record = made_experiment("e",
                                {made_of({{"graphs", "off"}}), made_of({{"graphs", "stage"}}),
                                 made_of({{"graphs", "frame"}})},
                                3);
  for_runs_of(record, 0, [](run_record& run) { run.outputs.front().checksum = "1"; });
  EXPECT_THAT(
      findings(record),
      Contains("checksums_differ(graphs=stage, graphs=frame) tensor=score compared=its values "
               "reference=graphs=off configurations=graphs=stage and graphs=frame"));
}

TEST(output_findings, compare_the_rows_of_outputs) {
  const auto said_of = [](std::optional<std::int64_t> rows, std::optional<std::int64_t> reference) {
    auto record = two_strategies();
    for_runs_of(record, 0, [&](run_record& run) { run.outputs.front().rows = reference; });
    for_runs_of(record, 1, [&](run_record& run) {
      run.outputs.front().rows = rows;
      if (rows == 0) run.outputs.front().checksum = "stale";
    });
    return findings(record);
  };
  EXPECT_THAT(said_of(2, 2), Contains("same_outputs runs=6"));
  EXPECT_THAT(said_of(0, 0), Contains("same_outputs runs=6"));
  EXPECT_THAT(said_of(0, 2), Contains("rows_differ(strategy=async) tensor=score rows=0 "
                                      "reference_rows=2 reference=strategy=serial "
                                      "configurations=strategy=async"));
  EXPECT_THAT(said_of(2, {}), Contains(StartsWith("outputs_not_comparable(strategy=async) "
                                                  "why=only one has rows in 'score'")));
}

TEST(output_findings, do_not_compare_different_shapes) {
  auto record = made_experiment("e", {made_of({{"batch", "1"}}), made_of({{"batch", "4"}})}, 3);
  for_runs_of(record, 1, [](run_record& run) {
    run.outputs.front().type.shape = {4, 1};
    run.outputs.front().checksum = "1";
  });
  EXPECT_THAT(findings(record),
              Contains(StartsWith("outputs_not_comparable(batch=4) why=not both have an output "
                                  "'score' of one type reference=batch=1")));
}

TEST(output_findings, miss_no_output_that_only_the_baseline_has) {
  auto record = two_strategies();
  for_runs_of(record, 0, [](run_record& run) {
    run.outputs.push_back(run.outputs.front());
    run.outputs.back().tensor = "mask";
  });
  EXPECT_THAT(
      findings(record),
      Contains(StartsWith("outputs_not_comparable(strategy=async) why=not both have an output "
                          "'mask' of one type reference=strategy=serial")));
  EXPECT_THAT(findings(record), Each(Not(StartsWith("same_outputs"))));
  for_runs_of(record, 1, [](run_record& run) { run.outputs.clear(); });
  EXPECT_THAT(findings(record), Contains(HasSubstr("why=not both have an output 'score'")));
  for_runs_of(record, 1, [](run_record& run) { run.load.cut_short = 1; });
  EXPECT_THAT(findings(record), Contains(HasSubstr("why=the last frames of one were cut short")));
}

TEST(output_findings, do_not_compare_different_last_frames) {
  auto record = two_strategies();
  for_runs_of(record, 1, [](run_record& run) {
    run.outputs.front().checksum = "1";
    run.run.warmup = 7;
  });
  EXPECT_THAT(findings(record), Contains(HasSubstr("did not end with the same frame")));
  for_runs_of(record, 1, [](run_record& run) { run.load.dropped = {1}; });
  EXPECT_THAT(findings(record), Contains(HasSubstr("did not end with the same frame")));
}

TEST(output_findings, report_a_configuration_whose_trials_differ) {
  auto record = two_strategies();
  record.trials.back().members.front().outputs.front().checksum = "1";
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("outputs_vary(strategy=async) tensor=score "
                             "configurations=strategy=async"));
  EXPECT_THAT(said, Each(Not(StartsWith("same_outputs"))));
}

TEST(output_findings, report_values_that_are_not_finite) {
  auto record = two_strategies();
  for_runs_of(record, 1, [](run_record& run) {
    run.outputs.front().finite = false;
    run.outputs.front().checksum = "1";
    run.outputs.front().values = {std::numeric_limits<double>::quiet_NaN()};
  });
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("not_finite(strategy=async) tensor=score "
                             "configurations=strategy=async"));
  EXPECT_THAT(said, Contains(StartsWith("checksums_differ(strategy=async) tensor=score "
                                        "reference=")));
}

TEST(output_findings, compare_each_configuration_with_its_own_baseline) {
  auto record = made_experiment(
      "e",
      {made_of({{"batch", "1"}, {"wait", "block"}}), made_of({{"batch", "1"}, {"wait", "yield"}}),
       made_of({{"batch", "4"}, {"wait", "block"}}), made_of({{"batch", "4"}, {"wait", "yield"}})},
      3);
  record.pairs = {{{1, 0}, {0, 0}}, {{3, 0}, {2, 0}}};
  for (const std::size_t c : {2, 3}) {
    for_runs_of(record, c, [](run_record& run) { run.outputs.front().type.shape = {4, 1}; });
  }
  EXPECT_THAT(findings(record), Contains("same_outputs runs=12"));
}

}  // namespace
}  // namespace graphline
