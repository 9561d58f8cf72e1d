#include "framework/plan/experiment_plan.hpp"

#include <gmock/gmock.h>

#include <set>
#include <tuple>

#include "tests/plan/experiment_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using texts = std::vector<std::string>;

/// Plans an experiment on `small_pipeline` without any diagnostics.
planned_experiment planned(const temporary_folder& folder, const std::string& lines,
                           const plan_target& target = {}) {
  folder.write("small.yaml", small_pipeline);
  planned_experiment e =
      plan_text(folder / "exp.yaml", "experiment: e\npipeline: small.yaml\n" + lines, target);
  EXPECT_EQ(e.out.render(), "");
  return e;
}

TEST(a_planned_experiment, has_a_plan_for_each_configuration_with_its_settings) {
  const temporary_folder folder;
  const planned_experiment e = planned(folder,
                                       "description: d\n"
                                       "run: {strategy: overlap, wait: spin}\n"
                                       "frames: 7\n"
                                       "warmup: 1\n"
                                       "vary: {timing: [none, event], in_flight: [1, 2]}\n"
                                       "baseline: {timing: none}\n"
                                       "trials: 3\n");
  EXPECT_EQ(e.plan.name, "e");
  EXPECT_EQ(e.plan.description, "d");
  EXPECT_EQ(e.plan.how.trials, 3);
  EXPECT_THAT(names_of(e.plan),
              ElementsAre("timing=none in_flight=1", "timing=none in_flight=2",
                          "timing=event in_flight=1", "timing=event in_flight=2"));
  EXPECT_THAT(pairs_of(e.plan), ElementsAre("2.0<0.0", "3.0<1.0"));
  const planned_configuration& last = e.plan.configurations[3];
  EXPECT_THAT(last.what.assignments, ElementsAre(Pair("timing", "event"), Pair("in_flight", "2")));
  EXPECT_THAT(last.what.members, ElementsAre("small"));
  ASSERT_EQ(last.members.size(), 1U);
  EXPECT_EQ(last.members[0].run.timing, timing_method::event);
  EXPECT_EQ(last.members[0].run.in_flight, 2);
  EXPECT_EQ(last.members[0].run.strategy, strategy::overlap);
  EXPECT_EQ(last.members[0].run.wait, wait_mode::spin);
  EXPECT_EQ(last.members[0].run.frames, 7);
  EXPECT_EQ(last.members[0].run.warmup, 1);
  EXPECT_EQ(e.plan.configurations[0].members[0].run.timing, timing_method::none);
}

TEST(a_planned_experiment, sets_parameters_for_all_and_by_configuration) {
  const temporary_folder folder;
  const planned_experiment e = planned(folder,
                                       "params: {side: 8}\n"
                                       "vary: {batch: [2, 4], threads: [1]}\n");
  ASSERT_EQ(e.plan.configurations.size(), 2U);
  const plan& second = e.plan.configurations[1].members.at(0);
  EXPECT_EQ(tensor_of(second, "image").type.shape, (shape{4, 8}));
  EXPECT_THAT(second.parameters,
              ElementsAre(Pair("batch", "4"), Pair("side", "8"), Pair("sizes", "[2, 3]")));
  EXPECT_EQ(second.run.threads, 1);
}

TEST(a_planned_experiment, takes_lists_and_values_for_each_backend_as_parameters) {
  const temporary_folder folder;
  const std::string lines = "vary: {sizes: [[5], [6, 7]], batch: [1, {cuda: 64, host: 2}]}\n";
  const planned_experiment e = planned(folder, lines);
  ASSERT_EQ(e.plan.configurations.size(), 4U);
  const plan& last = e.plan.configurations[3].members.at(0);
  EXPECT_EQ(tensor_of(last, "b").type.shape, (shape{6, 7}));
  EXPECT_EQ(tensor_of(last, "image").type.shape, (shape{2, 4}));
  EXPECT_EQ(e.plan.configurations[3].what.name, "sizes=[6, 7] batch={cuda: 64, host: 2}");

  const planned_experiment cuda = planned(folder, lines, {.backend = "cuda"});
  EXPECT_EQ(tensor_of(cuda.plan.configurations.at(3).members.at(0), "image").type.shape,
            (shape{64, 4}));
}

TEST(a_planned_experiment, lets_a_listed_configuration_set_anew_what_is_set_for_all) {
  const temporary_folder folder;
  const planned_experiment e = planned(folder,
                                       "params: {batch: 2}\n"
                                       "run: {strategy: async}\n"
                                       "configurations:\n"
                                       "  - {name: one by one, strategy: serial}\n"
                                       "  - {name: as it is}\n"
                                       "  - {name: larger, batch: 3}\n"
                                       "baseline: as it is\n");
  EXPECT_THAT(names_of(e.plan), ElementsAre("one by one", "as it is", "larger"));
  EXPECT_THAT(pairs_of(e.plan), ElementsAre("0.0<1.0", "2.0<1.0"));
  EXPECT_EQ(e.plan.configurations[0].members.at(0).run.strategy, strategy::serial);
  EXPECT_EQ(e.plan.configurations[1].members.at(0).run.strategy, strategy::async);
  EXPECT_EQ(tensor_of(e.plan.configurations[2].members.at(0), "image").type.shape, (shape{3, 4}));
  EXPECT_THAT(e.plan.configurations[1].what.assignments, IsEmpty());
}

TEST(a_planned_experiment, notes_what_it_read_and_for_which_device) {
  const temporary_folder folder;
  folder.write("sub/small.yaml", small_pipeline);
  const std::string text =
      "experiment: e\npipeline: sub/../sub/small.yaml\nvary: {timing: [none]}\n";
  const planned_experiment e = plan_text(folder / "exp.yaml", text, {.backend = "cuda"});
  EXPECT_EQ(e.out.render(), "");
  ASSERT_EQ(e.plan.files.size(), 3U);
  EXPECT_EQ(e.plan.files[0].first, folder / "exp.yaml");
  EXPECT_THAT(e.plan.files[0].second, ::testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(e.plan.files[1].first, "sub/../sub/small.yaml");
  EXPECT_THAT(e.plan.files[2], Pair("device", "cuda"));

  const planned_experiment again = plan_text(folder / "exp.yaml", text, {.backend = "cuda"});
  EXPECT_EQ(again.plan.files, e.plan.files);
  folder.write("sub/small.yaml", small_pipeline + std::string("# changed\n"));
  const planned_experiment changed = plan_text(folder / "exp.yaml", text, {.backend = "cuda"});
  EXPECT_EQ(changed.plan.files[0], e.plan.files[0]);
  EXPECT_NE(changed.plan.files[1].second, e.plan.files[1].second);
}

TEST(a_checksum, is_that_of_fnv_1a_in_64_bits) {
  const temporary_folder folder;
  folder.write("a.yaml", "pipeline: foobar");
  const planned_experiment e =
      plan_text(folder / "exp.yaml", "experiment: e\npipeline: a.yaml\nvary: {timing: [none]}\n");
  ASSERT_EQ(e.plan.files.size(), 3U);
  EXPECT_EQ(e.plan.files[1].second, "6a08359fe62e0d2c") << "by a program that agrees with "
                                                           "the authors' test suite";
}

TEST(a_planned_experiment, has_the_kinds_of_its_pipelines_plugins) {
  const temporary_folder folder;
  folder.write("p.yaml",
               "pipeline: p\n"
               "params: {how: input}\n"
               "plugins: " GRAPHLINE_PLUGIN_DIR
               "/good.so\n"
               "stages:\n"
               "  - {name: a, kind: test.fail, how: $how}\n");
  const planned_experiment e = plan_text(
      folder / "exp.yaml", "experiment: e\npipeline: p.yaml\nvary: {how: [input, private]}\n");
  EXPECT_EQ(e.out.render(), "");
  ASSERT_EQ(e.plan.configurations.size(), 2U);
  const plan& second = e.plan.configurations[1].members.at(0);
  EXPECT_EQ(stage_of(second, "a").kind, e.registry->find("test.fail"));
  EXPECT_EQ(stage_of(second, "a").config.arguments.text("how"), "private");
}

TEST(a_planned_experiment, shares_the_stages_that_what_varies_leaves_alone) {
  const temporary_folder folder;
  folder.write("p.yaml", small_pipeline);
  const planned_experiment e =
      plan_text(folder / "exp.yaml",
                "experiment: e\npipeline: p.yaml\nvary: {timing: [none, event], batch: [1, 2]}\n");
  EXPECT_EQ(e.out.render(), "");
  ASSERT_EQ(e.plan.configurations.size(), 4U);
  std::set<const prepared_stage*> of_batch;
  std::set<const prepared_stage*> of_all;
  for (const planned_configuration& c : e.plan.configurations) {
    of_batch.insert(stage_of(c.members.at(0), "a").prepared.get());
    of_all.insert(stage_of(c.members.at(0), "b").prepared.get());
  }
  EXPECT_EQ(of_batch.size(), 2U);
  EXPECT_EQ(of_all.size(), 1U);
}

/// Two pipelines, the second with a stage of high priority.
void write_members(const temporary_folder& folder) {
  folder.write("camera.yaml", small_pipeline);
  folder.write("batch.yaml",
               "pipeline: nightly\n"
               "stages:\n"
               "  - {name: a, kind: gpu, shape: [2], priority: high}\n"
               "  - {name: b, kind: gpu, reads: a}\n");
}

TEST(pipelines_together, are_compared_with_each_alone_and_with_none_having_priority) {
  const temporary_folder folder;
  write_members(folder);
  const planned_experiment e =
      plan_text(folder / "exp.yaml",
                "experiment: e\n"
                "together:\n"
                "  - {pipeline: camera.yaml, priority: high, run: {frames: 30, deadline: 33ms}}\n"
                "  - {name: bulk, pipeline: batch.yaml, priority: low}\n");
  EXPECT_EQ(e.out.render(), "");
  EXPECT_THAT(names_of(e.plan),
              ElementsAre("camera alone", "bulk alone", "together", "together without priorities"));
  EXPECT_THAT(pairs_of(e.plan), ElementsAre("2.0<0.0", "2.1<1.0", "2.0<3.0", "2.1<3.1"));
  for (const std::size_t m : {0, 1}) {  // policies rank stages by their level
    EXPECT_NE(e.plan.configurations[2].members[m].stages[0].level, 0);
    EXPECT_EQ(e.plan.configurations[3].members[m].stages[0].level, 0);
  }
  EXPECT_THAT(e.plan.configurations[1].what.members, ElementsAre("bulk"));
  EXPECT_THAT(e.plan.configurations[2].what.members, ElementsAre("camera", "bulk"));
  EXPECT_THAT(e.plan.configurations[2].what.assignments, IsEmpty());
  ASSERT_EQ(e.plan.configurations[2].members.size(), 2U);
  const plan& camera = e.plan.configurations[2].members[0];
  const plan& bulk = e.plan.configurations[2].members[1];
  EXPECT_EQ(camera.run.frames, 30);
  EXPECT_EQ(camera.run.deadline, 33'000'000);
  ASSERT_FALSE(camera.streams.empty());
  for (const planned_stream& s : camera.streams) EXPECT_EQ(s.priority, priority::high);
  for (const planned_stream& s : bulk.streams) EXPECT_EQ(s.priority, priority::low);
  for (const plan& p : e.plan.configurations[3].members) {
    EXPECT_FALSE(p.run.priorities);
    for (const planned_stream& s : p.streams) EXPECT_EQ(s.priority, priority::normal);
  }
  EXPECT_EQ(e.plan.files.size(), 4U);
}

TEST(pipelines_together, are_warned_of_if_their_real_time_threads_may_take_every_core) {
  const temporary_folder folder;
  write_members(folder);
  const std::string member = ", run: {realtime: 5, wait: spin}}\n";
  const auto e = plan_text(folder / "exp.yaml",
                           "experiment: e\ntogether:\n"
                           "  - {pipeline: camera.yaml" +
                               member + "  - {pipeline: batch.yaml" + member,
                           {.cpus = {0, 1}});
  EXPECT_THAT(messages(e.out, severity::warning),
              ElementsAre(::testing::HasSubstr("may poll on all cores that this process may use "
                                               "(0-1)")));
}

TEST(pipelines_together, report_a_warning_of_several_configurations_once) {
  const temporary_folder folder;
  write_members(folder);
  const auto warnings = [&](const std::string& streams) {
    const auto e = plan_text(folder / "exp.yaml",
                             "experiment: e\ntogether:\n"
                             "  - {pipeline: camera.yaml}\n"
                             "  - {name: bulk, pipeline: batch.yaml}\n"
                             "vary: {in_flight: [1, 2, 3], bulk.window: " +
                                 streams + "}\n");
    return messages(e.out, severity::warning);
  };
  EXPECT_THAT(warnings("[2]"),
              ElementsAre(::testing::StartsWith("member 'bulk': window: 2 changes nothing")));
  EXPECT_THAT(warnings("[0, 2]"),
              ElementsAre(::testing::StartsWith("configuration 'in_flight=1 bulk.window=2' and 2 "
                                                "more: member 'bulk': window: 2 changes")));
}

TEST(pipelines_together, share_only_what_one_policy_and_one_priority_can_schedule) {
  const temporary_folder folder;
  write_members(folder);
  const auto planned = [&](const std::string& camera, const std::string& all,
                           const std::string& share) {
    return plan_text(folder / "exp.yaml",
                     "experiment: e\ntogether:\n"
                     "  - {pipeline: camera.yaml, run: {" +
                         camera +
                         "}}\n"
                         "  - {name: bulk, pipeline: batch.yaml}\n"
                         "run: {strategy: overlap, " +
                         all + "}\n" + share);
  };
  const auto errors = [&](const std::string& camera, const std::string& all,
                          const std::string& share) {
    return messages(planned(camera, all, share).out, severity::error);
  };
  // One member has deadlines. The other one's stages go last, so it needs none.
  for (const std::string policy : {"deadline", "least_slack"}) {
    const std::string all = "policy: " + policy;
    const auto e = planned("deadline: 9ms", all, "share: cpu\n");
    EXPECT_EQ(e.out.render(), "");
    EXPECT_THAT(names_of(e.plan), ElementsAre("camera alone", "bulk alone", "together",
                                              "together without priorities"));
    EXPECT_THAT(
        errors("deadline: 9ms", "window: 1", "share: cpu\nvary: {policy: [" + policy + "]}\n"),
        IsEmpty());
    EXPECT_THAT(errors("deadline: 9ms", all, ""),
                ElementsAre(::testing::StartsWith("member 'bulk': policy: " + policy +
                                                  " needs deadlines; add a deadline")));
    EXPECT_THAT(
        errors("", all, "share: cpu\n"),
        ElementsAre("share: cpu needs a member with a deadline, such as 20ms, for policy: " +
                    policy));
  }
  for (const auto& [key, other, own] : {std::tuple{"realtime", "5", "0"},
                                        {"window", "2", "1"},
                                        {"policy", "fifo", "oldest_frame"}}) {
    const std::string differs = fmt::format(
        "needs the same {0} in all members; this one has {0}: {2}, and 'camera' has {0}: {1}; set "
        "{0} for all under 'run'",
        key, other, own);
    const std::string camera = fmt::format("{}: {}", key, other);
    EXPECT_THAT(errors(camera, "window: 1", ""), IsEmpty());
    for (const std::string share : {"cpu", "device", "both"}) {
      const auto e = planned(camera, "window: 1", "share: " + share + "\n");
      ASSERT_THAT(messages(e.out, severity::error), ElementsAre("share: " + share + " " + differs));
      EXPECT_EQ(e.out.all().front().place.line, 4U);
    }
  }
  EXPECT_THAT(errors("realtime: 5, window: 2", "", "share: cpu\n"),
              ElementsAre(::testing::HasSubstr("'camera' has window: 2"),
                          ::testing::HasSubstr("'camera' has realtime: 5")));
  EXPECT_THAT(errors("", "realtime: 5", "share: cpu\n"), IsEmpty());
  EXPECT_THAT(errors("", "window: 0", "share: both\n"),
              ElementsAre("share: both needs a window, such as window: 1 under 'run' of the "
                          "experiment"));
  EXPECT_THAT(errors("strategy: async", "window: 1", "share: cpu\n"),
              ElementsAre("share: cpu needs strategy: overlap, with graphs: stage or off, in all "
                          "members; this one has strategy: async and graphs: stage"));
}

TEST(pipelines_together, have_all_their_errors_reported_at_once) {
  const temporary_folder folder;
  write_members(folder);
  const auto errors = [&](const std::string& text) {
    return messages(plan_text(folder / "exp.yaml", "experiment: e\ntogether:\n" + text).out,
                    severity::error);
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(errors("  - {pipeline: camera.yaml, run: {strategy: serial, max_time: 1s}}\n"
                     "  - {name: bulk, pipeline: batch.yaml, run: {strategy: overlap}}\n"
                     "share: device\nhorizon: 2s\n"
                     "chains: {c: [camera.x, bulk.y]}\n"),
              ElementsAre(HasSubstr("this one has strategy: serial"), HasSubstr("needs a window"),
                          HasSubstr("'max_time'"), HasSubstr("'camera.x' is not a stage")));
  // The configurations have different errors, and a chain has one that does not need them.
  EXPECT_THAT(errors("  - {pipeline: camera.yaml}\n"
                     "  - {name: bulk, pipeline: batch.yaml}\n"
                     "chains: {c: [camera.x, bulk.a]}\n"
                     "configurations:\n"
                     "  - {name: plain}\n"
                     "  - {name: first, camera.in_flight: 2, camera.strategy: serial}\n"
                     "  - {name: second, bulk.rate: 9}\n"
                     "  - {name: third, camera.sides: 9}\n"),
              ::testing::UnorderedElementsAre(
                  HasSubstr("'camera.x' is not a stage"),
                  HasSubstr("configuration 'first': member 'camera': in_flight: 2 makes no sense"),
                  HasSubstr("configuration 'second': member 'bulk': rate: 9 makes no sense"),
                  HasSubstr("configuration 'third': 'sides' is neither")));
  // The stages of a member with errors are unknown, and so is what the members share.
  EXPECT_THAT(errors("  - {pipeline: camera.yaml, run: {rate: 9}}\n"
                     "  - {name: bulk, pipeline: batch.yaml}\n"
                     "share: device\nchains: {c: [camera.a, bulk.y]}\n"),
              ElementsAre(HasSubstr("rate: 9 makes no sense")));
}

TEST(a_priority_of_a_cpu_stage, may_have_an_effect_where_the_policy_varies) {
  const temporary_folder folder;
  write_members(folder);
  folder.write("small.yaml",
               "pipeline: p\nstages: [{name: a, kind: work, shape: [1], priority: high}]\n");
  const auto warnings = [&](const std::string& text) {
    return messages(plan_text(folder / "exp.yaml", "experiment: e\n" + text).out,
                    severity::warning);
  };
  const std::string together =
      "together: [{pipeline: small.yaml}, {pipeline: batch.yaml}]\nrun: {strategy: overlap}\n";
  for (const std::string& form :
       {std::string("pipeline: small.yaml\nrun: {strategy: overlap}\n"), together}) {
    EXPECT_THAT(warnings(form + "vary: {policy: [fifo, fixed_priority]}\n"), IsEmpty());
    EXPECT_THAT(warnings(form + "vary: {in_flight: [1, 2]}\n"),
                ElementsAre(::testing::HasSubstr("'priority' has no effect on stage 'a'")));
  }
}

TEST(pipelines_together, must_not_end_before_the_horizon) {
  const temporary_folder folder;
  write_members(folder);
  folder.write("a.csv", "due_ms\n0\n10\n40\n");
  const auto errors = [&](const std::string& run, const std::string& horizon) {
    const auto e = plan_text(folder / "exp.yaml",
                             "experiment: e\ntogether:\n"
                             "  - {pipeline: camera.yaml}\n"
                             "  - {name: bulk, pipeline: batch.yaml, run: {" +
                                 run + "}}\nhorizon: " + horizon + "\n");
    return messages(e.out, severity::error);
  };
  EXPECT_THAT(errors("arrival: trace, arrival_file: a.csv", "40ms"), IsEmpty());
  EXPECT_THAT(errors("arrival: trace, arrival_file: a.csv", "41ms"),
              ElementsAre("the trace of member 'bulk' ends after 0.04 s, before the horizon of "
                          "0.041 s; shorten 'horizon' or extend the trace"));
  // Three times at 100/s: the last is due after 20 ms, and phase delays it by 5 ms.
  EXPECT_THAT(errors("arrival: trace, arrival_file: a.csv, rate: 100, phase: 5ms", "25ms"),
              IsEmpty());
  EXPECT_THAT(errors("arrival: trace, arrival_file: a.csv, rate: 100, phase: 5ms", "26ms"),
              ElementsAre(::testing::HasSubstr("ends after 0.025 s")));
  EXPECT_THAT(errors("max_time: 1s", "2s"),
              ElementsAre("member 'bulk' has a 'max_time', which cannot be combined with "
                          "'horizon'; remove one of the two"));
}

TEST(pipelines_together, need_no_run_without_priorities_where_all_have_the_same) {
  const temporary_folder folder;
  write_members(folder);
  const planned_experiment e =
      plan_text(folder / "exp.yaml",
                "experiment: e\n"
                "together:\n"
                "  - {name: one, pipeline: camera.yaml}\n"
                "  - {name: two, pipeline: camera.yaml, params: {batch: 9}}\n");
  EXPECT_EQ(e.out.render(), "");
  EXPECT_THAT(names_of(e.plan), ElementsAre("one alone", "two alone", "together"));
  EXPECT_THAT(pairs_of(e.plan), ElementsAre("2.0<0.0", "2.1<1.0"));
  EXPECT_EQ(tensor_of(e.plan.configurations[2].members.at(1), "image").type.shape, (shape{9, 4}));
  EXPECT_EQ(e.plan.files.size(), 3U) << "a file is read once";
}

planned_experiment with_chains(const std::string& lines) {
  const temporary_folder folder;
  write_members(folder);
  return plan_text(folder / "exp.yaml",
                   "experiment: e\ntogether:\n"
                   "  - {name: cam, pipeline: camera.yaml}\n"
                   "  - {name: cam.b, pipeline: batch.yaml}\n" +
                       lines);
}

TEST(chains, are_planned_across_members) {
  for (const char* vary : {"", "vary: {in_flight: [1, 2]}\n"}) {
    const auto e = with_chains(
        "chains:\n  one: [cam.a, cam.b.a, cam.b.b]\n"
        "  two: {stages: [cam.b.b, cam.b], age: 50ms, reaction: 80ms}\n" +
        std::string(vary));
    EXPECT_EQ(e.out.render(), "");
    ASSERT_EQ(e.plan.chains.size(), 2U);
    EXPECT_EQ(e.plan.chains[0].name, "one");
    EXPECT_THAT(e.plan.chains[0].stages,
                ElementsAre(Pair("cam", "a"), Pair("cam.b", "a"), Pair("cam.b", "b")));
    EXPECT_EQ(e.plan.chains[0].age, std::nullopt);
    EXPECT_THAT(e.plan.chains[1].stages, ElementsAre(Pair("cam.b", "b"), Pair("cam", "b")));
    EXPECT_EQ(e.plan.chains[1].age, 50'000'000);
    EXPECT_EQ(e.plan.chains[1].reaction, 80'000'000);
  }
}

TEST(chains, of_unknown_stages_or_against_the_edges_are_refused_with_their_place) {
  for (const char* vary : {"", "vary: {in_flight: [1, 2]}\n"}) {
    const auto unknown = with_chains("chains: {one: [cam.a, cam.b.q]}\n" + std::string(vary));
    EXPECT_THAT(messages(unknown.out, severity::error),
                ElementsAre("'cam.b.q' is not a stage MEMBER.STAGE of 'together' (did you mean "
                            "'cam.b.a'?)"));
    EXPECT_EQ(unknown.out.all().front().place.line, 5U);
    const auto against =
        with_chains("chains: {one: [cam.b, cam.b.b, cam.b.a]}\n" + std::string(vary));
    EXPECT_THAT(messages(against.out, severity::error),
                ElementsAre("'cam.b.a' does not wait for 'b', so no result of that stage reaches "
                            "it in a frame; name stages of one member in the order of a path"));
  }
}

}  // namespace
}  // namespace graphline::plan_testing
