#include "framework/report/csv/stamps_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analysis/made_experiments.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

/// The rows of a run with leading fields.
std::string rows_after(const std::string& fields, const run_record& run) {
  auto text = run_csv(run).substr(csv_header.size());
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    text.insert(at, fields);
  }
  return text;
}

/// The header with columns for what varies.
std::string header(const std::string& varied = "") {
  return "id,configuration,member," + varied + "block,trial,counted,failed,affected,disturbed," +
         std::string(csv_header);
}

TEST(experiment_csv, has_the_rows_of_every_run_in_the_order_they_ran) {
  auto record = samples::two_strategies();
  std::swap(record.trials[2], record.trials[3]);
  std::string expected = header("strategy,");
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    const auto& trial = record.trials[i];
    const auto* names = trial.configuration == 0 ? "c1,strategy=serial,two_models,serial,"
                                                 : "c2,strategy=async,two_models,async,";
    expected += rows_after(
        names + std::to_string(trial.block) + "," + std::to_string(i) + ",true,false,false,false,",
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
  EXPECT_EQ(experiment_csv(record),
            header() + rows_after("c1,together,camera,0,0,true,false,false,false,", members[0]) +
                rows_after("c1,together,batch,0,0,true,false,false,false,", members[1]));
}

TEST(experiment_csv, says_which_trials_do_not_count) {
  auto record = samples::two_strategies();
  auto& failed = record.trials.back().members.front();
  failed.failure = "no memory";
  const auto text = experiment_csv(record);
  const auto block = std::to_string(record.trials.back().block);
  EXPECT_NE(text.find(",async," + block + ",5,false,true,false,false,0,"), text.npos);
  EXPECT_NE(text.find(",serial," + block + ",4,false,false,false,false,0,"), text.npos);
  EXPECT_NE(text.find(",serial,0,0,true,false,false,false,0,"), text.npos);
}

TEST(experiment_csv, says_beside_which_trials_others_were_at_work) {
  auto record = samples::two_strategies();
  conditions_record busy;
  busy.lasted = 10'000'000'000;
  busy.cores = 2;
  busy.others = busy.lasted;  // one of two cores
  record.trials[1].members.front().conditions = busy;
  const auto text = experiment_csv(record);
  EXPECT_NE(text.find(",0,0,true,false,false,false,0,"), text.npos);
  EXPECT_NE(text.find(",0,1,true,false,false,true,0,"), text.npos);
}

TEST(experiment_csv, quotes_names_that_need_it_and_keeps_columns_apart) {
  experiment_record record;
  record.configurations = {{"a \"b\"", {{"stage", "x,y"}, {"ready_ns", "7"}}, {"c,\nd"}},
                           {"other", {}, {"c"}}};
  run_record run;
  run.frames = {{0, 0, 9}};
  record.trials = {{.configuration = 0, .block = 4, .begun = 0, .members = {run}}};
  EXPECT_EQ(
      experiment_csv(record),
      header("params.stage,params.ready_ns,") +
          "c1,\"a "
          "\"\"b\"\"\",\"c,?d\",\"x,y\",7,4,0,true,false,false,false,0,,,end_to_end,0,9,9,,0\n");
}

TEST(experiment_csv, of_no_trials_is_its_header) {
  EXPECT_EQ(experiment_csv({}), header());
}

}  // namespace
}  // namespace graphline
