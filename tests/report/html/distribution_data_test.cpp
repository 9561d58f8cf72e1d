#include "framework/report/html/distribution_data.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/analysis/sample_records.hpp"
#include "tests/report/html/page_records.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

json distributions_of(const run_record& record) {
  return distribution_data(record, summarize(record));
}

TEST(distribution_data, counts_every_frame_however_many) {
  const auto data = distributions_of(samples::long_run(100'000));
  EXPECT_EQ(data["of"].size(), 11u);  // end to end, six stages, the launches of four
  for (const auto& one : data["of"]) {
    const auto counts = one["histogram"]["counts"].get<std::vector<std::size_t>>();
    const auto outside = one["histogram"]["below"].get<std::size_t>() +
                         one["histogram"]["beyond"].get<std::size_t>();
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), outside), 100'000u);
    EXPECT_EQ(one["counts"].back(), 100'000);
    EXPECT_EQ(one["times"].size(), one["counts"].size());
    EXPECT_LE(one["times"].size(), 400u);
  }
  const auto& frames = data["of"][0];
  EXPECT_GE(frames["histogram"]["beyond"], 11);  // what takes 60 ms longer
  EXPECT_EQ(frames["times"].back(), frames["marks"].back()[1]);
}

TEST(distribution_data, names_whose_times_they_are) {
  const auto data = distributions_of(samples::two_models(timing_method::event, 60));
  EXPECT_EQ(data["of"][0]["name"], "end to end");
  EXPECT_FALSE(data["of"][0].contains("what"));
  EXPECT_EQ(data["of"][1]["name"], "backbone");
  EXPECT_EQ(data["of"][1]["what"], "device");
  EXPECT_EQ(data["of"][2]["what"], "launch");
  EXPECT_EQ(data["of"][3]["what"], "cpu");
  EXPECT_FALSE(data.contains("deadline"));
}

TEST(distribution_data, marks_only_percentiles_that_the_sample_carries) {
  const auto data = distributions_of(samples::two_models(timing_method::event, 45));
  std::vector<std::string> names;
  for (const auto& mark : data["of"][0]["marks"]) names.push_back(mark[0]);
  EXPECT_EQ(names, (std::vector<std::string>{"min", "p50", "p90", "max"}));
}

TEST(distribution_data, has_the_wait_and_the_deadline_of_a_schedule) {
  const auto data = distributions_of(samples::two_models_on_schedule(60));
  EXPECT_EQ(data["of"][1]["name"], "from due to begin");
  EXPECT_EQ(data["deadline"], 80'000'000);
}

}  // namespace
}  // namespace graphline
