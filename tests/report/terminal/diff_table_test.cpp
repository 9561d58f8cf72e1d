#include "framework/report/terminal/diff_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "framework/report/json/run_json.hpp"
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

/// `count` frames of the sample pipeline that take `part` of their usual time.
run_record sample_run(std::size_t count, double part) {
  auto record = two_models(timing_method::event, count);
  for (auto& frame : record.frames) {
    for (auto* stamp : {&frame.due, &frame.begin, &frame.end}) {
      *stamp = std::llround(static_cast<double>(*stamp) * part);
    }
  }
  record.environment.emplace_back("date", "2026-10-03T14:00:00Z");
  return record;
}

class run_diff_table : public samples::result_files {
 protected:
  saved_run saved(const run_record& record, const std::string& name) {
    return read_back<saved_run>(name, run_json(record));
  }

  std::string table(const run_record& before, const run_record& after) {
    return diff_table(compare(saved(before, "old.json"), saved(after, "new.json")));
  }

  /// The table with its lines joined, to look for sentences in.
  std::string line(const run_record& before, const run_record& after) {
    auto text = table(before, after);
    std::replace(text.begin(), text.end(), '\n', ' ');
    for (std::size_t at; (at = text.find("  ")) != std::string::npos;) text.erase(at, 1);
    return text;
  }
};

TEST_F(run_diff_table, compares_no_latency_of_an_overloaded_run) {
  const auto text = table(sample_run(300, 1), samples::overloaded_two_models(300));
  EXPECT_THAT(text, HasSubstr("no latency to compare: a run was overloaded"));
  EXPECT_THAT(text, AllOf(HasSubstr("throughput"), Not(HasSubstr("p50")), Not(HasSubstr("needs"))));
}

TEST_F(run_diff_table, shows_a_run_that_became_faster) {
  const auto before = sample_run(45, 1);
  auto after = sample_run(60, 0.8);
  after.run.strategy = strategy::overlap;
  after.run.in_flight = 2;
  after.memory.device_peak_bytes = 30 << 20;
  after.environment = {{"graphline", "0.2.0"},
                       {"system", "Linux 6.1"},
                       {"compiler", "a compiler whose version is longer than a column is wide"},
                       {"date", "2026-11-21T08:01:43Z"}};
  after.outputs[0].checksum = "0123456789abcdef";
  after.stages.pop_back();
  after.stages[0].name = "trunk";
  expect_golden("diff_run.txt", table(before, after));
}

TEST_F(run_diff_table, shows_two_runs_that_are_alike) {
  const auto record = sample_run(300, 1);
  expect_golden("diff_run_same.txt", table(record, record));
}

TEST_F(run_diff_table, says_first_that_pipelines_differ) {
  auto other = sample_run(5, 1);
  other.pipeline = "one_model";
  EXPECT_THAT(
      table(sample_run(5, 1), other),
      StartsWith("different pipelines: two_models before, one_model after\np50 end to end"));
}

TEST_F(run_diff_table, says_which_of_the_two_was_disturbed) {
  const auto quiet = sample_run(5, 1);
  auto busy = quiet;
  busy.conditions = conditions_record{.lasted = 10'000'000'000, .cores = 2};
  busy.conditions->others = 17'000'000'000;
  auto busier = busy;
  busier.conditions->others = 18'000'000'000;
  EXPECT_THAT(line(quiet, quiet), Not(HasSubstr("disturbed")));
  EXPECT_THAT(line(busy, quiet),
              HasSubstr("warning: the result before was disturbed (machine noise): other processes "
                        "kept 1.70 of 2 cores busy"));
  EXPECT_THAT(line(quiet, busy),
              HasSubstr("warning: the result after was disturbed (machine noise): other processes "
                        "kept 1.70 of 2 cores busy"));
  EXPECT_THAT(line(busy, busier),
              HasSubstr("warning: both results were disturbed (machine noise): before, other "
                        "processes kept 1.70 of 2 cores busy; after, other processes kept 1.80 of "
                        "2 cores busy"));
}

TEST_F(run_diff_table, keeps_to_narrow_widths) {
  auto before = sample_run(45, 1);
  auto after = sample_run(60, 0.8);
  before.stages[0].name = after.stages[0].name = "a rather long name of a stage, and 画像処理";
  after.environment = {{"compiler", "a compiler whose version is longer than a column is wide"},
                       {"flags", std::string(60, 'f')}};
  after.stages.pop_back();
  const auto diff = compare(saved(before, "old.json"), saved(after, "new.json"));
  for (const std::size_t width : {40, 60, 80, 120}) {
    EXPECT_LE(widest_line(diff_table(diff, {.width = width})), width)
        << diff_table(diff, {.width = width});
  }
}

TEST_F(run_diff_table, gives_no_verdict) {
  EXPECT_THAT(line(sample_run(5, 1), sample_run(5, 0.5)),
              AllOf(HasSubstr("One run each: how much runs differ from each other is not known"),
                    Not(HasSubstr("faster"))));
}

TEST_F(run_diff_table, gives_no_change_between_times_of_two_kinds) {
  EXPECT_THAT(line(two_models(timing_method::sync, 5), two_models(timing_method::event, 5)),
              AllOf(HasSubstr("backbone serialised, device 70.1 70.1 - "),
                    HasSubstr("make both runs with the same timing")));
}

TEST_F(run_diff_table, shows_no_stages_where_neither_run_timed_them) {
  const auto record = two_models(timing_method::none, 5);
  EXPECT_THAT(table(record, record), Not(HasSubstr("time is")));
  EXPECT_THAT(table(record, two_models(timing_method::event, 5)), HasSubstr("backbone    device"));
}

TEST_F(run_diff_table, compares_missed_deadlines) {
  auto before = sample_run(50, 1);
  auto after = sample_run(50, 0.5);
  before.run.deadline = after.run.deadline = 1'000'000;
  EXPECT_THAT(line(before, after), HasSubstr("deadline missed (% of frames) 100 100 0.00"));
  after.run.deadline = 1'000'000'000;
  EXPECT_THAT(line(before, after), HasSubstr("deadline missed (% of frames) 100 0 -100"));
}

TEST_F(run_diff_table, says_by_how_much_outputs_differ) {
  auto before = sample_run(5, 1);
  before.outputs[0].values.clear();
  auto after = before;
  EXPECT_THAT(line(before, after), HasSubstr("output score: the same"));
  after.outputs[0].checksum = "01";
  EXPECT_THAT(line(before, after),
              HasSubstr("output score: differs by checksum; the files hold no"));
  after.outputs[0].finite = false;
  EXPECT_THAT(line(before, after), HasSubstr("; holds NaN or infinity after"));
  after.outputs[0].type.shape = {2, 1};
  EXPECT_THAT(line(before, after), HasSubstr("output score: of another shape or type"));
  after.outputs[0].tensor = "rank";
  EXPECT_THAT(line(before, after),
              AllOf(HasSubstr("output score: only before"), HasSubstr("output rank: only after")));
}

TEST_F(run_diff_table, words_the_distance_of_outputs) {
  const auto record = sample_run(5, 1);
  auto before = saved(record, "a.json");
  auto after = before;
  before.outputs[0].values = {1.0, 2.0};
  after.outputs[0].values = {1.0, 2.5};
  after.outputs[0].checksum = "01";
  EXPECT_THAT(
      diff_table(compare(before, after)),
      HasSubstr("differs by up to 0.5, 0.2 of the largest value (of 2 values\n  compared)"));
  after.outputs[0].values = before.outputs[0].values;
  EXPECT_THAT(diff_table(compare(before, after)),
              HasSubstr("differs by checksum, but not in the 2 values saved of it"));
}

TEST_F(run_diff_table, names_settings_that_may_be_why_outputs_differ) {
  const auto before = sample_run(5, 1);
  auto after = sample_run(6, 1);
  EXPECT_THAT(line(before, after), Not(HasSubstr("may be why")));
  after.outputs[0].checksum = "01";
  after.parameters[0].second = "8";
  EXPECT_THAT(line(before, after), HasSubstr("what else differs may be why: frames, params.batch"));
}

TEST_F(run_diff_table, says_how_runs_ended) {
  auto before = sample_run(3, 1);
  before.interrupted = true;
  auto after = sample_run(0, 1);
  after.failure = "stage 'noise', frame 0: no more memory";
  EXPECT_THAT(table(before, after),
              AllOf(HasSubstr("not both runs have measured a frame"),
                    HasSubstr("old.json: INTERRUPTED after 3 frames\n"),
                    HasSubstr("new.json: FAILED after 0 frames: stage 'noise', frame 0: no more")));
}

TEST_F(run_diff_table, notices_that_the_first_is_the_newer_one) {
  const auto before = sample_run(5, 1);
  auto after = before;
  after.environment.back().second = "2026-10-02T14:00:00Z";
  EXPECT_THAT(table(before, after), HasSubstr("the newer of the two"));
  EXPECT_THAT(table(after, before), Not(HasSubstr("the newer of the two")));
}

TEST_F(run_diff_table, shows_no_control_characters_of_names) {
  auto before = sample_run(5, 1);
  before.pipeline = "a \"b\"\n\x1b[31mc";
  before.stages[0].name = "käfer\t模型";
  before.parameters[0].first = "x\ny";
  before.outputs[0].tensor = "o\x07";
  before.environment[0].second = "0.1\r\n";
  const auto text = table(before, sample_run(5, 1));
  EXPECT_THAT(text, AllOf(HasSubstr("a \"b\"??[31mc"), HasSubstr("käfer?模型"), HasSubstr("x?y"),
                          HasSubstr("output o?: only before")));
  for (const char c : text) EXPECT_FALSE(c != '\n' && c >= 0 && c < ' ') << static_cast<int>(c);
}

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
