#include "framework/analysis/run/disturbance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/analysis/run/summary.hpp"

namespace graphline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr nanoseconds second = 1'000'000'000;

/// Ten undisturbed seconds on four cores.
conditions_record quiet() {
  conditions_record conditions;
  conditions.lasted = 10 * second;
  conditions.cores = 4;
  conditions.load_before = 0.25;
  conditions.load_after = 1.5;
  conditions.steal = 0;
  conditions.others = second;  // a fortieth of the cores' time
  conditions.clock_before = 3000;
  conditions.clock_after = 2900;
  conditions.device_before = device_state{1980, 3201, {}, 0};
  conditions.device_after = device_state{1965, 3201, {}, 0};
  return conditions;
}

finding disturbed_by(std::vector<std::string> what) {
  return finding{"disturbed", finding_severity::warning}.with("by", std::move(what));
}

TEST(disturbances, name_threads_that_ran_stages_and_waited_for_a_core) {
  run_record record;
  record.threads = {"main", "worker 1"};
  record.stages.resize(3);
  record.stages[0].name = "copy";
  record.stages[1].name = "work";
  record.stages[1].on = side::cpu;
  record.stages[1].threads = {1, 1};
  record.stages[2].name = "elsewhere";
  record.stages[2].on = side::cpu;
  record.stages[2].threads = {0, 0};
  record.conditions = quiet();
  record.conditions->threads = {{"main", second, second / 100},
                                {"worker 1", 3 * second, second},
                                {"watcher 1", 0, second},
                                {device_thread_name, second, second}};
  EXPECT_EQ(disturbance_finding(record.conditions, record),
            disturbed_by({"thread 'worker 1' waited for a core 25 % of the time it wanted one, "
                          "which lengthens its stages",
                          "thread 'host device' waited for a core 50 % of the time it wanted one, "
                          "which lengthens its stages"}));
  for (auto& thread : record.conditions->threads) thread.waited = second / 50;
  EXPECT_FALSE(disturbance_finding(record.conditions, record));
}

TEST(disturbances, are_none_on_a_quiet_or_unknown_machine) {
  EXPECT_THAT(disturbances_of(quiet()), IsEmpty());
  EXPECT_THAT(disturbances_of({}), IsEmpty());
  EXPECT_FALSE(disturbance_finding({}, {}));
}

TEST(disturbances, name_steal_other_processes_and_clock_drops) {
  using change = void (*)(conditions_record&);
  const std::pair<change, std::vector<std::string>> cases[] = {
      {[](auto& c) { c.others = 4 * second; }, {}},  // a tenth: the limit
      {[](auto& c) { c.others = 12 * second; }, {"other processes kept 1.20 of 4 cores busy"}},
      {[](auto& c) { c.steal = second * 2 / 5; }, {}},  // a hundredth
      {[](auto& c) { c.steal = 2 * second; },
       {"the hypervisor took 5.0 % of the cores' time (steal)"}},
      // Below the resolution of the system's ticks, five of which are an eighth of the cores.
      {[](auto& c) {
         c.lasted = 100'000'000;
         c.others = 50'000'000;
         c.steal = 10'000'000;
       },
       {}},
      {[](auto& c) {
         c.clock_after = 2600;
         c.device_after->clock = 1410;
         c.device_before->slowed_by = {"the power limit"};
         c.device_after->slowed_by = {"temperature", "the power limit"};
       },
       {"the CPU's clock dropped from 3000 to 2600 MHz",
        "the device's clocks were held down by the power limit and temperature",
        "the device's clock dropped from 1980 to 1410 MHz"}},
      {[](auto& c) { c.device_before->other_processes = 1; }, {"1 other process used the device"}},
      {[](auto& c) { c.device_after->other_processes = 3; },
       {"3 other processes used the device"}}};
  for (const auto& [apply, expected] : cases) {
    auto conditions = quiet();
    apply(conditions);
    EXPECT_EQ(disturbances_of(conditions), expected);
  }
}

TEST(disturbances, name_the_frames_delayed_by_a_standstill) {
  run_record record;
  record.frames = {{0, 0, 9}, {10, 10, 1'300}, {20, 1'300, 1'400}, {1'410, 1'410, 1'420}};
  const auto by = [&](std::vector<standstill_record> standstills) {
    record.conditions = quiet();
    record.conditions->standstills = std::move(standstills);
    return disturbance_finding(record.conditions, record);
  };
  EXPECT_EQ(by({{30, 1'200, false}}),
            disturbed_by({"the process stood still for 1.20 us at frames 1 to 2 (SIGSTOP, a frozen "
                          "container or a paused virtual machine)"}));
  EXPECT_EQ(by({{1'412, 3'600 * second, true}}),
            disturbed_by({"the machine was suspended for 3600 s at frame 3"}));
  EXPECT_EQ(by({{5'000, 900, false}}),
            disturbed_by({"the process stood still for 900 ns (SIGSTOP, a frozen container or a "
                          "paused virtual machine)"}));
  EXPECT_FALSE(by({}));
}

TEST(disturbances, include_frames_queued_behind_a_standstill) {
  run_record record;
  record.run.in_flight = 2;
  record.run.arrival = arrival::constant;
  record.conditions = quiet();
  record.frames = {{0, 0, 9},
                   {100, 100, 1'010},
                   {200, 1'000, 1'080},
                   {900, 1'010, 1'090},
                   {1'030, 1'080, 1'120},
                   {1'085, 1'090, 1'200},
                   {1'121, 1'121, 1'180},
                   {1'300, 1'300, 1'310}};
  EXPECT_TRUE(frames_held_up(record).empty());
  record.conditions->standstills = {{120, 800, false}};
  // The sixth frame waits for the fourth; the seventh and eighth find free slots.
  EXPECT_THAT(frames_held_up(record), ElementsAre(1, 2, 3, 4, 5));
  record.load.dropped = {50, 130, 1'199, 1'250};
  record.load.unfinished = {1'150, 1'320};
  const auto rest = without_held_up(record);
  ASSERT_EQ(rest.frames.size(), 3U);
  EXPECT_EQ(rest.frames[1].due, 1'121);
  EXPECT_THAT(rest.load.dropped, ElementsAre(50, 1'250));
  EXPECT_THAT(rest.load.unfinished, ElementsAre(1'320));
}

TEST(disturbances, name_the_cpu_quota_of_a_control_group) {
  auto conditions = quiet();
  conditions.throttled = 2 * second / 5;  // a hundredth of the cores' time
  EXPECT_THAT(disturbances_of(conditions), IsEmpty());
  conditions.throttled = 3 * second;
  EXPECT_THAT(disturbances_of(conditions),
              ElementsAre("the CPU quota of the control group held threads back for 3.00 s"));
}

TEST(disturbances, are_one_warning_of_their_run) {
  run_record record;
  record.conditions = quiet();
  EXPECT_THAT(summarize(record).findings, IsEmpty());
  record.conditions->others = 12 * second;
  record.conditions->steal = 2 * second;
  const auto found = summarize(record).findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "disturbed");
  EXPECT_THAT(std::get<std::vector<std::string>>(*found[0].find("by")),
              ElementsAre("other processes kept 1.20 of 4 cores busy",
                          "the hypervisor took 5.0 % of the cores' time (steal)"));
}

}  // namespace
}  // namespace graphline
