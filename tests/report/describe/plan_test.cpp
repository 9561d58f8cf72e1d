#include <gmock/gmock.h>

#include <regex>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/plan/plan_testing.hpp"
#include "tests/report/golden.hpp"

namespace graphline::plan_testing {
namespace {

/// Two networks with CPU work between them, in the shapes of a small camera.
spec_builder two_models() {
  spec_builder b;
  b.spec.name.text = "two_models";
  b.spec.description = "Two networks with CPU work between them.";
  b.spec.parameters = {{"batch", "1"}, {"side", "112"}};
  b.spec.run.in_flight = 2;
  b.input("image", {1, 3, 112, 112}, side::cpu);
  b.stage("backbone", "gpu", {"image"}, {"features"}).priority(priority::high);
  b.with("shape", extents({1, 1024, 28, 28})).with("weights", 4735488);
  b.with("flops", std::int64_t{14'800'000'000});
  b.stage("noise", "work", {}).with("shape", extents({1, 3, 512, 512}));
  b.stage("head", "gpu", {"features"}, {"score"}).with("shape", extents({1, 1}));
  b.stage("post", "work", {"score", "noise"}, {"verdict"}, {"backbone"});
  return b;
}

std::string described_plan(const spec_builder& b) {
  return report::as_text(
      report::describe(plan_of(b), {.device_memory_bytes = std::uint64_t{16} << 30}));
}

TEST(plan_report, is_as_expected_for_two_models) {
  samples::expect_golden("plan.txt", described_plan(two_models()));
}

TEST(plan_report, is_as_expected_for_two_models_as_one_graph) {
  spec_builder b = two_models();
  b.spec.run.graphs = graph_mode::frame;
  b.spec.run.strategy = strategy::overlap;
  samples::expect_golden("plan_frame.txt", described_plan(b));
}

TEST(plan_report, shows_what_depends_on_the_frame) {
  spec_builder b;
  b.input("x", {6, 4});
  b.stage("count", "gpu_count", {"x"});
  b.stage("flag", "count", {});
  b.stage("cheap", "row_gpu", {"x"}).with("flops", 1000);
  b.spec.stages.back().rows = {"count"};
  b.stage("dear", "row_gpu", {"cheap"}).with("flops", 5000);
  b.spec.stages.back().rows = {"count"};
  b.spec.stages.back().buckets.rows = {3, 6};
  b.spec.stages.back().when = {"flag"};
  b.stage("end", "row_work", {"dear"});
  b.spec.stages.back().rows = {"count"};
  b.spec.stages.back().otherwise = {{"cheap"}};
  samples::expect_golden("plan_decisions.txt", described_plan(b));
}

TEST(plan_report, mentions_buckets_only_if_a_stage_has_some) {
  spec_builder b;
  b.input("x", {6, 4});
  b.stage("flag", "count", {});
  b.stage("dear", "gpu", {"x"});
  b.spec.stages.back().when = {"flag"};
  EXPECT_THAT(described_plan(b), ::testing::HasSubstr("What depends on the frame\n"));
}

TEST(plan_report, names_the_workers_that_nobody_set) {
  spec_builder b = two_models();
  const auto described = [&](int cores) {
    return report::as_text(report::describe(plan_of(b), {}, cores));
  };
  EXPECT_THAT(described(3), ::testing::Not(::testing::HasSubstr("workers")));
  b.spec.run.strategy = strategy::overlap;
  EXPECT_THAT(described(3), ::testing::HasSubstr("workers=3 (one per free"));
  b.spec.run.workers = 2;
  EXPECT_THAT(described(2), ::testing::ContainsRegex("workers=2[;,]"));
}

TEST(plan_report, shows_a_policy_and_a_window_where_they_have_an_effect) {
  spec_builder b = two_models();
  b.spec.run.policy = "declared";
  b.spec.run.window = 3;
  EXPECT_THAT(described_plan(b), ::testing::Not(::testing::ContainsRegex("policy=|window=")));
  b.spec.run.strategy = strategy::overlap;
  EXPECT_THAT(described_plan(b), ::testing::ContainsRegex("policy=declared,[ \n]+window=3"));
}

TEST(plan_report, shows_streams_realtime_and_cores_that_were_set) {
  spec_builder b = two_models();
  EXPECT_THAT(described_plan(b), ::testing::Not(::testing::ContainsRegex("streams=|realtime=")));
  b.spec.run.streams = {.at_most = 1};
  b.spec.run.realtime = 40;
  b.spec.stages.back().cores.cpus = {0, 1, 3};
  EXPECT_THAT(described_plan(b), ::testing::HasSubstr("streams=1, realtime=40"));
  EXPECT_THAT(described_plan(b), ::testing::HasSubstr("cpu, cores 0-1,3"));
  b.spec.run.graphs = graph_mode::frame;
  EXPECT_THAT(described_plan(b), ::testing::HasSubstr("host node, cores 0-1,3"));
}

TEST(plan_report, says_which_devices_exchange_nothing_directly_and_why) {
  spec_builder b;
  b.input("x", {4}).stage("one", "gpu", {"x"}).stage("two", "gpu", {"one"});
  for (const char* name : {"a", "b", "c", "d"}) b.spec.devices.push_back({{name}, {name}});
  b.spec.stages[1].on.text = "b";
  plan_target target;
  target.with_device = [](const std::string& name) {
    return plan_target{.backend = name == "d" ? "host" : "cuda"};
  };
  target.why_apart = [](const auto&, const auto&) { return std::string("no peer access"); };
  diagnostics out;
  const auto registry = test_registry();
  const plan p = make_plan(b.spec, registry, target, out);
  ASSERT_FALSE(out.has_errors()) << out.render();
  const std::string text =
      std::regex_replace(report::as_text(report::describe(p, target)), std::regex("\\s+"), " ");
  const std::string through = " go through pinned memory on the CPU: ";
  EXPECT_THAT(text, ::testing::HasSubstr("tensors between a and b; a and c; b and c" + through +
                                         "no peer access"));
  EXPECT_THAT(text, ::testing::HasSubstr("tensors between a and d; b and d; c and d" + through +
                                         "they are of different kinds"));
}

TEST(plan_report, shows_no_zero_for_what_a_kind_does_not_state) {
  spec_builder b;
  b.input("x", {4}, side::cpu).stage("unknown", "detect", {"x"}, {"boxes", "scores"});
  EXPECT_THAT(described_plan(b), ::testing::Not(::testing::ContainsRegex("detect +cpu +0")));
}

}  // namespace
}  // namespace graphline::plan_testing
