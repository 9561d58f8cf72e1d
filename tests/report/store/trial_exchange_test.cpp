#include "framework/report/store/stored_trials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "tests/report/random_records.hpp"

namespace graphline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  try {
    trial_exchange_from(text);
  } catch (const run_error& problem) {
    return problem.what();
  }
  return "none";
}

TEST(trial_exchange, hands_a_trial_over_as_one_line) {
  const trial_exchange given{{{"a \"b\".yaml", "01"}, {"device", "host"}},
                             samples::random_trial(3, 2, 4)};
  const auto text = text_of(given);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto back = trial_exchange_from(text);
  EXPECT_EQ(back.files, given.files);
  samples::expect_same(back.trial, given.trial);
}

TEST(trial_exchange, fails_the_run_where_a_process_answers_something_else) {
  const auto whole = text_of({{}, samples::random_trial(3, 1, 2)});
  EXPECT_THAT(refusal(""), HasSubstr("did not hand back a trial: "));
  EXPECT_THAT(refusal("Killed\n"), HasSubstr("did not hand back a trial: "));
  EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("did not hand back a trial: "));
  EXPECT_THAT(refusal("{\"files\": []}"),
              AllOf(HasSubstr("did not hand back a trial: "), HasSubstr("its line lacks 'trial'")));
  EXPECT_THAT(refusal("[1]"), HasSubstr("its line is a list"));
}

}  // namespace
}  // namespace graphline
