#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_validation.hpp"

namespace graphline::report {
namespace {

using samples::two_models_validation;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(describe_validation, shows_what_was_measured_and_predicted_and_where_they_differ) {
  samples::expect_golden("validation.txt", as_text(describe(two_models_validation(60))));
}

TEST(describe_validation, names_what_too_few_frames_cannot_tell) {
  const auto json = nlohmann::json::parse(result_json(two_models_validation(12)));
  EXPECT_EQ(json["figures"][2]["name"], "p95");
  EXPECT_TRUE(json["figures"][2]["measured"].is_null());
  EXPECT_TRUE(json["figures"][2]["verdict"].is_null());
  EXPECT_THAT(as_text(describe(two_models_validation(12))), HasSubstr("p95 needs 59 frames"));
}

TEST(describe_validation, tells_of_interruption_and_failure) {
  auto record = two_models_validation(12);
  record.rounds.resize(1);
  record.interrupted = true;
  EXPECT_THAT(as_text(describe(record)),
              AllOf(HasSubstr("INTERRUPTED after 1 of 5 rounds"), Not(HasSubstr("agrees  "))));
  record.rounds.clear();
  record.failure = "stage 'noise' failed in frame 3";
  EXPECT_THAT(as_text(describe(record)),
              HasSubstr("FAILED after 0 of 5 rounds: stage 'noise' failed in frame 3"));
}

TEST(describe_validation, holds_every_figure_for_programs) {
  const auto json = nlohmann::json::parse(result_json(two_models_validation(60)));
  EXPECT_EQ(json["schema"], "graphline.validation/1");
  EXPECT_EQ(json["pipeline"], "two_models");
  EXPECT_EQ(json["rounds"], 5);
  const auto& mean = json["figures"][0];
  EXPECT_EQ(mean["name"], "mean");
  EXPECT_EQ(mean["unit"], "ns");
  EXPECT_EQ(mean["measured"], 82'000'000);
  EXPECT_EQ(mean["predicted"], 74'000'000);
  EXPECT_NEAR(mean["error"].get<double>(), 74.0 / 82 - 1, 1e-4);
  EXPECT_LT(mean["error_interval"][0].get<double>(), mean["error"].get<double>());
  EXPECT_GT(mean["aa_spread"][1].get<double>(), 0);
  EXPECT_EQ(mean["verdict"], "differs");
  EXPECT_EQ(json["figures"][3]["unit"], "frame/s");
  EXPECT_EQ(json["stages"][0]["name"], "backbone");
  const auto& piece = json["pieces"][0];
  EXPECT_EQ(piece["stage"], "backbone");
  EXPECT_EQ(piece["what"], "device");
  EXPECT_NEAR(piece["difference"].get<double>(), -8, 1e-3);
  EXPECT_NEAR(piece["error_share"].get<double>(), 1, 1e-3);
  EXPECT_EQ(json["record"]["rounds"].size(), 5U);
}

}  // namespace
}  // namespace graphline::report
