#include "framework/report/csv/experiment_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/report/csv/run_csv.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

/// The rows of a run, each with fields before it.
std::string rows_after(const std::string& fields, const run_record& run) {
  auto text = run_csv(run).substr(csv_header.size());
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    text.insert(at, fields);
  }
  return text;
}

const std::string header = std::string(experiment_csv_beginning) + std::string(csv_header);

TEST(experiment_csv, has_the_rows_of_every_run_in_the_order_they_ran) {
  auto record = samples::two_strategies();
  std::swap(record.trials[2], record.trials[3]);
  std::string expected = header;
  for (const auto& trial : record.trials) {
    const auto name = trial.configuration == 0 ? "strategy=serial" : "strategy=async";
    expected += rows_after(std::string(name) + ",two_models," + std::to_string(trial.block) + ",",
                           trial.members.front());
  }
  EXPECT_EQ(experiment_csv(record), expected);
}

TEST(experiment_csv, names_each_pipeline_of_several_at_once) {
  auto record = samples::made_experiment("e", {}, 0);
  samples::add_together(record, "together",
                        {{"camera", samples::made_of({})}, {"batch", samples::made_of({})}});
  record.trials.resize(1);
  const auto& members = record.trials.front().members;
  EXPECT_EQ(experiment_csv(record), header + rows_after("together,camera,0,", members[0]) +
                                        rows_after("together,batch,0,", members[1]));
}

TEST(experiment_csv, quotes_names_that_need_it) {
  experiment_record record;
  record.configurations = {{"a \"b\"", {}, {"c,\nd"}}};
  run_record run;
  run.frames = {{0, 0, 9}};
  record.trials = {{.configuration = 0, .block = 4, .begun = 0, .members = {run}}};
  EXPECT_EQ(experiment_csv(record), header + "\"a \"\"b\"\"\",\"c,\nd\",4,0,,,end_to_end,0,9,9\n");
}

TEST(experiment_csv, becomes_no_larger_than_announced) {
  const auto record = samples::two_strategies();
  experiment_plan planned;
  planned.how.trials = 3;
  for (const auto& configuration : record.configurations) {
    planned.configurations.push_back({configuration, std::vector<plan>(1)});
    auto& members = planned.configurations.back().members;
    members.front().run.frames = 20;
    members.front().stages.resize(3);
  }
  EXPECT_LE(experiment_csv(record).size(), expected_experiment_csv_bytes(planned));
  EXPECT_GE(2 * experiment_csv(record).size(), expected_experiment_csv_bytes(planned));
}

TEST(experiment_csv, of_no_trials_is_its_header) {
  EXPECT_EQ(experiment_csv({}), header);
}

}  // namespace
}  // namespace graphline
