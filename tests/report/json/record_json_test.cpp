#include "framework/report/json/record_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "framework/report/json/json_text.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/random_records.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::expect_same;
using samples::random_trial;
using samples::two_models;
using ::testing::HasSubstr;
using ::testing::StartsWith;

trial_record sample_trial() {
  trial_record trial;
  trial.members = {two_models(timing_method::event, 3)};
  return trial;
}

json value_of(const trial_record& trial) {
  return json::parse(json_line(part_json(trial)));
}

trial_record read_back(const json& value) {
  return trial_from(json_part(value, "trial"));
}

/// The message of reading a changed sample trial.
template <class Change>
std::string trouble_of_a_trial(Change change) {
  auto value = value_of(sample_trial());
  change(value);
  try {
    read_back(value);
  } catch (const input_error& e) {
    return e.what();
  }
  return "read";
}

TEST(record_json, reads_back_whatever_a_trial_holds) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto trial = random_trial(seed, seed % 4, seed % 7);
    expect_same(trial, read_back(value_of(trial)));
  }
}

TEST(record_json, has_columns_of_whole_nanoseconds) {
  const auto run = value_of(sample_trial())["members"][0];
  EXPECT_EQ(run["frames"]["begin"][0], 1'000'000);
  EXPECT_EQ(run["stages"][0]["device"]["begin"].size(), 3u);
  EXPECT_FALSE(run["stages"][0].contains("cpu"));
}

TEST(record_json, names_what_is_missing) {
  EXPECT_EQ(trouble_of_a_trial([](json& trial) { trial["members"][0]["stages"][1].erase("kind"); }),
            "trial.members[0].stages[1] lacks 'kind'");
  EXPECT_EQ(trouble_of_a_trial([](json& trial) { trial.erase("block"); }), "trial lacks 'block'");
}

TEST(record_json, names_what_is_of_the_wrong_kind) {
  struct {
    const char* where;
    json value;
    const char* refusal;
  } const cases[] = {
      {"/block", -1, "block is -1, where a whole number that is not negative is expected"},
      {"/begun_ns", 0.5, "begun_ns is 0.5, where a whole number is expected"},
      {"/begun_ns", 1ULL << 63, "begun_ns is 9223372036854775808, where a whole number"},
      {"/members", json::object(), "members is an object, where a list is expected"},
      {"/members/0", nullptr, "members[0] is null, where an object is expected"},
      {"/members/0/frames/end/1", "x",
       "members[0].frames.end[1] is \"x\", where a whole number is expected"},
      {"/members/0/interrupted", 1, "members[0].interrupted is 1, where true or false is expected"},
      {"/members/0/pipeline", 1, "members[0].pipeline is 1, where a text is expected"},
      {"/members/0/settings/rate", "fast",
       "members[0].settings.rate is \"fast\", where a number is expected"},
      {"/members/0/settings/strategy", "magic",
       "members[0].settings.strategy is \"magic\", where a word that this program knows is "
       "expected"},
      {"/members/0/settings/streams", "65",
       "members[0].settings.streams is \"65\", where a word or number of the setting 'streams' is "
       "expected"},
      {"/members/0/parameters", json::array({json::array({"a", "b", "x"})}),
       "members[0].parameters[0] is a list, where a name and a text is expected"},
      {"/members/0/device/priority_levels", 1LL << 40,
       "members[0].device.priority_levels is 1099511627776"},
      {"/members/0/outputs/0/dtype", "int4", "members[0].outputs[0].dtype is \"int4\""}};
  for (const auto& [where, value, refused] : cases) {
    SCOPED_TRACE(where);
    EXPECT_THAT(trouble_of_a_trial([&, &where = where, &value = value](json& trial) {
                  trial[json::json_pointer(where)] = value;
                }),
                StartsWith(std::string("trial.") + refused));
  }
}

TEST(record_json, refuses_a_busy_time_that_is_not_within_the_stage) {
  const auto with = [](std::vector<nanoseconds> busy) {
    return trouble_of_a_trial(
        [&](json& trial) { trial["members"][0]["stages"][0]["busy"] = busy; });
  };
  EXPECT_THAT(with({1, -1, 1}), HasSubstr("stages[0].busy[1] is -1, where nanoseconds of the time "
                                          "between the stage's events"));
  EXPECT_THAT(with({1, 1, nanoseconds{1} << 40}), HasSubstr("stages[0].busy[2] is"));
  EXPECT_THAT(with({1, 1}), HasSubstr("stages[0].busy has 2 entries"));
}

TEST(record_json, refuses_columns_of_different_lengths) {
  EXPECT_EQ(trouble_of_a_trial([](json& trial) { trial["members"][0]["frames"]["end"].erase(0); }),
            "trial.members[0].frames.end has 2 entries, where trial.members[0].frames.due has 3");
  EXPECT_EQ(trouble_of_a_trial([](json& trial) {
              for (auto& column : trial["members"][0]["stages"][0]["device"]) column.push_back(1);
            }),
            "trial.members[0].stages[0].device has 4 entries, where the run has 3 frames");
}

}  // namespace
}  // namespace graphline
