#include "framework/run/experiment/experiment.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

pipeline_spec small() {
  auto spec = pipeline_of({make_stage("a", "device_mix", {}), make_stage("b", "cpu_mix", {})});
  return spec;
}

std::vector<std::string> names(const experiment_record& r) {
  std::vector<std::string> list;
  for (const auto& configuration : r.configurations) list.push_back(configuration.name);
  return list;
}

TEST(timing_experiment, runs_each_method_once_in_every_block) {
  host_session s(small());
  const auto result = compare_timing_methods(s, {.trials = 6, .frames = 4});
  ASSERT_EQ(result.trials.size(), 24U);
  for (std::size_t block = 0; block < 6; ++block) {
    std::set<timing_method> seen;
    for (const auto& trial : result.trials) {
      if (trial.block == block) seen.insert(trial.members.at(0).run.timing);
      EXPECT_EQ(trial.members.at(0).frames.size(), 4U);
      EXPECT_EQ(result.configurations.at(trial.configuration).name,
                "timing=" + std::string(to_word(trial.members[0].run.timing)));
    }
    EXPECT_EQ(seen.size(), 4U) << "block " << block;
  }
  ASSERT_EQ(result.pairs.size(), 3U);
  for (const auto& pair : result.pairs) EXPECT_EQ(pair.reference.configuration, 0U);
}

TEST(timing_experiment, compares_only_what_makes_sense_for_the_plan) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  auto spec = small();
  spec.run.graphs = graph_mode::frame;
  const timing_experiment_options options{.trials = 1, .frames = 2};
  session whole(plan_for_host(spec, registry), *dev);
  EXPECT_EQ(names(compare_timing_methods(whole, options)),
            (std::vector<std::string>{"timing=none", "timing=event"}));
  spec.stages[0] = make_stage("a", "device_parts", {});
  session parted(plan_for_host(spec, registry), *dev);
  EXPECT_EQ(names(compare_timing_methods(parted, options)),
            (std::vector<std::string>{"timing=none", "timing=event", "timing=layers"}));
}

/// What is told when a stage fails at a call of it.
std::string failure_at(int call) {
  const auto dev = open_host_device(1);
  int calls = 0;
  const auto registry = make_registry([&](const std::string&, std::int64_t) {
    if (++calls == call) throw std::runtime_error("enough");
  });
  session s(plan_for_host(small(), registry), *dev);
  const auto result = compare_timing_methods(s, {.trials = 50, .frames = 4});
  EXPECT_FALSE(result.interrupted);
  return result.failure.value_or("none");
}

TEST(timing_experiment, ends_with_the_failure_told_when_a_stage_fails) {
  for (const int call : {1, 40}) {  // while it warms up, and later
    const auto failure = failure_at(call);
    EXPECT_NE(failure.find("configuration 'timing="), std::string::npos) << failure;
    EXPECT_NE(failure.find("enough"), std::string::npos) << failure;
  }
}

}  // namespace
}  // namespace graphline
