#include "framework/run/execute/machine_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using ::testing::ElementsAre;
using ::testing::Optional;

machine_state state_at(nanoseconds at, nanoseconds own, nanoseconds busy, nanoseconds steal) {
  machine_state state;
  state.at = at;
  state.own = own;
  state.cores = 2;
  state.used = core_times{busy, steal};
  return state;
}

TEST(conditions, are_differences_between_two_looks) {
  auto before = state_at(1000, 300, 5000, 70);
  auto after = state_at(4000, 1300, 7500, 95);
  before.load = 0.5;
  after.clock = 2445;
  const auto found = conditions_between(before, after);
  EXPECT_EQ(found.lasted, 3000);
  EXPECT_EQ(found.cores, 2);
  EXPECT_THAT(found.others, Optional(1500));  // 2500 busy, 1000 of them the process's own
  EXPECT_THAT(found.steal, Optional(25));
  EXPECT_THAT(found.load_before, Optional(0.5));
  EXPECT_EQ(found.load_after, std::nullopt);
  EXPECT_THAT(found.clock_after, Optional(2445.0));
}

TEST(conditions, have_no_less_than_nothing_taken_by_others) {
  // The cores' time is counted in ticks, the process's own is exact.
  EXPECT_THAT(conditions_between(state_at(0, 0, 0, 0), state_at(9, 8, 0, 0)).others, Optional(0));
}

TEST(conditions, do_not_compare_other_cores) {
  const auto before = state_at(0, 0, 100, 5);
  auto after = state_at(10, 0, 900, 9);
  after.cores = 4;
  EXPECT_EQ(conditions_between(before, after).others, std::nullopt);
  EXPECT_EQ(conditions_between(before, after).steal, std::nullopt);
  after.cores = 2;
  after.used.reset();
  EXPECT_EQ(conditions_between(before, after).others, std::nullopt);
}

TEST(session, looks_at_the_machine_outside_the_measured_frames) {
  const stage_registry registry = make_registry();
  const auto d = open_host_device(1);
  pipeline_spec spec;
  spec.name = {"one"};
  spec.stages = {make_stage("c", "cpu_mix", {})};
  spec.run.warmup = 1;
  spec.run.frames = 3;
  session s(plan_for_host(spec, registry), *d);

  std::vector<nanoseconds> looks;
  std::vector<std::string> order;
  run_options options;
  options.at_machine = [&] {
    looks.push_back(now());
    order.emplace_back("look");
    return state_at(now(), 0, 7 * static_cast<nanoseconds>(looks.size()), 0);
  };
  options.before_frames = [&] { order.emplace_back("frames"); };
  options.after_frames = [&] { order.emplace_back("after"); };
  options.common_epoch = 0;  // stamps are of the host's clock
  const auto record = s.run(options);
  EXPECT_THAT(order, ElementsAre("look", "frames", "after", "look"));
  ASSERT_EQ(record.frames.size(), 3U);
  EXPECT_LE(looks.front(), record.frames.front().begin);
  EXPECT_GE(looks.back(), record.frames.back().end);
  ASSERT_TRUE(record.conditions);
  EXPECT_THAT(record.conditions->others, Optional(7));
}

}  // namespace
}  // namespace graphline
