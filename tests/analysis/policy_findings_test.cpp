#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/analysis/run/policy_choices.hpp"
#include "framework/analysis/run/summary.hpp"
#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::add_comparison;
using samples::add_together;
using samples::figures_of;
using samples::findings;
using samples::for_runs_of;
using samples::made_experiment;
using samples::made_of;
using samples::ms;
using samples::taking;
using samples::two_models;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Stages backbone, noise and head under `deadline`, which decided nothing so far.
run_record with_policy(std::size_t frames) {
  auto record = two_models(timing_method::event, frames);
  record.run.strategy = strategy::overlap;
  record.run.policy = "deadline";
  for (auto& stage : record.stages) stage.preferred.assign(frames, 0);
  return record;
}

/// Returns what a run's findings say of the policy; empty if nothing.
std::string said_of(const run_record& record) {
  for (const auto& found : summarize(record).findings) {
    if (found.key.starts_with("policy")) return samples::texts_of({found}).front();
  }
  return "";
}

TEST(policy_findings, count_the_starts_that_a_run_decided) {
  auto record = with_policy(4);
  record.stages[1].preferred = {1, 0, 1, 3};  // two times 0, the backbone, and once 2, the head
  record.stages[2].preferred = {0, -1, 0, 0};
  EXPECT_EQ(
      said_of(record),
      "policy_decided policy=deadline decided=4 starts=12 first=noise second=backbone times=2");
  record.stages[1].preferred = {0, 0, 0, 0};
  EXPECT_EQ(said_of(record),
            "policy_decided policy=deadline decided=1 starts=12 first=head "
            "second=a stage of another pipeline times=1");
  record.stages[2].preferred = {0, 0, 0, 0};
  EXPECT_EQ(said_of(record), "policy_never_decided policy=deadline decided=0 starts=12");
  record.stages[0].preferred = {0, choice::held_back, 0, choice::held_back};
  EXPECT_EQ(said_of(record), "policy_decided policy=deadline decided=2 starts=12 held=2");
  record.stages[1].preferred = {1, 0, 0, 0};
  EXPECT_EQ(said_of(record),
            "policy_decided policy=deadline decided=3 starts=12 held=2 first=noise second=backbone "
            "times=1");
  for (auto& stage : record.stages) stage.preferred.clear();
  EXPECT_EQ(said_of(record), "");
}

TEST(policy_findings, do_not_count_skipped_stages) {
  auto record = with_policy(4);
  record.stages[1].preferred = {1, 0, 0, 0};
  record.stages[2].rows = {-1, 1, -1, 1};
  EXPECT_THAT(said_of(record), HasSubstr("decided=1 starts=10 "));
}

/// Configurations policy=oldest_frame and policy=deadline.
experiment_record two_policies() {
  auto record = made_experiment(
      "e",
      {made_of({{"policy", "oldest_frame"}}), made_of({{"policy", "deadline"}}, taking(60 * ms))},
      6);
  for_runs_of(record, 1, [](run_record& run) {
    run.run.policy = "deadline";
    for (auto& stage : run.stages) stage.preferred.assign(run.frames.size(), 0);
  });
  return record;
}

TEST(policy_findings, tell_of_experiments_where_policies_decided) {
  auto record = two_policies();
  EXPECT_THAT(findings(record), Contains("policies_never_decided [never_decided_in(policy=deadline)"
                                         " configurations=policy=deadline]"));
  for_runs_of(record, 1, [](run_record& run) { run.stages[1].preferred[3] = 1; });
  const auto said = findings(record);  // 6 trials of 20 frames and 3 stages
  EXPECT_THAT(said, Contains("policies_decided [decided_in(policy=deadline) policy=deadline "
                             "decided=6 starts=360 first=noise second=backbone times=6 "
                             "configurations=policy=deadline]"));
  EXPECT_THAT(said, Each(Not(StartsWith("policies_never"))));
}

TEST(policy_findings, tell_what_a_policy_gained) {
  auto record = two_policies();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.80, 0.82, verdict::faster, {}});
  EXPECT_THAT(findings(record, summary),
              Contains(AllOf(StartsWith("setting_took_effect setting=policy "
                                        "[effect_against(policy=deadline) verdict=faster "
                                        "percentile=p50 with=60.0 ms without=74.0 ms"),
                             HasSubstr("reference=oldest_frame"))));
  summary.comparisons.front().verdict = verdict::inconclusive;
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("setting_took_effect"))));
  summary.comparisons.front().verdict = verdict::faster;
  record.configurations[1].assignments.emplace_back("wait", "spin");
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("setting_took_effect"))));
}

TEST(policy_findings, tell_what_windows_and_streams_gained) {
  for (const bool window : {true, false}) {
    const char* const key = window ? "window" : "streams";
    auto record =
        made_experiment("e", {made_of({{key, "1"}}), made_of({{key, "2"}}, taking(60 * ms))}, 6);
    for (const std::size_t c : {0, 1}) {
      for_runs_of(record, c, [&](run_record& run) {
        const auto value = static_cast<std::int64_t>(c + 1);
        (window ? run.run.window : run.run.streams.at_most) = value;
      });
    }
    auto summary = figures_of(record);
    add_comparison(summary, record, {0, figure::p50, 0.80, 0.82, verdict::faster, {}});
    EXPECT_THAT(findings(record, summary),
                Contains(AllOf(StartsWith(fmt::format("setting_took_effect setting={} ", key)),
                               HasSubstr(" reference=1 "))));
  }
}

TEST(policy_findings, tell_of_priority_inversions) {
  auto record = two_policies();
  auto summary = figures_of(record);
  lower_rank_waits behind{.inversions = 3, .longest = 2 * ms, .bound = 5 * ms};
  summary.configurations[0].members[0].waits = {{"e", side::cpu, 20, {}, {}, behind}};
  EXPECT_THAT(findings(record, summary),
              Contains("priority_inversions [inversions_of(policy=oldest_frame) order=lower "
                       "priority times=3 longest=2.00 ms configurations=policy=oldest_frame]"));
  summary.configurations[0].members[0].waits[0].behind->bound = 1 * ms;
  EXPECT_THAT(findings(record, summary),
              Contains(AllOf(StartsWith("priority_inversions"), HasSubstr("bound=1.00 ms"))));
  summary.configurations[0].members[0].waits[0].behind->inversions = 0;
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("priority_inversions"))));
}

TEST(policy_findings, know_keys_of_one_member) {
  experiment_record record;
  const auto pipeline = made_of({}, taking(60 * ms));
  add_together(record, "camera.policy=fifo", {{"camera", pipeline}, {"batch", pipeline}});
  add_together(record, "camera.policy=deadline", {{"camera", pipeline}, {"batch", pipeline}});
  record.configurations[0].assignments = {{"camera.policy", "fifo"}};
  record.configurations[1].assignments = {{"camera.policy", "deadline"}};
  record.pairs = {{{1, 0}, {0, 0}}, {{1, 1}, {0, 1}}};
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.80, 0.82, verdict::faster, {}});
  add_comparison(summary, record, {1, figure::p50, 0.80, 0.82, verdict::faster, {}});
  const auto said = findings(record, summary);
  EXPECT_THAT(said, Contains(AllOf(StartsWith("setting_took_effect setting=policy "
                                              "[effect_against('camera (camera.policy=deadline)')"),
                                   Not(HasSubstr("'batch")))));
  // A change of priorities alone is known from the built-in configurations without keys only.
  for_runs_of(record, 1, [](run_record& run) { run.run.priorities = false; });
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("priorities"))));
}

}  // namespace
}  // namespace graphline
