#include "framework/campaign/search/search_space.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/settings_table.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline {
namespace {

using plan_testing::test_registry;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* two_sides =
    "pipeline: two\n"
    "params: {batch: 4, side: 4}\n"
    "inputs: {image: {shape: [$batch, $side]}}\n"
    "stages:\n"
    "  - {name: a, kind: gpu, reads: image}\n"
    "  - {name: b, kind: gpu, reads: image}\n"
    "  - {name: c, kind: work, reads: [a, b]}\n"
    "run: {strategy: async, in_flight: 2}\n";

constexpr const char* on_cpu =
    "pipeline: two\n"
    "stages: [{name: a, kind: work, shape: [1]}, {name: b, kind: work, reads: a}]\n";

struct space_of {
  explicit space_of(const char* text, const std::vector<std::string>& over = {},
                    const std::vector<assignment>& run = {}) {
    of.pipeline.text = folder.write("p.yaml", text);
    of.run = run;
    space = make_search_space(of, over, registry, {}, 2000, out);
  }

  const std::vector<planned_configuration>& list() const { return space.configurations; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& c : list()) names.push_back(c.what.name);
    return names;
  }

  temporary_folder folder;
  stage_registry registry = test_registry();
  diagnostics out;
  experiment_spec of;
  experiment_plan space;
};

std::string refusal(const char* text, const std::vector<std::string>& over) {
  try {
    const space_of made(text, over);
    return made.out.render();
  } catch (const input_error& e) {
    return e.what();
  }
}

TEST(search_space, starts_with_the_file_and_has_no_combination_that_check_refuses) {
  const space_of made(two_sides);
  EXPECT_THAT(made.out.all(), IsEmpty());
  EXPECT_EQ(made.space.name, "two_search");
  const auto& file = made.list().front();
  EXPECT_EQ(file.what.name, file_settings);
  EXPECT_THAT(file.what.assignments, IsEmpty());
  EXPECT_EQ(file.members.front().run.in_flight, 2);
  std::set<std::string> distinct;
  std::size_t differences = 0;
  for (const auto& c : made.list()) {
    const settings& run = c.members.front().run;
    EXPECT_FALSE(run.strategy == strategy::serial && run.in_flight > 1) << c.what.name;
    EXPECT_FALSE(run.strategy == strategy::serial && run.graphs == graph_mode::frame);
    // All stages have the same priority, so it makes no difference whether streams have them.
    EXPECT_TRUE(run.priorities) << c.what.name;
    EXPECT_TRUE(distinct.insert(c.what.name).second);
    EXPECT_GE(c.what.assignments.size(), differences) << "simplest first";
    differences = c.what.assignments.size();
    // Assignments are what differs from the file.
    for (const auto& [key, value] : c.what.assignments) {
      EXPECT_FALSE(key == "in_flight" && value == "2");
    }
  }
  // serial: 2 graphs and 3 ways to wait. async: 3 graphs, 4 numbers of frames in flight, 3 ways to
  // wait, 2 numbers of streams. overlap as many; without graphs: frame, also with another policy
  // (deadline lacks one), and with a window.
  EXPECT_EQ(made.list().size(), 2 * 3 + 2 * 3 * 4 * 3 * 2 + (2 * 2 - 1) * 2 * 4 * 3 * 2U);
  EXPECT_EQ(made.space.pairs.size(), made.list().size() - 1);
}

TEST(search_space, leaves_out_settings_without_effect) {
  const space_of made(on_cpu);
  for (const auto& c : made.list()) {
    EXPECT_EQ(c.members.front().run.wait, wait_mode::block) << "there is nothing to wait for";
    EXPECT_NE(c.members.front().run.graphs, graph_mode::off) << "there is nothing to capture";
  }
  const space_of scheduled((on_cpu + std::string("run: {arrival: constant, rate: 9}\n")).c_str(),
                           {"wait=block,spin"});
  EXPECT_TRUE(std::ranges::any_of(scheduled.list(), [](const auto& c) {
    return c.members.front().run.wait == wait_mode::spin;
  })) << "the host waits for due times";
  const space_of workers(two_sides, {"strategy=async,overlap", "workers=1,2", "graphs"});
  for (const auto& c : workers.list()) {
    const settings& run = c.members.front().run;
    EXPECT_TRUE(has_workers(run) || c.what.name.find("workers") == std::string::npos)
        << c.what.name;
  }
  EXPECT_THAT(workers.names(), Contains("strategy=overlap workers=2"));
}

TEST(search_space, varies_streams_and_window_where_they_can_matter) {
  const auto varies = [](const char* stages, const std::string& key) {
    const auto text = fmt::format(
        "pipeline: two\ninputs: {{image: {{shape: [4]}}}}\nstages: [{}]\nrun: {{strategy: "
        "overlap}}\n",
        stages);
    const space_of made(text.c_str());
    return std::ranges::any_of(made.list(), [&](const planned_configuration& c) {
      return c.what.name.find(key + '=') != std::string::npos;
    });
  };
  const char* const one = "{name: a, kind: gpu, reads: image}, {name: b, kind: work, reads: a}";
  const char* const chain = "{name: a, kind: gpu, reads: image}, {name: b, kind: gpu, reads: a}";
  const char* const apart =
      "{name: a, kind: gpu, reads: image}, {name: b, kind: gpu, reads: image}";
  for (const char* key : {"streams", "window"}) EXPECT_FALSE(varies(one, key));
  EXPECT_FALSE(varies(chain, "streams"));
  EXPECT_TRUE(varies(chain, "window"));
  for (const char* key : {"streams", "window"}) EXPECT_TRUE(varies(apart, key));
}

TEST(search_space, takes_values_and_limits_itself_to_keys) {
  const space_of made(two_sides, {"batch=4,8", "in_flight=3,1", "strategy=async"});
  std::set<std::string> strategies;
  for (const auto& c : made.list()) {
    const plan& p = c.members.front();
    strategies.emplace(to_word(p.run.strategy));
    EXPECT_NE(p.run.in_flight, c.what.assignments.empty() ? 0 : 4);
  }
  EXPECT_THAT(strategies, ElementsAre("async"));
  EXPECT_THAT(made.names(), Contains("in_flight=3"));
  EXPECT_THAT(made.names(), Contains("graphs=off in_flight=3 batch=8"))
      << "graphs has its default values";

  const space_of limited(two_sides, {"in_flight", "batch=4,8"});
  EXPECT_THAT(limited.names(),
              ElementsAre(file_settings, "in_flight=1", "batch=8", "in_flight=3", "in_flight=4",
                          "in_flight=1 batch=8", "in_flight=3 batch=8", "in_flight=4 batch=8"));
}

TEST(search_space, refuses_texts_with_the_option_and_the_remedy) {
  const auto refused = [](const char* over) { return refusal(two_sides, {over}); };
  EXPECT_THAT(refused("inflight=1"),
              HasSubstr("--over 'inflight=1': 'inflight' is neither a setting nor a parameter of "
                        "the pipeline (did you mean 'in_flight'?)"));
  EXPECT_THAT(refused("batch"), HasSubstr("expected values: --over batch=VALUE,VALUE"));
  EXPECT_THAT(refused("in_flight="), HasSubstr("a value is missing"));
  EXPECT_THAT(refused("in_flight=1,,2"),
              HasSubstr("--over in_flight=1,,2:1:1: error: a value of 'in_flight' is missing"));
  EXPECT_THAT(refused("in_flight=2,2"), HasSubstr("'2' is there twice"));
  for (const std::string& key : setting_keys()) {
    const bool of_measuring =
        std::set<std::string>{"frames", "warmup", "max_time", "timing", "seed", "guard"}.contains(
            key);
    const bool of_load = std::set<std::string>{"arrival", "rate",  "arrival_file", "phase",
                                               "jitter",  "burst", "deadline"}
                             .contains(key);
    const std::string why = of_measuring ? "changes how a trial is measured"
                            : of_load    ? "is part of the load"
                                         : "a value is missing";
    EXPECT_THAT(refused((key + "=").c_str()), HasSubstr(why)) << key;
  }
  EXPECT_THAT(refused("strategy=asink"), HasSubstr("--over strategy=asink"));
  EXPECT_THAT(refused("strategy=asink"), HasSubstr("(known: serial, async, overlap)"));
  EXPECT_THAT(refusal(two_sides, {"in_flight", "in_flight=1"}), HasSubstr("given twice"));
  // A value that no combination can have.
  EXPECT_THAT(refused("batch=four,8"), HasSubstr("--over batch=four,8"));
  EXPECT_THAT(refusal(two_sides, {"strategy=serial", "in_flight=2,3"}),
              HasSubstr("in_flight: 2 makes no sense with strategy: serial"));
}

TEST(search_space, draws_combinations_of_a_large_grid_simple_ones_among_them) {
  std::string batches = "batch=4";
  for (int i = 5; i <= 300; ++i) batches += ',' + std::to_string(i);
  const space_of made(two_sides, {batches, "in_flight=3"});
  EXPECT_THAT(made.out.render(), HasSubstr("the search draws"));
  EXPECT_GT(made.list().size(), 500);
  EXPECT_LE(made.list().size(), 2'001);
  std::set<std::size_t> changes;
  for (const auto& c : made.list()) {
    changes.insert(c.what.assignments.size());
    // The file's value is not among those given.
    if (c.what.name != file_settings && c.members.front().run.strategy != strategy::serial) {
      EXPECT_EQ(c.members.front().run.in_flight, 3) << c.what.name;
    }
  }
  EXPECT_THAT(changes, testing::IsSupersetOf({0U, 1U, 2U, 3U, 4U, 5U}));
  EXPECT_EQ(made.names(), space_of(two_sides, {batches, "in_flight=3"}).names());
  EXPECT_THAT(refusal(two_sides, {batches + ",four"}), HasSubstr("four"));
}

TEST(search_space, reports_errors_of_the_file_once) {
  const auto text = refusal("pipeline: p\nstages: [{name: a, kind: wrk, shape: [1]}]\n", {});
  EXPECT_THAT(text, HasSubstr("did you mean 'work'?"));
  EXPECT_EQ(text.find("error:"), text.rfind("error:"));
}

TEST(search_space, its_experiment_plans_the_same_configurations) {
  const node value = node::scalar("8", false, {});
  const space_of made(two_sides, {"batch=4,8", "batch_wait=2ms,3.5 ms", "graphs"},
                      {{{"timing"}, node::scalar("none", false, {})},
                       {{"arrival"}, node::scalar("constant", false, {})},
                       {{"rate"}, node::scalar("100", false, {})}});
  std::vector<experiment_configuration> candidates;
  for (const auto& c : made.list()) candidates.push_back(c.what);
  std::swap(candidates[0], candidates[2]);  // in the order of preference
  experiment_spec of = made.of;
  of.name.text = "confirm";
  of.params = {{{"side"}, value}};
  experiment_settings how;
  how.trials = 7;
  how.tail = 0.99;
  how.seed = 3;
  const auto text = experiment_text(of, made.folder / "p.yaml", candidates, how, 33);
  diagnostics out;
  const auto source = std::make_shared<const source_text>("e.yaml", text);
  stage_registry registry = test_registry();
  const auto planned = plan_experiment(read_experiment(source, out), registry, {}, out);
  EXPECT_FALSE(out.has_errors()) << out.render();
  EXPECT_EQ(planned.name, "confirm");
  EXPECT_EQ(planned.how.trials, 7);
  EXPECT_EQ(planned.how.seed, 3U);
  EXPECT_EQ(planned.how.tail, 0.99);
  ASSERT_EQ(planned.configurations.size(), made.list().size());
  EXPECT_THAT(planned.pairs,
              Each(::testing::Field(&compared_pair::reference, configuration_member{2, 0})));
  EXPECT_EQ(planned.pairs.size(), candidates.size() - 1);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& [what, members] = planned.configurations[i];
    EXPECT_EQ(what.name, candidates[i].name);
    EXPECT_EQ(what.assignments, candidates[i].assignments);
    plan expected = made.list()[i == 0 ? 2 : i == 2 ? 0 : i].members.front();
    EXPECT_EQ(members.front().run.frames, 33);
    EXPECT_EQ(members.front().run.timing, timing_method::none);
    EXPECT_EQ(members.front().run.batch_wait, expected.run.batch_wait);
    for (auto& [name, parameter] : expected.parameters) {
      if (name == "side") parameter = "8";
    }
    EXPECT_EQ(members.front().parameters, expected.parameters);
  }
}

}  // namespace
}  // namespace graphline
