#include "framework/report/terminal/diff_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "framework/report/terminal/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/store/result_files.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using samples::frame_times;
using samples::two_models;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A trial of 20 frames of `ms` each, one after the other.
run_record trial_of(double ms) {
  run_record trial;
  const auto length = std::llround(ms * 1e6);
  for (nanoseconds i = 0; i < 20; ++i) {
    trial.frames.push_back({i * length, i * length, (i + 1) * length});
  }
  return trial;
}

/// Six trials whose times are `spread` apart.
saved_configuration configuration(std::string name, double ms, double spread = 0.001) {
  saved_configuration result{std::move(name), {}, {}};
  for (const int step : {0, 2, -2, 1, -1, 0}) {
    result.trials.push_back(trial_of(ms * (1 + spread * step)));
  }
  return result;
}

saved_experiment experiment(std::vector<saved_configuration> configurations, std::string file) {
  saved_experiment result;
  result.origin = {.file = std::move(file),
                   .schema = "graphline.experiment/1",
                   .subject = "sync_vs_event",
                   .date = "2026-10-03T14:00:00Z",
                   .device = {{"backend", "host"}},
                   .settings = {{"trials", "6"}},
                   .environment = {{"graphline", "0.1.0"}}};
  for (auto& configuration : configurations) {
    configuration.who.configuration = result.declared.size();
    result.declared.push_back({configuration.name, {}, {"two_models"}});
  }
  result.configurations = std::move(configurations);
  return result;
}

TEST(experiment_diff_table, shows_each_figure_of_each_configuration) {
  const auto noisy = configuration("timing=layers in_flight=1", 76, 0.04);
  auto few = configuration("timing=event in_flight=1", 74);
  few.trials.resize(3);
  const auto before = experiment(
      {configuration("timing=none in_flight=1", 74.1),
       configuration("timing=host in_flight=1", 74.1), configuration("timing=sync in_flight=1", 90),
       few, noisy, configuration("timing=none in_flight=4", 60)},
      "old.json");
  auto after = experiment(
      {configuration("timing=none in_flight=1", 60.2),
       configuration("timing=host in_flight=1", 74.2), configuration("timing=sync in_flight=1", 95),
       few, noisy, configuration("timing=none in_flight=2", 60)},
      "new.json");
  after.origin.environment[0].second = "0.2.0";
  after.interrupted = true;
  expect_golden("diff_experiment.txt", diff_table(compare(before, after)));
  for (const std::size_t width : {40, 60, 80, 120}) {
    EXPECT_LE(widest_line(diff_table(compare(before, after), {.width = width})), width);
  }
  EXPECT_THAT(diff_table(compare(before, after), {.colour = true}),
              AllOf(HasSubstr("\x1b[32mfaster\x1b[0m\n"), HasSubstr("\x1b[31mslower\x1b[0m\n"),
                    HasSubstr("\x1b[2mundecided\x1b[0m\n")));
}

TEST(experiment_diff_table, answers_for_a_single_configuration_with_its_figures) {
  const auto text = diff_table(compare(experiment({configuration("together", 150)}, "a.json"),
                                       experiment({configuration("together", 85)}, "b.json")));
  EXPECT_THAT(text,
              StartsWith("sync_vs_event on host: together: p50 end to end 150 ms before, 85.0 "
                         "ms after,\n  -43.3 %: faster\n"));
}

TEST(experiment_diff_table, says_when_there_is_nothing_to_compare) {
  const auto before = experiment({configuration("a", 1)}, "a.json");
  auto after = experiment({configuration("b", 1)}, "b.json");
  EXPECT_THAT(diff_table(compare(before, after)),
              AllOf(HasSubstr("no configuration was measured in both"), HasSubstr("only before: a"),
                    HasSubstr("only after: b")));
  after.origin.subject = "other";
  EXPECT_THAT(diff_table(compare(before, after)),
              StartsWith("different experiments: sync_vs_event before, other after\n"));
}

TEST(experiment_diff_table, says_which_tails_it_does_not_compare) {
  const auto before = experiment({configuration("a", 1)}, "a.json");
  auto after = before;
  after.tail = 0.999;
  EXPECT_THAT(
      diff_table(compare(before, after)),
      AllOf(HasSubstr("tails are not compared: p95 before, p99.9 after"), Not(HasSubstr("p95 ("))));
}

}  // namespace
}  // namespace graphline
