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

/// Resumes the sample store with a changed experiment.
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

TEST_F(changed_experiment_test, names_what_is_another) {
  const auto was = [](const std::string& what, const std::string& before, const std::string& now) {
    return what + " was '" + before + "' when these trials were made and is '" + now +
           "' now; set it back, or start over with --overwrite";
  };
  EXPECT_EQ(said([](auto& planned) { planned.files[1].second = "3"; }),
            was("files/two_models.yaml", sample_plan().files[1].second, "3"));
  EXPECT_EQ(
      said([](auto& planned) { planned.configurations[1].members[0].parameters[0].second = "8"; }),
      was("configurations/1/members/0/parameters/batch", "1", "8"));
  EXPECT_EQ(said([](auto& planned) { planned.configurations[0].members[0].run.deadline = 5; }),
            was("configurations/0/members/0/settings/deadline_ns", "null", "5"));
  EXPECT_EQ(said([](auto& planned) { planned.how.seed = 2; }), was("seed", "1", "2"));
  EXPECT_THAT(said([](auto& planned) { planned.configurations.pop_back(); }),
              AllOf(HasSubstr("configurations/1 was '{"), HasSubstr("is absent now")));
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
  EXPECT_THAT(refusal(store_opening::resume), HasSubstr("graphline was '9."));
}

}  // namespace
}  // namespace graphline
