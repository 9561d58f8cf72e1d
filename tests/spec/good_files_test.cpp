#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/spec/settings_table.hpp"
#include "tests/spec/bad_files.hpp"

namespace graphline {
namespace {

using assignments = std::vector<std::pair<std::string, std::string>>;
const std::filesystem::path good = GRAPHLINE_TEST_DIR "/good";

/// Reads good/NAME.yaml without diagnostics.
pipeline_spec read_good_file(const std::string& name, const reading_options& options = {}) {
  const std::string path = good / (name + ".yaml");
  reading r = read_pipeline_text(file_text(path), options, path);
  EXPECT_EQ(r.said.render(), "");
  return std::move(r.spec);
}

/// "a (line 3), b (line 4)".
std::string shown(const std::vector<named>& list) {
  std::vector<std::string> texts;
  for (const named& n : list) texts.push_back(fmt::format("{} (line {})", n.text, n.place.line));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The whole spec as text, one line per part.
std::string shown(const pipeline_spec& spec) {
  std::string text = fmt::format("{}: {}\n", shown(std::vector{spec.name}), spec.description);
  for (const auto& [name, value] : spec.parameters) text += fmt::format("${} = {}\n", name, value);
  if (!spec.plugins.empty()) text += fmt::format("plugins: {}\n", shown(spec.plugins));
  for (const input_spec& input : spec.inputs) {
    text += fmt::format("input {}: {} {}{}{}\n", input.name.text, to_string(input.type),
                        to_word(input.fill), input.on ? ", on " : "",
                        input.on ? to_word(*input.on) : "");
  }
  for (const stage_spec& stage : spec.stages) {
    text += fmt::format("stage {}: {}, priority {}\n", stage.name.text,
                        shown(std::vector{stage.kind}), to_word(stream_priority(stage.priority)));
    if (!stage.reads.empty()) text += fmt::format("  reads {}\n", shown(stage.reads));
    if (!stage.writes.empty()) text += fmt::format("  writes {}\n", shown(stage.writes));
    if (!stage.cores.cpus.empty()) {
      text += fmt::format("  cores {} (line {})\n", fmt::join(stage.cores.cpus, ", "),
                          stage.cores.place.line);
    }
    if (!stage.after.empty()) text += fmt::format("  after {}\n", shown(stage.after));
    text += fmt::format("  {}\n", stage.parameters.in_one_line());
  }
  each_setting([&](auto member, const setting_entry& of) {
    if (spec.run.*member == settings().*member) return;
    text += fmt::format("{}: {}\n", of.key, written(spec.run.*member));
  });
  return text;
}

class good_file : public testing::TestWithParam<std::string> {};

TEST_P(good_file, becomes_its_spec) {
  const pipeline_spec spec = read_good_file(GetParam());
  EXPECT_EQ(spec.directory, good);
  expect_explained(good, GetParam(), shown(spec));
}

INSTANTIATE_TEST_SUITE_P(spec, good_file, testing::ValuesIn(bad_files_in(good)), name_of_bad_file);

TEST(a_pipeline_file, has_other_values_for_another_backend) {
  const pipeline_spec spec = read_good_file("two_models", {"cuda", {}});
  EXPECT_EQ(spec.parameters, (assignments{{"batch", "32"}, {"side", "224"}}));
  ASSERT_EQ(spec.inputs.size(), 1U);
  EXPECT_EQ(spec.inputs[0].type.shape, (shape{32, 3, 224, 224}));
}

TEST(a_pipeline_file, takes_parameters_from_the_command_line_the_last_one_winning) {
  const pipeline_spec spec =
      read_good_file("two_models", {"cuda", {{"batch", "4"}, {"batch", "8"}}});
  EXPECT_EQ(spec.parameters, (assignments{{"batch", "8"}, {"side", "224"}}));
}

TEST(a_pipeline_file, takes_parameters_from_another_file_with_their_places) {
  const auto other = std::make_shared<const source_text>("other.yaml", "batch: many\n");
  const node many = node::scalar("many", false, {other, 1, 8, 4});
  reading_options options;
  options.values = {{{"batch", {other, 1, 1, 5}}, many}};
  const std::string path = good / "two_models.yaml";
  EXPECT_EQ(read_pipeline_text(file_text(path), options, path).said.render(),
            "other.yaml:1:8: error: 'shape' must be a list of whole numbers, such as [1, 3, 224, "
            "224], found 'many'\n"
            "    1 | batch: many\n"
            "      |        ^~~~");

  options.values[0].value = node::mapping({{{"cuda"}, 16}, {{"host"}, 2}});
  options.backend = "cuda";
  EXPECT_EQ(read_good_file("two_models", options).parameters,
            (assignments{{"batch", "16"}, {"side", "224"}}));
  options.set = {{"batch", "8"}};
  EXPECT_EQ(read_good_file("two_models", options).parameters,
            (assignments{{"batch", "8"}, {"side", "224"}}))
      << "the command line has the last word";
}

TEST(a_pipeline_file, may_name_a_single_plugin) {
  const reading single =
      read_pipeline_text("pipeline: p\nplugins: normalize.so\nstages:\n  - {name: s, kind: k}\n");
  EXPECT_EQ(single.said.render(), "");
  EXPECT_EQ(shown(single.spec.plugins), "normalize.so (line 2)");
}

TEST(a_pipeline_file, may_name_the_ports_at_which_a_stage_reads_and_writes) {
  const reading named = read_pipeline_text(
      "pipeline: p\nstages:\n"
      "  - {name: s, kind: k, reads: {x: a, sizes/0: b}, writes: {y: c}}\n");
  EXPECT_EQ(named.said.render(), "");
  const stage_spec& s = named.spec.stages.at(0);
  EXPECT_EQ(shown(s.read_ports), "x (line 3), sizes/0 (line 3)");
  EXPECT_EQ(shown(s.reads), "a (line 3), b (line 3)");
  EXPECT_EQ(shown(s.write_ports), "y (line 3)");
  EXPECT_EQ(shown(s.writes), "c (line 3)");
}

TEST(a_pipeline_file, may_have_windows_line_ends_and_a_byte_order_mark) {
  std::string text = "\xef\xbb\xbf";
  for (const char c : file_text(good / "two_models.yaml")) {
    if (c == '\n') text += '\r';
    text += c;
  }
  const reading r = read_pipeline_text(text);
  EXPECT_EQ(r.said.render(), "");
  EXPECT_EQ(shown(r.spec), shown(read_good_file("two_models")));
}

TEST(a_pipeline_file, without_a_folder_in_its_name_lies_in_the_current_one) {
  EXPECT_EQ(read_pipeline_text("pipeline: p", {}, "p.yaml").spec.directory, ".");
  EXPECT_EQ(read_pipeline_text("pipeline: p", {}, "/p.yaml").spec.directory, "/");
}

TEST(a_pipeline_file, that_is_wrong_still_gives_what_could_be_understood) {
  const reading r = read_pipeline_text(
      "pipeline: p\n"
      "inputs: {a: {shape: [2, x]}, b: {shape: [3]}}\n"
      "stages:\n"
      "  - {name: first}\n"
      "  - {kind: copy, reads: b}\n"
      "  - {name: third, kind: copy}\n"
      "run: {frames: ten, warmup: 3}\n");
  EXPECT_EQ(r.said.all().size(), 4U) << r.said.render();
  ASSERT_EQ(r.spec.inputs.size(), 2U);
  EXPECT_FALSE(r.spec.inputs[0].typed);
  EXPECT_TRUE(r.spec.inputs[1].typed);
  ASSERT_EQ(r.spec.stages.size(), 3U);
  EXPECT_EQ(r.spec.stages[0].kind.text, "");
  EXPECT_EQ(r.spec.stages[1].name.text, "");
  EXPECT_EQ(r.spec.stages[2].name.text, "third");
  EXPECT_EQ(r.spec.run.frames, settings().frames);
  EXPECT_EQ(r.spec.run.warmup, 3);
}

TEST(read_pipeline, gives_parameters_the_value_of_the_backend_of_each_stages_device) {
  const reading r = read_pipeline_text(
      "pipeline: p\n"
      "params: {n: {host: 3, cuda: 5}, slow: b}\n"
      "devices: {a: cuda:1, b: {kind: host, threads: 2}}\n"
      "inputs: {x: {shape: [$n]}}\n"
      "stages:\n"
      "  - {name: one, kind: k, amount: $n}\n"
      "  - {name: two, kind: k, on: b, amount: $n}\n"
      "  - {name: three, kind: k, on: $slow, amount: $n}\n"
      "  - {name: four, kind: k, on: a, amount: $n}\n");
  EXPECT_EQ(r.said.render(), "");
  ASSERT_EQ(r.spec.devices.size(), 2U);
  EXPECT_EQ(r.spec.devices[0].device.text, "cuda:1");
  EXPECT_EQ(r.spec.devices[1].name.text, "b");
  EXPECT_EQ(r.spec.devices[1].device.text, "host");
  EXPECT_EQ(r.spec.devices[1].threads, 2);
  EXPECT_EQ(r.spec.inputs[0].type.shape, shape({5}));
  std::vector<std::string> amounts;
  for (const stage_spec& stage : r.spec.stages) {
    amounts.push_back(stage.parameters.find("amount")->text());
  }
  EXPECT_EQ(amounts, (std::vector<std::string>{"5", "3", "3", "5"}));
  EXPECT_EQ(r.spec.stages[2].on.text, "b");

  const reading lacking = read_pipeline_text(
      "pipeline: p\nparams: {n: {cuda: 5}}\ndevices: {a: cuda, b: host}\n"
      "stages: [{name: one, kind: k, on: a, amount: $n}, {name: two, kind: k, on: b, amount: "
      "$n}]\n");
  EXPECT_NE(lacking.said.render().find("parameter 'n' has no value for the backend 'host'"),
            std::string::npos);
}

}  // namespace
}  // namespace graphline
