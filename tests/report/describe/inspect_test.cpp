#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/file/text_sink.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/render.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"

namespace graphline::report {
namespace {

using samples::cell_of;
using samples::number;
using samples::part_of;
using samples::text;

cost_figures all_of(std::int64_t parameters, std::int64_t macs, std::int64_t flops,
                    std::int64_t read, std::int64_t written) {
  cost_figures result{parameters, macs, flops, read, written, {}, {}};
  if (read + written > 0) {
    result.intensity = static_cast<double>(flops) / static_cast<double>(read + written);
  }
  return result;
}

/// All sorts of stages: a network with layers, a copy, a CPU stage with two outputs and unknown
/// arithmetic, and a stage without costs whose name needs quoting.
cost_summary sample_costs() {
  const tensor_type image{{1, 512, 256, 256}, dtype::float32};
  cost_summary summary;
  summary.pipeline = "known";
  summary.description = "A convolution that is known.";
  summary.parameters = {{"batch", "1"}, {"mode", "fast"}};
  summary.stages = {
      {"copy:image",
       "copy",
       side::device,
       true,
       {{"image@device", image}},
       all_of(0, 0, 0, 134'217'728, 134'217'728),
       {}},
      {"net",
       "network",
       side::device,
       false,
       {{"features", image}},
       all_of(6'553'600, 429'496'729'600, 859'027'013'632, 294'649'856, 268'435'456),
       {{"0.conv2d", "conv2d", image,
         all_of(6'553'600, 429'496'729'600, 858'993'459'200, 160'432'128, 134'217'728)},
        {"a_name_that_is_longer_than_there_is_room_for", "relu", image,
         all_of(0, 0, 33'554'432, 134'217'728, 134'217'728)},
        {"2.flatten", "flatten", {{1, 33'554'432}, dtype::float32}, all_of(0, 0, 0, 0, 0)}}},
      {"best",
       "cpu.nms",
       side::cpu,
       false,
       {{"kept", {{5}, dtype::int64}}, {"count", {{1}, dtype::int64}}},
       {0, {}, {}, 2'000, 48, {}, {}},
       {}},
      {"my,\"own\"\x1b[31m", "my.kind", side::cpu, false, {}, {}, {}}};
  summary.total = {6'553'600, 429'496'729'600, 859'027'013'632, 428'869'584, 402'653'232,
                   {},        1033.09};
  summary.without_flops = {2, 3};
  summary.without_bytes = {3};
  return summary;
}

TEST(describe_inspect, shows_stages_layers_and_what_the_total_leaves_out) {
  samples::expect_golden("inspect.txt", as_text(describe(sample_costs()), {.width = 100}));
}

TEST(describe_inspect, is_data_for_programs) {
  const auto made = nlohmann::json::parse(
      text_by([](text_sink& to) { write_json(to, describe(sample_costs())); }));
  EXPECT_EQ(made["schema"], "graphline.inspect/1");
  EXPECT_EQ(made["params"], (nlohmann::json{{"batch", 1}, {"mode", "fast"}}));
  const auto& best = made["stages"][2];
  EXPECT_EQ(best["output"], (nlohmann::json{{"kept", "int64 [5]"}, {"count", "int64 [1]"}}));
  EXPECT_TRUE(best["flops"].is_null());
  EXPECT_TRUE(best["layers"].empty());
  EXPECT_EQ(made["stages"][0]["inserted"], true);
  EXPECT_EQ(made["stages"][1]["layers"][0]["flops"], 858'993'459'200);
  EXPECT_EQ(made["total"]["bytes_read"], 428'869'584);
  ASSERT_EQ(made["findings"].size(), 2U);
  EXPECT_EQ(made["findings"][0]["key"], "flops_not_known");
  EXPECT_EQ(made["findings"][0]["subjects"], nlohmann::json::array({"best", "my,\"own\"\x1b[31m"}));
}

TEST(describe_inspect, is_read_back_and_compared) {
  const auto before = sample_costs();
  const auto file = text_by([&](text_sink& to) { write_json(to, describe(before), &before); });
  const auto saved = nlohmann::ordered_json::parse(file)["record"];
  const auto kind = any_record(before).index();
  auto after = std::get<cost_summary>(record_from(kind, json_part(saved, "record")));
  EXPECT_EQ(record_json(&after), record_json(&before));

  auto& layer = after.stages[1].layers[0].figures;
  layer.flops = *layer.flops / 2;
  samples::expect_golden(
      "inspect_diff.txt",
      as_text(diff(describe(before), describe(after), "before.json", "after.json"), {.width = 80}));

  auto damaged = saved;
  damaged["without_flops"] = {4};
  try {
    record_from(kind, json_part(damaged, "record"));
    FAIL() << "an index of a stage that is not there was read";
  } catch (const input_error& e) {
    EXPECT_STREQ(e.what(), "record.without_flops[0] is 4, where an index below 4 is expected");
  }
}

}  // namespace
}  // namespace graphline::report
