#include "framework/spec/experiment_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

using names = std::vector<std::string>;
using indices = std::vector<std::size_t>;
using ::testing::HasSubstr;

experiment_spec read_good(const std::string& text, const std::string& name = "dir/exp.yaml") {
  experiment_reading r = read_experiment_text(text, name);
  EXPECT_EQ(r.said.render(), "");
  return std::move(r.spec);
}

/// Reads an experiment with these lines.
experiment_spec grid(const std::string& lines) {
  return read_good("experiment: e\npipeline: p.yaml\n" + lines);
}

names names_of(const experiment_spec& spec) {
  names list;
  for (const configuration_spec& c : spec.configurations) list.push_back(c.name.text);
  return list;
}

indices references_of(const experiment_spec& spec) {
  indices list;
  for (const configuration_spec& c : spec.configurations) list.push_back(c.reference);
  return list;
}

/// "key=value" of each assignment.
names texts(const std::vector<assignment>& list) {
  names result;
  for (const assignment& a : list) result.push_back(a.key.text + "=" + a.value.in_one_line());
  return result;
}

TEST(an_experiment_file, may_have_keys_of_its_writers_own_for_anchors) {
  const experiment_spec spec = read_good(
      "x-waits: &waits [block, spin]\nexperiment: e\npipeline: p.yaml\nvary: {wait: *waits}\n");
  EXPECT_EQ(names_of(spec), (names{"wait=block", "wait=spin"}));
}

const char* const every_key =
    "experiment: sync_vs_event\n"
    "description: What a wait costs.\n"
    "pipeline: two_models.yaml\n"
    "params: {batch: 2, sizes: [1, 2], side: {cuda: 224, host: 112}}\n"
    "run: {strategy: overlap}\n"
    "frames: 45\n"
    "warmup: 2\n"
    "vary:\n"
    "  timing: [none, host, sync, event]\n"
    "  in_flight: [1, 2]\n"
    "baseline: {timing: none}\n"
    "exclude:\n"
    "  - {timing: sync, in_flight: 2}\n"
    "trials: 20\n"
    "time_limit: 90s\n"
    "narrow_to: 0.5%\n"
    "margin: 2 %\n"
    "tail: p99.9\n"
    "seed: 7\n"
    "repeat_affected: on\n";

TEST(an_experiment_file, becomes_its_spec) {
  const experiment_spec spec = read_good(every_key);
  EXPECT_EQ(spec.name.text, "sync_vs_event");
  EXPECT_EQ(spec.description, "What a wait costs.");
  EXPECT_EQ(spec.directory, "dir");
  EXPECT_EQ(spec.pipeline.text, "two_models.yaml");
  EXPECT_EQ(spec.pipeline.place.line, 3U);
  EXPECT_EQ(texts(spec.run), (names{"strategy=overlap", "frames=45", "warmup=2"}));
  EXPECT_EQ(texts(spec.params), (names{"batch=2", "sizes=[1, 2]", "side={cuda: 224, host: 112}"}));
  EXPECT_EQ(spec.how.trials, 20);
  EXPECT_EQ(spec.how.time_limit, 90'000'000'000);
  EXPECT_DOUBLE_EQ(spec.how.narrow_to.value_or(0), 0.005);
  EXPECT_DOUBLE_EQ(spec.how.margin, 0.02);
  EXPECT_EQ(spec.how.tail, 0.999);
  EXPECT_EQ(spec.how.seed, 7U);
  EXPECT_TRUE(spec.how.repeat_affected);
  EXPECT_TRUE(spec.varied);
  EXPECT_TRUE(spec.together.empty());
  ASSERT_NE(spec.source, nullptr);
}

TEST(a_grid, is_named_by_its_keys_in_order_the_last_one_varying_fastest) {
  const experiment_spec spec = read_good(every_key);
  EXPECT_EQ(names_of(spec),
            (names{"timing=none in_flight=1", "timing=none in_flight=2", "timing=host in_flight=1",
                   "timing=host in_flight=2", "timing=sync in_flight=1", "timing=event in_flight=1",
                   "timing=event in_flight=2"}));
  EXPECT_EQ(texts(spec.configurations[3].assignments), (names{"timing=host", "in_flight=2"}));
  EXPECT_EQ(spec.configurations[3].assignments[1].value.where().line, 10U);
}

TEST(a_partial_baseline, compares_what_is_otherwise_the_same) {
  EXPECT_EQ(references_of(read_good(every_key)), (indices{0, 1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(references_of(grid("vary: {a: [1, 2, 3], b: [x, y]}\nbaseline: {b: y}\n")),
            (indices{1, 1, 3, 3, 5, 5}));
  EXPECT_EQ(references_of(grid("vary: {a: [1, 2], b: [x, y]}\nbaseline: {a: 2, b: x}\n")),
            (indices{2, 2, 2, 2}));
}

TEST(a_partial_baseline, counts_configurations_that_are_left_in) {
  EXPECT_EQ(references_of(grid("vary: {a: [1, 2, 3], b: [x, y]}\n"
                               "baseline: {b: x}\n"
                               "exclude: [{a: 1, b: y}]\n")),
            (indices{0, 1, 1, 3, 3}));
}

TEST(a_baseline, is_the_first_value_of_each_key_by_default) {
  EXPECT_EQ(references_of(grid("vary: {a: [1, 2], b: [x, y]}\n")), (indices{0, 0, 0, 0}));
}

TEST(a_grid, takes_lists_and_values_for_each_backend) {
  const experiment_spec spec = grid(
      "vary: {sizes: [[1, 2], [3]], batch: [1, {cuda: 32, host: 2}]}\n"
      "baseline: {sizes: [3]}\n");
  EXPECT_EQ(names_of(spec), (names{"sizes=[1, 2] batch=1", "sizes=[1, 2] batch={cuda: 32, host: 2}",
                                   "sizes=[3] batch=1", "sizes=[3] batch={cuda: 32, host: 2}"}));
  EXPECT_EQ(references_of(spec), (indices{2, 3, 2, 3}));
}

TEST(a_grid, of_10000_configurations_is_spelled_out) {
  std::string list = "[0";
  for (int i = 1; i < 100; ++i) list += ", " + std::to_string(i);
  list += "]";
  const experiment_spec spec = grid("vary: {a: " + list + ", b: " + list + "}\n");
  ASSERT_EQ(spec.configurations.size(), 10'000U);
  EXPECT_EQ(spec.configurations.back().name.text, "a=99 b=99");
}

TEST(configurations, may_be_a_list_with_names_and_a_baseline_among_them) {
  const std::string list =
      "configurations:\n"
      "  - {name: one by one, strategy: serial}\n"
      "  - {name: \"größer: zwei\", strategy: overlap, in_flight: 2}\n"
      "  - {name: as it is}\n";
  const experiment_spec spec = grid(list);
  EXPECT_EQ(names_of(spec), (names{"one by one", "größer: zwei", "as it is"}));
  EXPECT_EQ(texts(spec.configurations[1].assignments), (names{"strategy=overlap", "in_flight=2"}));
  EXPECT_TRUE(spec.configurations[2].assignments.empty());
  EXPECT_EQ(references_of(spec), (indices{0, 0, 0}));
  EXPECT_FALSE(spec.varied);
  EXPECT_EQ(references_of(grid(list + "baseline: as it is\n")), (indices{2, 2, 2}));
}

TEST(pipelines_together, have_settings_of_their_own_and_names_by_their_files) {
  const experiment_spec spec = read_good(
      "experiment: e\n"
      "together:\n"
      "  - {name: the camera, pipeline: camera.yaml, priority: high,\n"
      "     run: {deadline: 33ms, frames: 300}}\n"
      "  - {pipeline: sub/one_model.yaml, params: {batch: 4}}\n");
  ASSERT_EQ(spec.together.size(), 2U);
  EXPECT_EQ(spec.together[0].name.text, "the camera");
  EXPECT_EQ(spec.together[0].priority, level_of(priority::high));
  EXPECT_EQ(texts(spec.together[0].run), (names{"deadline=33ms", "frames=300"}));
  EXPECT_EQ(spec.together[1].name.text, "one_model");
  EXPECT_EQ(spec.together[1].pipeline.text, "sub/one_model.yaml");
  EXPECT_FALSE(spec.together[1].priority);
  EXPECT_EQ(texts(spec.together[1].params), names{"batch=4"});
  EXPECT_TRUE(spec.configurations.empty());
}

std::string chain_errors(const std::string& chains, const std::string& pipelines = "") {
  return read_experiment_text("experiment: e\n" +
                              (pipelines.empty() ? "together: [{pipeline: a.yaml}, "
                                                   "{pipeline: b.yaml}]\n"
                                                 : pipelines) +
                              "chains: " + chains + "\n")
      .said.render();
}

TEST(chains, are_lists_of_stages_with_or_without_bounds) {
  const experiment_spec spec = read_good(
      "experiment: e\ntogether: [{pipeline: a.yaml}, {pipeline: b.yaml}]\n"
      "chains:\n  brake: [a.x, b.y]\n  steer: {stages: [b.y, a.x], age: 5ms, reaction: 2s}\n");
  ASSERT_EQ(spec.chains.size(), 2U);
  EXPECT_EQ(spec.chains[0].name.text, "brake");
  ASSERT_EQ(spec.chains[0].stages.size(), 2U);
  EXPECT_EQ(spec.chains[0].stages[1].text, "b.y");
  EXPECT_EQ(spec.chains[0].stages[1].place.line, 4U);
  EXPECT_EQ(spec.chains[0].age, std::nullopt);
  EXPECT_EQ(spec.chains[1].age, 5'000'000);
  EXPECT_EQ(spec.chains[1].reaction, 2'000'000'000);
}

TEST(chains, that_cannot_be_read_are_explained) {
  using ::testing::HasSubstr;
  const char* const expected = "'chains.c' must be a list of at least two stages MEMBER.STAGE";
  for (const char* bad : {"{c: [a.x]}", "{c: a.x}", "{c: {age: 5ms}}", "{c: {stages: a.x}}"}) {
    EXPECT_THAT(chain_errors(bad), HasSubstr(expected)) << bad;
  }
  EXPECT_THAT(chain_errors("[a.x, b.y]"), HasSubstr("'chains' must be"));
  EXPECT_THAT(chain_errors("{c: {stages: [a.x, b.y], ages: 5ms}}"), HasSubstr("'age'"));
  EXPECT_THAT(chain_errors("{c: {stages: [a.x, b.y], age: 5}}"), HasSubstr("'age' must be"));
  EXPECT_THAT(chain_errors("{' ': [a.x, b.y]}"), HasSubstr("chain"));
  EXPECT_THAT(chain_errors("{c: [a.x, b.y]}", "pipeline: p.yaml\nvary: {timing: [none]}\n"),
              HasSubstr("'chains' needs several pipelines: list them under 'together'"));
}

TEST(a_horizon, is_of_several_pipelines_and_takes_the_place_of_their_frames) {
  const std::string members =
      "together:\n"
      "  - {name: a, pipeline: a.yaml}\n"
      "  - {name: b, pipeline: a.yaml, run: {warmup: 3}}\n"
      "horizon: 250ms\n";
  EXPECT_EQ(read_good("experiment: e\n" + members).how.horizon, 250'000'000);
  const auto error_of = [](const std::string& lines) {
    return read_experiment_text("experiment: e\n" + lines).said.render();
  };
  EXPECT_THAT(error_of("pipeline: p.yaml\nvary: {warmup: [1, 2]}\nhorizon: 1s\n"),
              HasSubstr("4:1: error: 'horizon' needs several pipelines: list them under "
                        "'together'"));
  EXPECT_THAT(error_of("horizon: 0s\n" + members.substr(0, members.find("horizon"))),
              HasSubstr("horizon"));
  const std::string conflict = "frames' has no effect with 'horizon'";
  EXPECT_THAT(error_of(members + "frames: 9\n"), HasSubstr("6:1: error: '" + conflict));
  EXPECT_THAT(error_of(members + "run: {frames: 9}\n"), HasSubstr("6:7: error: '" + conflict));
  EXPECT_THAT(error_of(members + "vary: {a.frames: [1, 2]}\n"), HasSubstr("'a." + conflict));
  EXPECT_THAT(error_of("together:\n"
                       "  - {name: a, pipeline: a.yaml, run: {frames: 9}}\n"
                       "  - {name: b, pipeline: a.yaml}\n"
                       "horizon: 1s\n"),
              HasSubstr("3:39: error: '" + conflict));
}

/// Reads a text and renders its diagnostics without an exception or crash. A text without errors
/// must give something to run.
void read_and_render_experiment(const std::string& text) {
  const experiment_reading r = read_experiment_text(text);
  EXPECT_EQ(r.said.all().empty(), r.said.render().empty());
  EXPECT_TRUE(r.said.has_errors() || !r.spec.configurations.empty() || r.spec.together.size() >= 2);
  for (const configuration_spec& c : r.spec.configurations) {
    EXPECT_LT(c.reference, r.spec.configurations.size());
  }
}

const char* const texts_to_damage[] = {
    every_key,
    "experiment: e\npipeline: p.yaml\nconfigurations:\n  - {name: a, timing: none}\n"
    "  - {name: b, sizes: [1, 2]}\nbaseline: b\n",
    "experiment: e\ntogether:\n  - {name: a, pipeline: a.yaml, priority: low, run: {frames: 3}}\n"
    "  - {pipeline: b.yaml, params: {batch: {cuda: 4, host: 1}}}\n"
    "chains: {c: {stages: [a.x, b.y], age: 5ms}}\n"};

TEST(a_damaged_experiment, cut_off_anywhere_is_read_or_explained) {
  for (const std::string text : texts_to_damage) {
    for (std::size_t length = 0; length < text.size(); ++length) {
      SCOPED_TRACE("cut to " + std::to_string(length) + " bytes:\n" + text);
      ASSERT_NO_THROW(read_and_render_experiment(text.substr(0, length)));
    }
  }
}

}  // namespace
}  // namespace graphline
