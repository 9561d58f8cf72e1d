#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

using names = std::vector<std::string>;
using assignments = std::vector<std::pair<std::string, std::string>>;

/// Reads good/NAME.yaml, about which nothing may be said.
pipeline_spec read_good_file(const std::string& name, const reading_options& options = {}) {
  const std::string path = GRAPHLINE_TEST_DIR "/good/" + name + ".yaml";
  reading r = read_pipeline_text(file_text(path), options, path);
  EXPECT_EQ(r.said.render(), "");
  return std::move(r.spec);
}

names texts(const std::vector<named>& list) {
  names result;
  for (const named& n : list) result.push_back(n.text);
  return result;
}

names keys(const node& mapping) {
  names result;
  for (const node::member& m : mapping.members()) result.push_back(m.key.text);
  return result;
}

names item_texts(const node& list) {
  names result;
  for (const node& item : list.items()) result.push_back(item.text());
  return result;
}

TEST(a_pipeline_file, becomes_its_spec) {
  const pipeline_spec spec = read_good_file("two_models");
  EXPECT_EQ(spec.name.text, "two_models");
  EXPECT_EQ(spec.name.place.line, 1U);
  EXPECT_EQ(spec.name.place.column, 11U);
  EXPECT_EQ(spec.description, "Two networks with CPU work between them.");
  EXPECT_EQ(spec.directory, GRAPHLINE_TEST_DIR "/good");
  EXPECT_EQ(spec.parameters, (assignments{{"batch", "1"}, {"side", "112"}}));

  ASSERT_EQ(spec.inputs.size(), 1U);
  EXPECT_EQ(spec.inputs[0].name.text, "image");
  EXPECT_EQ(spec.inputs[0].type, (tensor_type{{1, 3, 112, 112}, dtype::float32}));
  EXPECT_EQ(spec.inputs[0].fill, fill::normal);
  EXPECT_FALSE(spec.inputs[0].on);

  ASSERT_EQ(spec.stages.size(), 3U);
  const stage_spec& backbone = spec.stages[0];
  EXPECT_EQ(backbone.name.text, "backbone");
  EXPECT_EQ(backbone.kind.text, "network");
  EXPECT_EQ(backbone.kind.place.line, 10U);
  EXPECT_EQ(texts(backbone.reads), names{"image"});
  EXPECT_EQ(texts(backbone.writes), names{"features"});
  EXPECT_EQ(backbone.priority, priority::high);
  EXPECT_EQ(keys(backbone.parameters), names{"layers"});
  EXPECT_EQ(spec.stages[1].priority, priority::normal);
  EXPECT_EQ(keys(spec.stages[1].parameters), (names{"shape", "scale"}));
  EXPECT_EQ(texts(spec.stages[2].after), names{"noise"});

  EXPECT_EQ(spec.run.frames, 45);
  EXPECT_EQ(spec.run.warmup, 5);
  EXPECT_EQ(spec.run.strategy, strategy::async);
  EXPECT_EQ(spec.run.timing, timing_method::event);
}

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
  const std::string path = GRAPHLINE_TEST_DIR "/good/two_models.yaml";
  EXPECT_EQ(read_pipeline_text(file_text(path), options, path).said.render(),
            "other.yaml:1:8: error: 'shape' must be a list of whole numbers, such as [1, 3, 224, "
            "224], found 'many'\n"
            "    1 | batch: many\n"
            "      |        ^~~~");

  options.values[0].value = node::mapping({{{"cuda"}, 16}, {{"host"}, 2}});
  EXPECT_EQ(read_good_file("two_models", options).parameters,
            (assignments{{"batch", "2"}, {"side", "112"}}));
  options.backend = "cuda";
  EXPECT_EQ(read_good_file("two_models", options).parameters,
            (assignments{{"batch", "16"}, {"side", "224"}}));
  options.set = {{"batch", "8"}};
  EXPECT_EQ(read_good_file("two_models", options).parameters,
            (assignments{{"batch", "8"}, {"side", "224"}}))
      << "the command line has the last word";

  options.set.clear();
  options.values[0].key.text = "bacth";
  EXPECT_EQ(read_pipeline_text(file_text(path), options, path).said.render(),
            "other.yaml:1:1: error: the pipeline has no parameter 'bacth' (did you mean 'batch'?)\n"
            "    1 | batch: many\n"
            "      | ^~~~~");
}

TEST(a_pipeline_file, may_set_everything_there_is) {
  const pipeline_spec spec = read_good_file("every_setting");
  EXPECT_EQ(spec.name.text, "größe-1.5_試験");
  EXPECT_EQ(spec.run.strategy, strategy::overlap);
  EXPECT_EQ(spec.run.graphs, graph_mode::off);
  EXPECT_EQ(spec.run.timing, timing_method::none);
  EXPECT_EQ(spec.run.wait, wait_mode::spin);
  EXPECT_FALSE(spec.run.priorities);
  EXPECT_EQ(spec.run.in_flight, 64);
  EXPECT_EQ(spec.run.frames, 100'000'000);
  EXPECT_EQ(spec.run.warmup, 0);
  EXPECT_EQ(spec.run.seed, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(spec.run.threads, 1024);
  EXPECT_EQ(spec.run.deadline, 16'700'000);
  EXPECT_EQ(spec.run.arrival, arrival::poisson);
  EXPECT_EQ(spec.run.rate, 29.97);
  EXPECT_EQ(spec.run.queue, 1'000'000);
  EXPECT_EQ(spec.run.when_full, queue_policy::drop_newest);

  ASSERT_EQ(spec.inputs.size(), 3U);
  EXPECT_EQ(spec.inputs[0].type, (tensor_type{{4}, dtype::int32}));
  EXPECT_EQ(spec.inputs[0].fill, fill::ones);
  EXPECT_EQ(spec.inputs[0].on, side::cpu);
  EXPECT_EQ(spec.inputs[1].type, (tensor_type{{7}, dtype::bfloat16}));
  EXPECT_EQ(spec.inputs[1].fill, fill::zeros);
  EXPECT_EQ(spec.inputs[1].on, side::device);
  EXPECT_EQ(spec.inputs[2].type, (tensor_type{{}, dtype::float32}));

  ASSERT_EQ(spec.stages.size(), 1U);
  EXPECT_EQ(texts(spec.stages[0].reads), (names{"a", "b", "c"}));
  EXPECT_EQ(texts(spec.stages[0].writes), (names{"x", "y"}));
  EXPECT_EQ(spec.stages[0].priority, priority::low);
}

TEST(a_pipeline_file, names_plugins_as_a_list_of_paths_or_a_single_one) {
  const pipeline_spec spec = read_good_file("plugins");
  EXPECT_EQ(texts(spec.plugins), (names{"build/normalize.so", "$plain.so"}));
  EXPECT_EQ(spec.plugins[0].place.line, 4U);
  EXPECT_EQ(spec.plugins[0].place.column, 11U);
  EXPECT_EQ(texts(read_good_file("plugins", {"cuda", {}}).plugins),
            (names{"/opt/normalize cuda.so", "$plain.so"}));

  const reading single =
      read_pipeline_text("pipeline: p\nplugins: normalize.so\nstages:\n  - {name: s, kind: k}\n");
  EXPECT_EQ(single.said.render(), "");
  EXPECT_EQ(texts(single.spec.plugins), names{"normalize.so"});
}

TEST(a_pipeline_file, may_merge_mappings_with_keys_of_its_own_winning) {
  const pipeline_spec spec = read_good_file("merges_and_anchors");
  ASSERT_EQ(spec.stages.size(), 3U);
  EXPECT_EQ(spec.stages[1].name.text, "second");
  EXPECT_EQ(spec.stages[1].kind.text, "network");
  EXPECT_EQ(spec.stages[1].parameters.find("scale")->text(), "1");
  EXPECT_EQ(spec.stages[2].name.text, "third");
  EXPECT_EQ(spec.stages[2].kind.text, "copy");
  EXPECT_EQ(spec.stages[2].parameters.find("scale")->text(), "2") << "the earlier one wins";
}

TEST(a_pipeline_file, may_have_keys_of_its_writers_own_for_anchors) {
  const pipeline_spec spec = read_good_file("own_keys");
  ASSERT_EQ(spec.stages.size(), 2U);
  for (const stage_spec& stage : spec.stages) {
    const node* layers = stage.parameters.find("layers");
    ASSERT_NE(layers, nullptr);
    EXPECT_EQ(layers->in_one_line(), "[{conv2d: {out_channels: 8, kernel: 3}}, relu]");
  }
  EXPECT_EQ(spec.run.arrival, arrival::constant);
  EXPECT_EQ(spec.run.frames, 7);
}

TEST(a_pipeline_file, puts_lists_and_quoted_values_in_the_place_of_parameters) {
  const pipeline_spec spec = read_good_file("merges_and_anchors");
  EXPECT_EQ(spec.parameters,
            (assignments{{"sizes", "[3, 4]"}, {"dollar", "$sizes"}, {"word", "007"}}));
  ASSERT_EQ(spec.stages.size(), 3U);
  const node* sizes = spec.stages[0].parameters.find("shape");
  ASSERT_NE(sizes, nullptr);
  EXPECT_EQ(item_texts(*sizes), (names{"3", "4"}));
  EXPECT_EQ(sizes->where().line, 11U) << "the place is that of the use";
  EXPECT_EQ(sizes->items()[1].where().line, 11U);

  const node& third = spec.stages[2].parameters;
  EXPECT_TRUE(third.find("extra")->quoted());
  EXPECT_EQ(third.find("text")->text(), "$sizes") << "what comes of a parameter is not replaced";
  EXPECT_EQ(third.find("quoted")->text(), "$sizes") << "quoted text is not replaced";
  EXPECT_EQ(third.find("money")->text(), "$5,00") << "it is no name";
}

TEST(a_pipeline_file, may_leave_optional_sections_empty) {
  const pipeline_spec spec = read_good_file("empty_sections");
  EXPECT_TRUE(spec.parameters.empty());
  EXPECT_TRUE(spec.plugins.empty());
  EXPECT_TRUE(spec.inputs.empty());
  EXPECT_EQ(spec.run.frames, settings().frames);
}

TEST(a_pipeline_file, may_have_windows_line_ends_and_a_byte_order_mark) {
  std::string text = "\xef\xbb\xbf";
  for (const char c : file_text(GRAPHLINE_TEST_DIR "/good/two_models.yaml")) {
    if (c == '\n') text += '\r';
    text += c;
  }
  const reading r = read_pipeline_text(text);
  EXPECT_EQ(r.said.render(), "");
  EXPECT_EQ(r.spec.description, "Two networks with CPU work between them.");
  EXPECT_EQ(r.spec.run.timing, timing_method::event);
  EXPECT_EQ(r.spec.name.place.column, 11U);
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
  EXPECT_EQ(r.spec.inputs[1].name.text, "b");
  EXPECT_TRUE(r.spec.inputs[1].typed);
  ASSERT_EQ(r.spec.stages.size(), 3U);
  EXPECT_EQ(r.spec.stages[0].kind.text, "");
  EXPECT_EQ(r.spec.stages[1].name.text, "");
  EXPECT_EQ(texts(r.spec.stages[1].reads), names{"b"});
  EXPECT_EQ(r.spec.stages[2].name.text, "third");
  EXPECT_EQ(r.spec.run.frames, settings().frames);
  EXPECT_EQ(r.spec.run.warmup, 3);
}

}  // namespace
}  // namespace graphline
