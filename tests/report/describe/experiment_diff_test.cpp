#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "framework/analysis/diff/experiment_diff.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/time_units.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"

namespace graphline::report {
namespace {

using samples::expect_golden;
using samples::made_experiment;
using samples::made_of;
using samples::taking;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

using samples::ms;

document diff_of(const experiment_record& before, const experiment_record& after) {
  return diff(before, after, compare(before, after, {"old.json", "new.json"}));
}

experiment_record methods(nanoseconds none, nanoseconds sync, std::size_t blocks = 8) {
  auto record = made_experiment(
      "sync_vs_event",
      {made_of({{"timing", "none"}}, taking(none)), made_of({{"timing", "sync"}}, taking(sync))},
      blocks);
  record.files = {{"two_models.yaml", "00c0ffee00c0ffee"}};
  return record;
}

TEST(diff_of_experiments, shows_each_figure_of_each_configuration) {
  auto after = methods(60 * ms, 95 * ms);
  after.interrupted = true;
  after.configurations.push_back({"timing=event", {{"timing", "event"}}, {"two_models"}});
  const auto made = diff_of(methods(74 * ms, 90 * ms), after);
  expect_golden("diff_experiment.txt", as_text(made));
  for (const std::size_t width : {40, 60, 80, 120}) {
    EXPECT_LE(samples::widest_line(as_text(made, {.width = width})), width);
  }
}

TEST(diff_of_experiments, names_configurations_in_data_as_they_are_called) {
  const auto named = made_experiment("one", {{"at once"}}, 6);
  const auto made = diff_of(named, named);
  const auto& p50 = samples::part_of<table>(made, "p50");
  const auto of = std::ranges::find(p50.columns, "configuration", &column::key);
  ASSERT_NE(of, p50.columns.end());
  ASSERT_EQ(p50.rows.size(), 1u);
  const auto& cells = p50.rows[0].cells;
  EXPECT_EQ(std::get<std::string>(cells[static_cast<std::size_t>(of - p50.columns.begin())].value),
            "at once");
}

TEST(diff_of_experiments, says_when_there_is_nothing_to_compare) {
  const auto before = made_experiment("one", {{"a"}}, 6);
  const auto text = as_text(diff_of(before, made_experiment("one", {{"b"}}, 6)));
  EXPECT_THAT(text, AllOf(HasSubstr("no configuration was measured in both"),
                          HasSubstr("only before: a"), HasSubstr("only after: b")));
}

TEST(diff_of_experiments, says_which_tails_it_does_not_compare) {
  const auto before = methods(74 * ms, 90 * ms);
  auto after = before;
  after.how.tail = 0.999;
  EXPECT_THAT(
      as_text(diff_of(before, after)),
      AllOf(HasSubstr("tails are not compared: p95 before, p99.9 after"), Not(HasSubstr("p95 ("))));
}

TEST(diff_of_experiments, shows_late_frames_in_points) {
  auto before = methods(74 * ms, 90 * ms, 40);
  for (auto& trial : before.trials) trial.members[0].run.deadline = 80 * ms;
  auto after = before;
  for (auto& trial : after.trials) {
    for (std::size_t f = 0; f < 5; ++f) trial.members[0].frames[f].end += 20 * ms;
  }
  const auto text = as_text(diff_of(before, after), {.width = 100});
  EXPECT_THAT(text, AllOf(HasSubstr("late %       before  after  points  95 % interval   verdict"),
                          HasSubstr("timing=none       0   25.0   +25.0"),
                          HasSubstr("timing=sync     100  100       0 "),
                          HasSubstr("points: change in late frames, in percentage points"),
                          HasSubstr("of no change, of late frames from -1 to +1 points")));
}

TEST(diff_of_experiments, names_files_and_settings_that_differ) {
  const auto before = methods(74 * ms, 90 * ms);
  auto after = before;
  after.files[0].second = "0000000000000001";
  for (auto& trial : after.trials) trial.members[0].run.in_flight = 2;
  const auto text = as_text(diff_of(before, after));
  EXPECT_THAT(text, AllOf(HasSubstr("files.two_models.yaml"), HasSubstr("run.in_flight")));
}

}  // namespace
}  // namespace graphline::report
