#include "framework/report/html/pipeline_data.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

json pipeline_of(const run_record& record) {
  return pipeline_data(record, summarize(record));
}

/// "image -> backbone" for each edge.
std::vector<std::string> edges_of(const json& data) {
  const auto name = [&](const json& node) -> std::string {
    return node["what"] == "stage" ? data["stages"][node["of"].get<std::size_t>()]["name"]
                                   : data["tensors"][node["of"].get<std::size_t>()][0];
  };
  std::vector<std::string> result;
  for (const auto& edge : data["edges"]) {
    result.push_back(name(data["nodes"][edge["from"].get<std::size_t>()]) + " -> " +
                     name(data["nodes"][edge["to"].get<std::size_t>()]));
  }
  return result;
}

TEST(pipeline_data, has_what_goes_in_what_it_passes_and_what_comes_out) {
  const auto data = pipeline_of(samples::two_models(timing_method::event, 10));
  EXPECT_EQ(edges_of(data), (std::vector<std::string>{"image -> backbone", "backbone -> head",
                                                      "noise -> noise", "head -> score"}));
  EXPECT_EQ(data["edges"][1]["tensors"], json({1}));
  EXPECT_EQ(data["edges"][1]["how"], "stream order");
  EXPECT_TRUE(data["edges"][0]["how"].is_null());
  EXPECT_EQ(data["tensors"][1], json({"features", "float32 [1, 1024, 28, 28]"}));
}

TEST(pipeline_data, tells_where_a_stage_runs_and_how_long_it_takes) {
  const auto record = samples::two_models(timing_method::event, 10);
  const auto summary = summarize(record);
  const auto data = pipeline_of(record);
  EXPECT_EQ(data["stages"][0]["where"], "main");
  EXPECT_EQ(data["stages"][0]["colour"], "device");
  EXPECT_EQ(data["stages"][1]["where"], "CPU");
  EXPECT_EQ(data["stages"][1]["colour"], "cpu");
  EXPECT_EQ(data["stages"][0]["measure"], "device_time");
  EXPECT_EQ(data["stages"][0]["mean"], summary.stages[0].columns[0].times->mean());
  EXPECT_EQ(data["stages"][0]["reads"], json::array({0}));
  EXPECT_EQ(data["stages"][0]["writes"], json::array({1}));
  EXPECT_EQ(data["stages"][2]["waits"], json::array({json::array({0, "stream order"})}));
}

TEST(pipeline_data, has_no_times_where_there_are_none) {
  const auto data = pipeline_of(samples::two_models(timing_method::none, 10));
  for (const auto* key : {"measure", "mean", "share"}) {
    EXPECT_TRUE(data["stages"][0][key].is_null()) << key;
  }
}

TEST(pipeline_data, draws_a_wait_that_hands_over_nothing) {
  auto record = samples::two_models(timing_method::event, 10);
  record.stages[2].waits.push_back({1, satisfied_by::cpu_return});
  const auto data = pipeline_of(record);
  EXPECT_EQ(edges_of(data)[2], "noise -> head");
  EXPECT_EQ(data["edges"][2]["tensors"], json::array());
  EXPECT_EQ(data["edges"][2]["how"], "return");
}

TEST(pipeline_data, colours_a_copy_as_one) {
  auto record = samples::two_models(timing_method::event, 10);
  record.stages[2].copy = true;
  EXPECT_EQ(pipeline_of(record)["stages"][2]["colour"], "copy");
}

TEST(pipeline_data, keeps_names_as_they_are) {
  auto record = samples::two_models(timing_method::event, 10);
  record.stages[0].name = "</script><b>\n\"x\"";
  record.tensors[0].name = "\xd7\xa9\xd7\x9c\xd7\x91";
  const auto data = pipeline_of(record);
  EXPECT_EQ(data["stages"][0]["name"], record.stages[0].name);
  EXPECT_EQ(data["tensors"][0][0], record.tensors[0].name);
}

TEST(pipeline_data, is_empty_of_a_record_without_stages) {
  const auto data = pipeline_of(run_record());
  EXPECT_TRUE(data["nodes"].empty());
  EXPECT_TRUE(data["edges"].empty());
}

}  // namespace
}  // namespace graphline
