#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

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

std::string expected_text(const std::string& name) {
  std::ifstream file(GRAPHLINE_TEST_DIR "/" + name);
  std::ostringstream expected;
  expected << file.rdbuf();
  return expected.str();
}

std::string describe_plan(const plan& p, const plan_target& target) {
  return report::as_text(report::describe(p, target));
}

const plan_target target{.device_memory_bytes = std::uint64_t{16} << 30};

TEST(plan_report, is_as_expected_for_two_models) {
  EXPECT_EQ(describe_plan(plan_of(two_models()), target), expected_text("two_models.expected"));
}

TEST(plan_report, is_as_expected_for_two_models_as_one_graph) {
  spec_builder b = two_models();
  b.spec.run.graphs = graph_mode::frame;
  b.spec.run.strategy = strategy::overlap;
  EXPECT_EQ(describe_plan(plan_of(b), target), expected_text("two_models_frame.expected"));
}

TEST(plan_report, keeps_to_80_columns) {
  spec_builder b = two_models();
  for (int i = 0; i < 30; ++i) {
    b.stage(fmt::format("reader_{}", i), "gpu", {"features", "score", "image"});
  }
  std::vector<std::string> everything;
  for (const stage_spec& s : b.spec.stages) everything.push_back(s.name.text);
  b.stage("last", "work", {"score"}, {}, everything);
  std::istringstream lines(describe_plan(plan_of(b), {}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(plan_report, shows_no_control_characters_of_names) {
  spec_builder b;
  b.input("x", {4}).stage("red\x1b[31m", "gpu", {"x"});
  EXPECT_THAT(describe_plan(plan_of(b), {}), Not(HasSubstr("\x1b")));
}

TEST(plan_report, shows_no_zero_for_what_a_kind_does_not_state) {
  spec_builder b;
  b.input("x", {4}, side::cpu).stage("unknown", "detect", {"x"}, {"boxes", "scores"});
  EXPECT_THAT(describe_plan(plan_of(b), {}), Not(ContainsRegex("unknown +detect +cpu +0")));
}

}  // namespace
}  // namespace graphline::testing
