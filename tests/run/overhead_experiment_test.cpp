#include "framework/run/experiment/overhead_experiment.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/host/host_device.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

pipeline_spec small() {
  pipeline_spec spec;
  spec.name = {"small"};
  spec.stages = {make_stage("a", "device_mix", {}), make_stage("b", "cpu_mix", {})};
  return spec;
}

std::vector<timing_method> order(const overhead_record& r) {
  std::vector<timing_method> methods;
  for (const auto& trial : r.trials) methods.push_back(trial.record.run.timing);
  return methods;
}

TEST(overhead_experiment, runs_each_method_once_in_every_block) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(small(), registry), *dev);
  overhead_options options;
  options.blocks = 6;
  options.frames_per_trial = 4;
  const auto result = run_overhead(s, options);
  ASSERT_EQ(result.trials.size(), 24U);
  for (std::size_t block = 0; block < 6; ++block) {
    std::set<timing_method> seen;
    for (const auto& trial : result.trials) {
      if (trial.block == block) seen.insert(trial.record.run.timing);
      EXPECT_EQ(trial.record.frames.size(), 4U);
    }
    EXPECT_EQ(seen.size(), 4U) << "block " << block;
  }
}

TEST(overhead_experiment, looks_at_the_machine_over_all_trials) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(small(), registry), *dev);
  overhead_options options;
  options.blocks = 2;
  options.frames_per_trial = 2;
  std::vector<machine_state> looks = {
      {.at = 1000, .own = 300, .cores = 2, .used = core_times{5000, 70}},
      {.at = 4000, .own = 1300, .cores = 2, .used = core_times{7500, 95}}};
  std::size_t looked = 0;
  options.at_machine = [&] { return looks.at(looked++); };
  const auto result = run_overhead(s, options);
  EXPECT_EQ(looked, 2U);
  ASSERT_TRUE(result.conditions);
  EXPECT_EQ(result.conditions->lasted, 3000);
  EXPECT_EQ(result.conditions->cores, 2);
  EXPECT_EQ(result.conditions->others, 1500);
  EXPECT_EQ(result.conditions->steal, 25);
}

TEST(overhead_experiment, compares_only_what_makes_sense_for_the_plan) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  auto spec = small();
  spec.run.graphs = graph_mode::frame;
  overhead_options options;
  options.blocks = 1;
  options.frames_per_trial = 2;
  session whole(plan_for_host(spec, registry), *dev);
  EXPECT_EQ(run_overhead(whole, options).methods,
            (std::vector{timing_method::none, timing_method::event}));
  spec.stages[0] = make_stage("a", "device_parts", {});
  session parted(plan_for_host(spec, registry), *dev);
  EXPECT_EQ(run_overhead(parted, options).methods,
            (std::vector{timing_method::none, timing_method::event, timing_method::layers}));
}

TEST(overhead_experiment, orders_by_its_seed) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(small(), registry), *dev);
  overhead_options options;
  options.blocks = 8;
  options.frames_per_trial = 3;
  const auto first = order(run_overhead(s, options));
  EXPECT_EQ(order(run_overhead(s, options)), first);
  options.order_seed = 2;
  EXPECT_NE(order(run_overhead(s, options)), first);
}

TEST(overhead_experiment, ends_with_what_there_is_when_stopped) {
  const auto dev = open_host_device(1);
  stop_request stop;
  int calls = 0;
  const auto registry = make_registry([&](const std::string&, std::int64_t) {
    if (++calls == 40) stop.raise();
  });
  session s(plan_for_host(small(), registry), *dev);
  overhead_options options;
  options.blocks = 50;
  options.frames_per_trial = 4;
  options.stop = &stop;
  const auto result = run_overhead(s, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.trials.empty());
  EXPECT_LT(result.trials.size(), 200U);
}

TEST(overhead_experiment, ends_with_the_failure_told_when_a_stage_fails) {
  const auto dev = open_host_device(1);
  int calls = 0;
  const auto registry = make_registry([&](const std::string&, std::int64_t) {
    if (++calls == 40) throw std::runtime_error("enough");
  });
  session s(plan_for_host(small(), registry), *dev);
  overhead_options options;
  options.blocks = 50;
  options.frames_per_trial = 4;
  const auto result = run_overhead(s, options);
  ASSERT_FALSE(result.trials.empty());
  ASSERT_TRUE(result.trials.back().record.failure);
  EXPECT_NE(result.trials.back().record.failure->find("enough"), std::string::npos);
}

}  // namespace
}  // namespace graphline
