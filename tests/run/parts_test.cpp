#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using testing::ElementsAre;
using testing::HasSubstr;

pipeline_spec parted(graph_mode graphs) {
  auto spec =
      pipeline_of({make_stage("net", "device_parts", {}), make_stage("after", "cpu_mix", {"net"}),
                   make_stage("whole", "device_mix", {"after"})},
                  8, 1);
  spec.run.graphs = graphs;
  return spec;
}

class layers : public testing::TestWithParam<graph_mode> {};

TEST_P(layers, times_parts_one_after_another_within_their_stage) {
  host_session s(parted(GetParam()));
  const run_record record = whole_run(s, {.timing = timing_method::layers});
  EXPECT_TRUE(record.warnings.empty());
  const auto& net = stage_named(record, "net");
  ASSERT_EQ(net.parts.size(), 2U);
  EXPECT_EQ(net.parts[0].name, "0.mix");
  EXPECT_EQ(net.parts[0].choice, "an addition and a product");
  for (std::size_t f = 0; f < 8; ++f) {
    const auto& first = net.parts[0].device.at(f);
    const auto& second = net.parts[1].device.at(f);
    EXPECT_LE(net.device.at(f).begin, first.begin);
    EXPECT_LE(first.begin, first.end);
    EXPECT_EQ(first.end, second.begin);
    EXPECT_LE(second.begin, second.end);
    EXPECT_LE(second.end, net.device[f].end);
  }
  EXPECT_TRUE(stage_named(record, "whole").parts.empty());
}

TEST_P(layers, leave_names_and_choices_to_other_methods_but_no_times) {
  host_session s(parted(GetParam()));
  const run_record record = s.run();
  const auto& net = stage_named(record, "net");
  ASSERT_EQ(net.parts.size(), 2U);
  EXPECT_EQ(net.parts[1].name, "1.settle");
  EXPECT_TRUE(net.parts[1].device.empty());
}

INSTANTIATE_TEST_SUITE_P(graphs, layers,
                         testing::Values(graph_mode::off, graph_mode::stage, graph_mode::frame),
                         [](const auto& tested) { return std::string(to_word(tested.param)); });

TEST(session, warns_of_layers_where_no_stage_has_parts) {
  auto spec = parted(graph_mode::stage);
  spec.stages[0] = make_stage("net", "device_mix", {});
  host_session s(spec);
  EXPECT_THAT(s.run({.timing = timing_method::layers}).warnings,
              ElementsAre(HasSubstr("no stage of this pipeline says")));
  EXPECT_THAT(s.timing_methods(), testing::Not(testing::Contains(timing_method::layers)));
}

/// Has three parts and tells of as many as it is told to.
class miscounting : public device_stage, public device_work {
 public:
  explicit miscounting(int told) : told_(told) {}
  std::vector<stage_part> parts() const override { return {{"a", ""}, {"b", ""}, {"c", ""}}; }
  std::unique_ptr<device_work> bind(const stage_tensors&) override {
    return std::make_unique<miscounting>(told_);
  }
  void enqueue(stream&) override {}
  void enqueue_in_parts(stream& s, part_marker& marker) override {
    for (int i = 0; i < told_; ++i) marker.part_enqueued(s);
  }

 private:
  int told_;
};

TEST(session, refuses_a_stage_that_miscounts_its_parts) {
  const auto dev = open_host_device(1);
  for (const int told : {2, 4}) {
    auto registry = make_registry();
    stage_kind kind = *registry.find("device_mix");
    kind.name = "miscounting";
    kind.make_device["host"] = [told](device&, const stage_config&) {
      return std::make_unique<miscounting>(told);
    };
    registry.add(std::move(kind));
    auto spec = parted(graph_mode::stage);
    spec.stages[0] = make_stage("net", "miscounting", {});
    spec.run.timing = timing_method::layers;
    try {
      session(plan_for_host(spec, registry), *dev);
      ADD_FAILURE() << "not refused: " << told;
    } catch (const error& e) {
      EXPECT_THAT(e.what(), HasSubstr("stage 'net' (miscounting): telling its parts apart: it told "
                                      "of "));
      EXPECT_THAT(e.what(), HasSubstr(" its 3 parts"));
    }
  }
}

}  // namespace
}  // namespace graphline
