#include "framework/report/store/trial_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "framework/base/error.hpp"
#include "tests/report/random_records.hpp"
#include "tests/report/store/trial_store_testing.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;
using samples::expect_same;
using samples::random_trial;
using samples::sample_plan;
using samples::trial;
using samples::trial_store_test;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST_F(trial_store_test, gives_back_every_trial_when_it_is_resumed) {
  std::vector<trial_record> made;
  {
    trial_store store(path_, sample_plan(), store_opening::fresh);
    EXPECT_TRUE(store.take_trials().empty());
    for (std::uint64_t i = 0; i < 6; ++i) {
      made.push_back(random_trial(i, 1, 4));
      made.back().configuration = i % 2;
      made.back().members[0].device = made[0].members[0].device;
      store.add(made.back());
    }
  }
  const auto back = resumed();
  ASSERT_EQ(back.size(), made.size());
  for (std::size_t i = 0; i < made.size(); ++i) expect_same(back[i], made[i]);
  EXPECT_EQ(files(), 1u);
}

TEST_F(trial_store_test, is_one_line_for_the_experiment_and_one_for_each_trial) {
  make(2, true);
  const auto text = read(path_);
  EXPECT_TRUE(text.starts_with(R"({"schema":"graphline.trials/1","name":"sync_vs_event",)"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_THAT(text, EndsWith("\n{\"ended\":\"\"}\n"));
}

TEST_F(trial_store_test, goes_on_where_it_was_left) {
  make(2);
  {
    trial_store store(path_, sample_plan(), store_opening::resume);
    EXPECT_EQ(store.take_trials().size(), 2u);
    EXPECT_TRUE(store.take_trials().empty());
    store.add(trial(2));
  }
  EXPECT_EQ(resumed().size(), 3u);
}

TEST_F(trial_store_test, cut_anywhere_in_its_last_line_has_the_trials_before_it) {
  make(2);
  const auto two = fs::file_size(path_);
  {
    trial_store store(path_, sample_plan(), store_opening::resume);
    store.add(trial(2));
  }
  for (auto length = fs::file_size(path_) - 1; length >= two; --length) {
    fs::resize_file(path_, length);
    ASSERT_EQ(resumed().size(), 2u) << length;
  }
}

TEST_F(trial_store_test, goes_on_in_place_of_a_line_that_was_cut) {
  make(3, true);
  const auto whole = read(path_);
  const auto third = whole.find('\n', whole.find(R"({"trial":{"configuration":0,"block":1)"));
  for (const auto lost : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
    write(path_, whole.substr(0, third - lost));
    {
      trial_store store(path_, sample_plan(), store_opening::resume);
      EXPECT_EQ(store.take_trials().size(), 2u);
      store.add(trial(2));
      store.end();
    }
    EXPECT_EQ(read(path_), whole);
  }
}

TEST_F(trial_store_test, passes_over_a_last_line_that_lost_its_middle) {
  make(2);
  const auto two = read(path_);
  write(path_, two + std::string(50, '\0') + "]}}\n");
  EXPECT_EQ(resumed().size(), 2u);
  trial_store(path_, sample_plan(), store_opening::resume).add(trial(2));
  EXPECT_EQ(resumed().size(), 3u);
}

TEST_F(trial_store_test, names_a_line_that_is_damaged_before_the_last) {
  make(3);
  replace(R"({"trial":{"configuration":1)", R"({"trial":{"configuration":[)");
  EXPECT_THAT(refusal(store_opening::resume),
              AllOf(HasSubstr("line 3 of '"), HasSubstr("is damaged"),
                    HasSubstr("cut the file before that line, or start over with --overwrite")));
  make(1);
  replace(R"({"trial":{"configuration":0)", R"({"trial":{"configuration":7)");
  EXPECT_THAT(refusal(store_opening::resume),
              HasSubstr("line 2 of '" + path_ +
                        "' is damaged: trial.configuration is 7, where one of the configurations "
                        "is expected"));
  make(1);
  replace(R"("members":[{"pipeline")", R"("members":[],"was":[{"pipeline")");
  EXPECT_THAT(refusal(store_opening::resume),
              HasSubstr("0 entries, where the configuration has 1"));
  make(1);
  replace(R"({"trial":)", R"({"trail":)");
  EXPECT_THAT(refusal(store_opening::resume), HasSubstr("the line lacks 'trial'"));
}

TEST_F(trial_store_test, refuses_to_resume_what_is_not_there) {
  EXPECT_THAT(refusal(store_opening::resume), HasSubstr("omit --resume to begin"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(trial_store_test, takes_further_trials_of_an_experiment_that_ended) {
  make(6, true);
  auto planned = sample_plan();
  planned.how.trials = 10;
  planned.how.time_limit = 1;
  {
    trial_store store(path_, planned, store_opening::resume);
    store.add(trial(6));
    store.end("the time limit was reached");
  }
  EXPECT_EQ(resumed().size(), 7u);
  EXPECT_THAT(read(path_), EndsWith("{\"ended\":\"the time limit was reached\"}\n"));
  EXPECT_EQ(read(path_).find("ended\":\"\""), std::string::npos);
}

TEST_F(trial_store_test, does_not_begin_anew_over_one_that_has_not_ended) {
  make(5);
  const auto before = read(path_);
  EXPECT_THAT(refusal(store_opening::fresh),
              AllOf(HasSubstr("it holds 5 of 6 trials of an experiment begun on 20"),
                    HasSubstr("has not ended; go on with it by --resume, or discard it by "
                              "--overwrite")));
  EXPECT_EQ(read(path_), before);
  EXPECT_EQ(files(), 1u);
}

TEST_F(trial_store_test, keeps_an_ended_one_as_the_previous_when_it_begins_anew) {
  make(2, true);
  const auto before = read(path_);
  for (int times = 0; times < 2; ++times) EXPECT_EQ(refusal(store_opening::fresh), "opened");
  EXPECT_EQ(resumed().size(), 0u);
  EXPECT_EQ(read(path_ + ".previous"), before);
  EXPECT_EQ(files(), 2u);
}

TEST_F(trial_store_test, begins_anew_over_anything_of_its_own_when_told_to) {
  make(5);
  const auto before = read(path_);
  EXPECT_EQ(refusal(store_opening::overwrite), "opened");
  EXPECT_EQ(resumed().size(), 0u);
  EXPECT_EQ(read(path_ + ".previous"), before);
}

TEST_F(trial_store_test, holds_names_of_any_script) {
  auto planned = sample_plan();
  planned.name = planned.configurations[0].what.name = "\"quoted\"\n名前 \\ ü";
  planned.files[0].first = "наш \"файл\".yaml";
  trial_store(path_, planned, store_opening::fresh).add(trial(0));
  EXPECT_EQ(trial_store(path_, planned, store_opening::resume).take_trials().size(), 1u);
}

TEST_F(trial_store_test, does_not_mix_trials_of_two_devices) {
  make(1);
  auto elsewhere = trial(1);
  elsewhere.members[0].device.name = "Another CPU";
  try {
    trial_store(path_, sample_plan(), store_opening::resume).add(elsewhere);
    FAIL() << "was added";
  } catch (const run_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("on Another CPU (host)"),
                                HasSubstr("ran on Example CPU at 2.1 GHz (host)")));
  }
  EXPECT_EQ(resumed().size(), 1u);
}

TEST_F(trial_store_test, mixes_devices_of_ranks_if_they_are_of_one_kind) {
  make(0);
  const auto on = [](std::size_t number, std::int64_t rank, const char* name, const char* backend) {
    auto made = trial(number);
    made.place = {rank, "node"};
    made.members[0].device.name = name;
    made.members[0].device.backend = backend;
    return made;
  };
  trial_store store(path_, sample_plan(), store_opening::resume);
  store.add(on(0, 0, "One CPU", "host"));
  store.add(on(1, 1, "Another CPU", "host"));
  EXPECT_THROW(store.add(on(2, 1, "One CPU", "host")), run_error);
  EXPECT_THROW(store.add(on(2, 2, "A GPU", "cuda")), run_error);
}

TEST_F(trial_store_test, does_not_mix_kinds_of_devices_with_and_without_ranks) {
  make(0);
  auto ranked = trial(0);
  ranked.place = {0, "node"};
  ranked.members[0].device.backend = "cuda";
  auto alone = trial(1);
  trial_store store(path_, sample_plan(), store_opening::resume);
  store.add(ranked);
  EXPECT_THROW(store.add(alone), run_error);
}

}  // namespace
}  // namespace graphline
