#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/store/trial_store_testing.hpp"

namespace graphline {
namespace {

using samples::sample_plan;
using samples::trial_store_test;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(trial_store_test, says_which_version_a_store_is_of_and_which_it_reads) {
  make(1, true);
  replace("graphline.trials/1", "graphline.trials/2");
  for (const auto how : {store_opening::fresh, store_opening::resume}) {
    EXPECT_THAT(refusal(how), AllOf(HasSubstr("holds trials as 'graphline.trials/2', this program "
                                              "reads graphline.trials/1"),
                                    HasSubstr("start over with --overwrite")));
  }
  EXPECT_EQ(refusal(store_opening::overwrite), "opened");
}

TEST_F(trial_store_test, is_damaged_without_its_first_line) {
  make(1, true);
  write(path_, read(path_).substr(0, 40));
  for (const auto how : {store_opening::fresh, store_opening::resume}) {
    EXPECT_THAT(refusal(how), HasSubstr("the first line of '" + path_ + "' is damaged"));
  }
}

/// What resuming the sample store says when the experiment is not what it was.
class changed_experiment_test : public trial_store_test {
 protected:
  template <class Change>
  std::string said(Change change) {
    make(1);
    const auto before = read(path_);
    auto planned = sample_plan();
    change(planned);
    const auto text = refusal(store_opening::resume, planned);
    EXPECT_EQ(read(path_), before);
    const auto prefix = "cannot go on with '" + path_ + "': ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }
};

TEST_F(changed_experiment_test, names_the_files_that_have_changed) {
  EXPECT_EQ(said([](auto& planned) { planned.files[1].second = "3"; }),
            "'two_models.yaml' has changed since these trials were made; restore it, or start over "
            "with --overwrite");
  EXPECT_EQ(said([](auto& planned) {
              planned.files[0].second = "4";
              planned.files[1].second = "3";
            }),
            "'sync_vs_event.yaml' and 'two_models.yaml' have changed since these trials were made; "
            "restore them, or start over with --overwrite");
}

TEST_F(changed_experiment_test, knows_a_file_by_its_text) {
  EXPECT_EQ(said([](auto& planned) { planned.files[0].first = "../here/sync_vs_event.yaml"; }),
            "opened");
  EXPECT_EQ(said([](auto& planned) {
              planned.files[0] = {"other.yaml", "9"};
            }),
            "these trials were made without 'other.yaml'; name another file for new ones, or start "
            "over with --overwrite");
  EXPECT_THAT(said([](auto& planned) { planned.files[0].second = planned.files[1].second; }),
              HasSubstr("'sync_vs_event.yaml' has changed"));
}

TEST_F(changed_experiment_test, names_the_setting_that_is_another) {
  const std::string remedy = " now; set it as it was, or start over with --overwrite";
  const std::string when = " when these trials were made and is ";
  EXPECT_EQ(said([](auto& planned) { planned.files[2].second = "cuda"; }),
            "the 'device' was host" + when + "cuda" + remedy);
  EXPECT_EQ(
      said([](auto& planned) { planned.configurations[1].members[0].parameters[0].second = "8"; }),
      "in configuration 'timing=event', 'batch' was 1" + when + "8" + remedy);
  EXPECT_EQ(said([](auto& planned) { planned.configurations[0].members[0].parameters.clear(); }),
            "in configuration 'timing=sync', 'batch' was 1" + when + "not there" + remedy);
  EXPECT_EQ(
      said([](auto& planned) { planned.configurations[0].members[0].run.wait = wait_mode::spin; }),
      "in configuration 'timing=sync', 'wait' was block" + when + "spin" + remedy);
  EXPECT_EQ(said([](auto& planned) { planned.configurations[0].members[0].run.deadline = 5; }),
            "in configuration 'timing=sync', 'deadline_ns' was null" + when + "5" + remedy);
  EXPECT_EQ(said([](auto& planned) { planned.how.seed = 2; }),
            "'seed' was 1" + when + "2" + remedy);
  EXPECT_EQ(said([](auto& planned) { planned.how.fresh_processes = true; }),
            "'processes' was one" + when + "fresh" + remedy);
}

TEST_F(changed_experiment_test, is_another_with_other_configurations) {
  EXPECT_THAT(said([](auto& planned) { planned.configurations.pop_back(); }),
              HasSubstr("the number of 'configurations' was 2 when these trials were made and is 1 "
                        "now"));
  EXPECT_THAT(said([](auto& planned) { planned.configurations[1].what.name = "renamed"; }),
              HasSubstr("'configuration' was timing=event when these trials were made and is "
                        "renamed now"));
  EXPECT_THAT(said([](auto& planned) {
                auto& configuration = planned.configurations[1];
                configuration.members.push_back(configuration.members[0]);
                configuration.what.members.push_back("twin");
              }),
              HasSubstr("in configuration 'timing=event', the number of 'pipelines' was 1"));
}

TEST_F(changed_experiment_test, is_another_with_another_name) {
  EXPECT_EQ(said([](auto& planned) { planned.name = "sync \"and\"\nevent"; }),
            "these are trials of the experiment 'sync_vs_event', not of 'sync \"and\"?event'; name "
            "another file, or start over with --overwrite");
}

TEST_F(changed_experiment_test, may_be_judged_otherwise) {
  EXPECT_EQ(said([](auto& planned) {
              planned.how.trials = 99;
              planned.how.narrow_to = 0.01;
              planned.how.margin = 0.02;
              planned.how.tail = 0.99;
              planned.how.repeat_affected = true;
              planned.description = "told in other words";
            }),
            "opened");
}

TEST_F(changed_experiment_test, is_another_to_another_version_of_the_program) {
  make(1);
  replace(R"("graphline":")", R"("graphline":"9.)");
  EXPECT_THAT(refusal(store_opening::resume), HasSubstr("'graphline' was 9."));
}

}  // namespace
}  // namespace graphline
