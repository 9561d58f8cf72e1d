#include "framework/report/html/experiment_page.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/terminal/experiment_table.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/report/html/page_testing.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::add_together;
using samples::made_configuration;
using samples::made_experiment;
using samples::made_of;
using samples::taking;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr nanoseconds ms = 1'000'000;

json data_of(const experiment_record& record) {
  return samples::data_of(experiment_html(record));
}

/// Words with a single space between them, whatever lines and columns they stood in.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// Without what the table leaves out: cells of columns that have no value.
std::string joined(const json& texts) {
  std::string text;
  for (const auto& one : texts) {
    if (one != "-") text += (text.empty() ? "" : " ") + one.get<std::string>();
  }
  return text;
}

/// So that trials differ, and with them the draws of the bootstrap.
void make_trials_differ(experiment_record& record) {
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    const auto later = static_cast<nanoseconds>(mix_seed(i, 3) % 400'000);
    for (auto& run : record.trials[i].members) {
      for (auto& frame : run.frames) frame.end += later;
      for (auto& stage : run.stages) {
        for (auto& stamp : stage.device) stamp.end += later / 8;
      }
    }
  }
}

experiment_record strategies() {
  auto record = made_experiment("strategies",
                                {made_of({{"strategy", "serial"}}, taking(87 * ms)),
                                 made_of({{"strategy", "async"}}, taking(74 * ms)),
                                 made_of({{"strategy", "overlap"}}, taking(73 * ms)),
                                 made_of({{"strategy", "other"}}, taking(87 * ms))},
                                10);
  make_trials_differ(record);
  return record;
}

experiment_record methods() {
  std::vector<made_configuration> all;
  for (const auto method : {timing_method::none, timing_method::sync, timing_method::host}) {
    all.push_back(made_of({{"timing", std::string(to_word(method))}, {"in_flight", "2"}},
                          taking(74 * ms + static_cast<nanoseconds>(method) * ms)));
    all.back().timing = method;
  }
  auto record = made_experiment("methods", all, 7);
  make_trials_differ(record);
  return record;
}

experiment_record cameras() {
  auto record = made_experiment("cameras", {}, 0);
  const auto camera = [](nanoseconds time) {
    auto result = made_of({}, taking(time));
    result.change = [](run_record& run) { run.run.deadline = 15 * ms; };
    return result;
  };
  add_together(record, "camera alone", {{"camera", camera(12 * ms)}});
  add_together(record, "batch alone", {{"batch", made_of({}, taking(80 * ms))}});
  add_together(record, "together",
               {{"camera", camera(18 * ms)}, {"batch", made_of({}, taking(95 * ms))}});
  record.pairs = {{{2, 0}, {0, 0}}, {{2, 1}, {1, 0}}};
  make_trials_differ(record);
  return record;
}

/// Figures and words of the page that the table at the terminal has as well.
void expect_agreement(const experiment_record& record) {
  const auto table = in_one_line(experiment_table(record));
  const auto data = data_of(record);
  const auto& of = data["experiment"];
  const auto& members = of["members"];
  ASSERT_FALSE(of["comparisons"].empty());
  for (const auto& one : of["comparisons"]) {
    const auto& cells = one["cells"];
    const auto& who = members[one["pair"][0].get<std::size_t>()];
    const auto figure = one["figure"].get<std::string>();
    EXPECT_EQ(cells["value"], who["cells"][figure]);
    auto row = who["cells"][figure].get<std::string>() + " " + cells["change"].get<std::string>();
    if (figure == "p50") row = joined({joined(who["names"]), row, cells["interval"]});
    if (!one["ratio_range"].is_null()) row += " " + one["verdict"].get<std::string>();
    EXPECT_THAT(table, HasSubstr(row));
    if (figure == "p50" && !one["more"].is_null()) {
      EXPECT_THAT(table, HasSubstr(fmt::format("+{}", one["more"].get<int>())));
    }
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    EXPECT_THAT(table,
                HasSubstr(joined(members[i]["names"]) + " " + joined(of["costs"]["rows"][i])));
  }
  EXPECT_THAT(table, HasSubstr(joined(of["costs"]["headings"])));
  for (const auto& pipeline : of["stages"]) {
    for (const auto& stage : pipeline["stages"]) {
      const auto unit =
          stage["unit"].is_null() ? "" : " (" + stage["unit"].get<std::string>() + ")";
      EXPECT_THAT(
          table, HasSubstr(stage["name"].get<std::string>() + unit + " " + joined(stage["cells"])));
    }
  }
  for (const auto* list : {"findings", "notes"}) {
    for (const auto& text : data[list]) EXPECT_THAT(table, HasSubstr(text.get<std::string>()));
  }
  for (const auto& notice : data["notices"]) {
    EXPECT_THAT(table, HasSubstr(notice["text"].get<std::string>()));
  }
  EXPECT_THAT(table, HasSubstr(in_one_line(data["subject"].get<std::string>())));
  EXPECT_THAT(table, HasSubstr(in_one_line(data["way"].get<std::string>())));
  EXPECT_THAT(table, HasSubstr(data["amount"].get<std::string>()));
}

TEST(experiment_page, says_what_the_table_says) {
  for (const auto& record : {strategies(), methods(), cameras()}) {
    SCOPED_TRACE(record.name);
    expect_agreement(record);
  }
}

TEST(experiment_page, says_what_the_table_says_of_warnings_and_of_too_few_blocks) {
  auto record = samples::two_strategies();
  record.stopped = "the time limit";
  record.trials.pop_back();
  record.trials.front().members.front().warnings = {"3 frames\tof <b>"};
  expect_agreement(record);
  const auto data = data_of(record);
  ASSERT_THAT(data["notices"], SizeIs(4));
  EXPECT_EQ(data["notices"][0]["text"], "ended: the time limit");
  EXPECT_THAT(data["notices"][3]["text"].get<std::string>(), StartsWith("3 frames?of <b> ("));
  EXPECT_TRUE(data["experiment"]["comparisons"][0]["ratio_range"].is_null());
}

TEST(experiment_page, compares_by_difference_and_by_ratio) {
  const auto record = strategies();
  const auto summary = summarize(record);
  const auto data = samples::data_of(experiment_html(record, summary));
  const auto& list = data["experiment"]["comparisons"];
  ASSERT_EQ(list.size(), summary.comparisons.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& found = summary.comparisons[i];
    EXPECT_EQ(list[i]["ratio"], found.ratio);
    EXPECT_EQ(list[i]["difference"], found.difference);
    ASSERT_TRUE(found.ratio_range && found.difference_range);
    EXPECT_EQ(list[i]["ratio_range"], json({found.ratio_range->low, found.ratio_range->high}));
    EXPECT_EQ(list[i]["difference_range"],
              json({found.difference_range->low, found.difference_range->high}));
  }
}

TEST(experiment_page, refers_to_pipelines_of_configurations_by_their_place) {
  const auto data = data_of(cameras())["experiment"];
  EXPECT_EQ(data["members"][2]["label"], "'camera (together)'");
  EXPECT_EQ(data["members"][3]["label"], "'batch (together)'");
  EXPECT_EQ(data["comparisons"][0]["pair"], json({2, 0}));
  EXPECT_EQ(data["groups"][1],
            json({{{"who", 1}, {"reference", nullptr}}, {{"who", 3}, {"reference", 1}}}));
  EXPECT_EQ(data["stages"][1]["pipeline"], "batch");
  EXPECT_EQ(data["stages"][1]["where"], json({1, 3}));
}

TEST(experiment_page, thins_what_it_draws_and_counts_all) {
  std::vector<made_configuration> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(made_of({{"batch", fmt::to_string(i + 1)}}, taking((50 + i) * ms)));
  }
  const auto record = made_experiment("long", all, 200);
  const auto page = experiment_html(record);
  EXPECT_LT(page.size(), 3'000'000);
  const auto data = samples::data_of(page)["experiment"];
  ASSERT_THAT(data["distributions"], SizeIs(10));
  for (const auto& one : data["distributions"]) {
    EXPECT_EQ(one["count"], 200 * 20);
    EXPECT_LE(one["points"].size(), 300);
    EXPECT_GE(one["points"].size(), 200);
    EXPECT_EQ(one["points"].back()[1], one["count"]);
  }
  EXPECT_THAT(data["trials"]["p50"], SizeIs(2000));
  EXPECT_THAT(data["members"][9]["trial_medians"], SizeIs(200));
}

TEST(experiment_page, becomes_no_larger_than_announced) {
  const auto record = strategies();
  experiment_plan planned;
  planned.how.trials = 10;
  for (const auto& configuration : record.configurations) {
    planned.configurations.push_back({configuration, std::vector<plan>(1)});
    planned.configurations.back().members.front().stages.resize(3);
  }
  EXPECT_LE(experiment_html(record).size(), expected_experiment_html_bytes(planned));
  EXPECT_GE(2 * experiment_html(record).size(), expected_experiment_html_bytes(planned));
}

TEST(experiment_page, has_every_trial_with_frames_where_it_ran) {
  auto record = samples::two_strategies();
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    record.trials[i].begun = static_cast<nanoseconds>(i) * 7;
  }
  record.trials[3].members[0].frames.clear();
  const auto trials = data_of(record)["experiment"]["trials"];
  EXPECT_THAT(trials["begun"], ElementsAre(0, 7, 14, 28, 35));
  EXPECT_THAT(trials["block"], ElementsAre(0, 0, 1, 2, 2));
  EXPECT_THAT(trials["who"], ElementsAre(0, 1, 0, 0, 1));
}

TEST(experiment_page, tells_a_failure_once) {
  auto record = samples::two_strategies();
  auto& run = record.trials.back().members.front();
  run.failure = "stage 'head': no memory";
  record.failure = run.failure;
  const auto notices = data_of(record)["notices"];
  EXPECT_EQ(notices[0]["tone"], "bad");
  EXPECT_THAT(notices[0]["text"].get<std::string>(), StartsWith("FAILED in block 3"));
  EXPECT_EQ(std::count_if(notices.begin(), notices.end(),
                          [](const json& notice) { return notice["tone"] == "bad"; }),
            1);
}

TEST(experiment_page, of_no_trial_says_why) {
  auto record = samples::two_strategies();
  record.trials.clear();
  record.failure = "there is no memory for it";
  const auto notices = data_of(record)["notices"];
  ASSERT_THAT(notices, SizeIs(3));
  EXPECT_EQ(notices[1]["text"], "there is no memory for it");
  EXPECT_EQ(notices[2]["text"], "No trial was measured.");
}

TEST(experiment_page, holds_whatever_names_hold) {
  const std::string odd = "</script><img src=x onerror=alert(1)>\"'\n\xff";
  auto record = made_experiment(odd, {{odd}, {"plain"}}, 2);
  record.description = odd;
  record.sources = {{odd, odd}};
  for (auto& trial : record.trials) trial.members[0].stages[0].name = odd;
  const auto page = experiment_html(record);
  EXPECT_THAT(page, StartsWith(std::string(html_beginning)));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  const std::string shown = "</script><img src=x onerror=alert(1)>\"'\n\xef\xbf\xbd";
  const auto data = samples::data_of(page);
  EXPECT_EQ(data["title"], shown);
  EXPECT_EQ(data["experiment"]["members"][0]["configuration"], shown);
  EXPECT_EQ(data["experiment"]["stages"][0]["stages"][0]["name"], shown);
}

TEST(experiment_page, tells_how_each_configuration_was_set) {
  const auto members = data_of(methods())["experiment"]["members"];
  for (const auto& [who, method] : {std::pair(0, "none"), {1, "sync"}, {2, "host"}}) {
    const json setting = {"timing", method};
    EXPECT_THAT(members[static_cast<std::size_t>(who)]["settings"], ::testing::Contains(setting));
  }
  EXPECT_EQ(members[0]["assignments"], json::array({{"timing", "none"}, {"in_flight", "2"}}));
}

}  // namespace
}  // namespace graphline
