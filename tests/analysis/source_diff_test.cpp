#include "framework/analysis/diff/source_diff.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string path_yaml = R"(pipeline: path
params: {batch: 4}
inputs:
  image: {shape: [$batch, 3, 8, 8], fill: normal}
stages:
  - name: work
    kind: cpu.spin
    duration: 3ms
  - name: net
    kind: network
    reads: image
    layers:
      - conv2d: {out_channels: 8, kernel: 3}
      - gelu
      - linear: {out_features: 2}
run: {frames: 45}
)";

/// The text with one passage replaced.
std::string with(const std::string& passage, const std::string& by, std::string text = path_yaml) {
  const auto at = text.find(passage);
  if (at == text.npos) throw std::logic_error(passage + " is not in the text");
  return text.replace(at, passage.size(), by);
}

/// Each change as "KEY: BEFORE -> AFTER", nothing as "-".
std::vector<std::string> changes(const std::vector<source_record>& before,
                                 const std::vector<source_record>& after) {
  std::vector<std::string> result;
  for (const auto& [name, texts] : differences(before, after)) {
    result.push_back(
        fmt::format("{}: {} -> {}", name, texts.before.value_or("-"), texts.after.value_or("-")));
  }
  return result;
}

std::vector<std::string> changes(const std::string& before, const std::string& after) {
  return changes({{"before.yaml", before}}, {{"after.yaml", after}});
}

TEST(source_differences, name_the_key_and_both_values) {
  EXPECT_THAT(changes(path_yaml, with("duration: 3ms", "duration: 5ms")),
              ElementsAre("stages.work.duration: 3ms -> 5ms"));
  EXPECT_THAT(changes(path_yaml, with("fill: normal", "fill: zeros")),
              ElementsAre("inputs.image.fill: normal -> zeros"));
  EXPECT_THAT(changes(path_yaml, with("[$batch, 3, 8, 8]", "[$batch, 3, 8, 16]")),
              ElementsAre("inputs.image.shape: [$batch, 3, 8, 8] -> [$batch, 3, 8, 16]"));
}

TEST(source_differences, name_keys_that_only_one_file_has) {
  EXPECT_THAT(changes(path_yaml, with("duration: 3ms", "duration: 3ms\n    priority: high")),
              ElementsAre("stages.work.priority: - -> high"));
  EXPECT_THAT(changes(with("inputs:", "plugins: [a.so]\ninputs:"), path_yaml),
              ElementsAre("plugins: [a.so] -> -"));
}

TEST(source_differences, are_none_in_comments_formatting_and_the_order_of_keys) {
  auto other = with("    kind: cpu.spin\n    duration: 3ms\n",
                    "    # three\n    duration: '3ms'   # ms\n\n    kind: cpu.spin\n");
  other = with("reads: image", "reads: [image]", other);
  other = with("- conv2d: {out_channels: 8, kernel: 3}",
               "- conv2d:\n          kernel: 3.0\n          out_channels: 8", other);
  other = with("- gelu", "- gelu: {}", other);
  EXPECT_THAT(changes(path_yaml, other), IsEmpty());
}

TEST(source_differences, leave_out_what_settings_say_and_extension_keys) {
  auto other = with("frames: 45", "frames: 50");
  other = with("batch: 4", "batch: 8", other);
  EXPECT_THAT(changes(path_yaml, "x-note: here\n" + other), IsEmpty());
}

TEST(source_differences, keep_a_text_apart_from_a_number) {
  EXPECT_THAT(changes("a: '3.0'\n", "a: '3'\n"), ElementsAre("a: 3.0 -> 3"));
}

TEST(source_differences, name_stages_that_came_went_or_moved) {
  const std::string a = "stages:\n  - {name: a, kind: x}\n";
  const std::string b = "  - {name: b, kind: x}\n";
  const std::string c = "  - {name: c, kind: y}\n";
  EXPECT_THAT(changes(a + b, a + c), ElementsAre("stages.b: {name: b, kind: x} -> -",
                                                 "stages.c: - -> {name: c, kind: y}"));
  const std::string swapped = "stages:\n" + b + "  - {name: a, kind: x}\n";
  EXPECT_THAT(changes(a + b, swapped), ElementsAre("stages (order): [a, b] -> [b, a]"));
}

TEST(source_differences, see_an_added_or_removed_layer_and_not_all_that_follow) {
  const auto added = with("- gelu\n", "- gelu\n      - relu\n");
  EXPECT_THAT(changes(path_yaml, added), ElementsAre("stages.net.layers[2]: - -> relu"));
  EXPECT_THAT(changes(added, path_yaml), ElementsAre("stages.net.layers[2]: relu -> -"));
}

TEST(source_differences, match_layers_of_a_kind_around_those_that_were_added) {
  auto other = with("layers:\n", "layers:\n      - relu\n");
  other = with("out_features: 2", "out_features: 5", other);
  other = with("- gelu", "- gelu: {approximate: tanh}", other);
  EXPECT_THAT(changes(path_yaml, other),
              ElementsAre("stages.net.layers[0]: - -> relu",
                          "stages.net.layers[1].gelu.approximate: - -> tanh",
                          "stages.net.layers[2].linear.out_features: 2 -> 5"));
}

TEST(source_differences, pair_further_files_by_name_wherever_they_lie) {
  const source_record experiment{"old/e.yaml", "experiment: e\ntrials: 5\nrun: {frames: 3}\n"};
  const source_record renamed{"new/f.yaml", "experiment: e\ntrials: 8\nrun: {frames: 4}\n"};
  const source_record path{"old/path.yaml", path_yaml};
  const source_record other{"new/path.yaml", with("3ms", "4ms")};
  EXPECT_THAT(changes({experiment, path}, {renamed, other, {"new/third.yaml", path_yaml}}),
              ElementsAre("trials: 5 -> 8", "run.frames: 3 -> 4",
                          "path.yaml: stages.work.duration: 3ms -> 4ms",
                          "third.yaml: - -> new/third.yaml"));
}

TEST(source_differences, refuse_a_text_that_is_no_yaml) {
  EXPECT_THROW(changes("a: [", "a: 1\n"), input_error);
}

}  // namespace
}  // namespace graphline
