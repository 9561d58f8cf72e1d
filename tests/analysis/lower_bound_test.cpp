#include "framework/analysis/run/lower_bound.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/analysis/made_run.hpp"

namespace graphline {
namespace {

using samples::made_run;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto by_event = satisfied_by::event_wait;
constexpr auto complete = satisfied_by::completion;
constexpr auto returned = satisfied_by::cpu_return;

/// Device stages `left` and `right` of 30 and 50 ns on separate streams, and a CPU stage of 25 ns
/// that reads `left`; long gaps between them.
made_run fork(strategy how, const char* backend = "cuda", const char* right_on = "right") {
  return made_run(how, timing_method::event, backend)
      .device_stage("left", {}, "left")
      .device_stage("right", {}, right_on)
      .cpu_stage("reads", {{0, complete}})
      .frame(1000, 2000)
      .launch(0, 1000, 1005)
      .device(0, 1100, 1130)
      .launch(1, 1110, 1120)
      .device(1, 1200, 1250)
      .cpu(2, 1500, 1525);
}

/// Returns "8330 device: 1, 2, 3".
std::string text_of(const lower_bound& bound) {
  return fmt::format("{} {}: {}", bound.time, to_word(bound.by), fmt::join(bound.stages, ", "));
}

TEST(lower_bound, is_the_longest_path_without_shared_resources) {
  const auto any = lower_bounds(fork(strategy::overlap).record).of(0, schedules::any);
  EXPECT_EQ(text_of(any), "55 critical_path: 0, 2");
  EXPECT_EQ(lower_bounds(fork(strategy::overlap).record).of(0, schedules::this_one).time, 55);
  EXPECT_EQ(lower_bounds(fork(strategy::async).record).of(0, schedules::this_one).time, 55);
}

TEST(lower_bound, is_the_same_with_a_window) {
  auto record = fork(strategy::overlap).record;
  record.run.window = 1;
  EXPECT_EQ(text_of(lower_bounds(record).of(0, schedules::this_one)), "55 critical_path: 0, 2");
}

TEST(lower_bound, includes_each_device_stage_under_serial) {
  const auto record = fork(strategy::serial).record;
  const auto here = lower_bounds(record).of(0, schedules::this_one);
  EXPECT_EQ(text_of(here), "105 critical_path: 0, 1, 2");
  EXPECT_EQ(lower_bounds(record).of(0, schedules::any).time, 55);
}

TEST(lower_bound, serializes_the_stages_of_a_stream) {
  const auto record = fork(strategy::async, "cuda", "left").record;
  const auto here = lower_bounds(record).of(0, schedules::this_one);
  EXPECT_EQ(text_of(here), "80 critical_path: 0, 1");
  EXPECT_EQ(lower_bounds(record).of(0, schedules::any).time, 55);
}

TEST(lower_bound, uses_the_observed_stream_order_under_overlap) {
  const auto record = made_run(strategy::overlap)
                          .cpu_stage("slow")
                          .device_stage("late", {{0, returned}})
                          .device_stage("soon")
                          .frame(0, 100)
                          .cpu(0, 0, 60)
                          .launch(1, 60, 61)
                          .device(1, 61, 91)
                          .launch(2, 0, 1, 1)
                          .device(2, 2, 42)
                          .record;
  // In planned order, `soon` would end at 130 ns.
  const auto here = lower_bounds(record).of(0, schedules::this_one);
  EXPECT_EQ(text_of(here), "90 critical_path: 0, 1");
}

TEST(lower_bound, has_one_host_thread_for_cpu_stages_and_launches) {
  const auto made = [](strategy how) {
    return made_run(how)
        .cpu_stage("first")
        .cpu_stage("second")
        .device_stage("net")
        .frame(0, 100)
        .cpu(0, 0, 20)
        .cpu(1, 20, 30)
        .launch(2, 30, 31)
        .device(2, 31, 71)
        .record;
  };
  const auto async = lower_bounds(made(strategy::async)).of(0, schedules::this_one);
  EXPECT_EQ(text_of(async), "70 critical_path: 0, 1, 2");
  EXPECT_EQ(lower_bounds(made(strategy::overlap)).of(0, schedules::this_one).time, 40);
  auto whole = made(strategy::async);
  whole.run.graphs = graph_mode::frame;
  EXPECT_EQ(lower_bounds(whole).of(0, schedules::this_one).time, 40);
}

TEST(lower_bound, adds_up_the_work_of_a_device_that_executes_one_operation_at_a_time) {
  auto made = fork(strategy::overlap, "host");
  made.busy(0, 30).busy(1, 50);
  const auto bound = lower_bounds(made.record).of(0, schedules::any);
  EXPECT_EQ(text_of(bound), "80 device: 0, 1");
  // `right` waited for most of the time between its events.
  made.record.stages[1].busy[0] = 20;
  EXPECT_EQ(lower_bounds(made.record).of(0, schedules::any).time, 55);
}

TEST(lower_bound, shares_the_cores_of_cpu_stages) {
  auto made = made_run(strategy::overlap).frame(0, 100'000'000);
  for (const char* name : {"a", "b", "c", "d"}) made.cpu_stage(name);
  made.cpu_stage("last", {{0, returned}, {1, returned}, {2, returned}, {3, returned}});
  for (std::size_t s = 0; s < 4; ++s) made.cpu(s, 0, 4'000'000);
  made.cpu(4, 9'000'000, 10'000'000);
  const auto bound_on = [&](int cores) {
    made.record.cpu_cores = cores;
    return lower_bounds(made.record).of(0, schedules::any);
  };
  EXPECT_EQ(bound_on(0).time, 5'000'000);  // unknown
  EXPECT_EQ(bound_on(1).time, 17'000'000);
  EXPECT_EQ(bound_on(2).time, 9'000'000);
  EXPECT_EQ(bound_on(3).time, 6'333'333);
  EXPECT_EQ(bound_on(4).time, 5'000'000);
  EXPECT_EQ(bound_on(2).by, limited_by::cpu_cores);
  EXPECT_THAT(bound_on(2).stages, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(bound_on(3).stages, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(bound_on(4).by, limited_by::critical_path);
}

/// Stages with given times, each device stage on its own stream, on one core and a device that
/// executes one operation at a time.
class timed_stages {
 public:
  timed_stages& cpu(nanoseconds time, const std::vector<std::size_t>& after = {}) {
    made_.cpu_stage(next().c_str(), waits(after)).cpu(index(), 0, time);
    return *this;
  }
  timed_stages& device(nanoseconds time, const std::vector<std::size_t>& after = {}) {
    const auto name = next();
    made_.device_stage(name.c_str(), waits(after), name.c_str());
    made_.device(index(), 0, time).busy(index(), time);
    return *this;
  }
  lower_bound bound() {
    made_.record.cpu_cores = 1;
    return lower_bounds(made_.record).of(0, schedules::this_one);
  }

 private:
  static std::vector<wait_record> waits(const std::vector<std::size_t>& after) {
    std::vector<wait_record> result;
    for (const std::size_t stage : after) result.push_back({stage, complete});
    return result;
  }
  std::string next() const { return "s" + std::to_string(made_.record.stages.size()); }
  std::size_t index() const { return made_.record.stages.size() - 1; }

  made_run made_ = made_run(strategy::overlap, timing_method::event, "host").frame(0, 100'000'000);
};

TEST(lower_bound, names_the_device_that_stages_share_rather_than_what_follows_or_precedes_them) {
  auto two_networks = timed_stages().device(25'000'000).device(25'000'000).cpu(10'000, {0, 1});
  EXPECT_EQ(text_of(two_networks.bound()), "50010000 device: 0, 1");

  auto fan_out = timed_stages().device(460).device(450).device(490).cpu(500, {0, 1, 2});
  EXPECT_EQ(text_of(fan_out.bound()), "1900 device: 0, 1, 2");

  auto detector =
      timed_stages().cpu(1440).device(6740, {0}).device(800, {1}).device(500, {1}).cpu(20, {2, 3});
  EXPECT_EQ(text_of(detector.bound()), "9500 device: 1, 2, 3");
}

TEST(lower_bound, names_the_path_where_a_resource_adds_little_to_it) {
  // The device needs 50 more than the path of 8280.
  auto detector =
      timed_stages().cpu(1440).device(6740, {0}).device(80, {1}).device(50, {1}).cpu(20, {2, 3});
  EXPECT_EQ(text_of(detector.bound()), "8330 critical_path: 0, 1, 2, 4");
  // 0.3 us of 10 ms does not change the limit.
  auto even = timed_stages().cpu(4'990'000).device(5'000'000, {0}).device(10'000).device(300, {0});
  EXPECT_EQ(text_of(even.bound()), "9990300 critical_path: 0, 1");
}

TEST(lower_bound, names_the_path_where_one_stage_of_it_outweighs_what_others_share) {
  // The CPU stage takes 99.6 % of the frame, the device 0.02 ms.
  auto spin = timed_stages().cpu(4'980'000).device(10'000, {0}).device(10'000, {0});
  EXPECT_EQ(text_of(spin.bound()), "5000000 critical_path: 0, 1");
  auto more = timed_stages().cpu(10'000).device(1000, {0}).device(1000, {0});
  EXPECT_EQ(text_of(more.bound()), "12000 critical_path: 0, 1");
}

TEST(lower_bound, names_no_resource_whose_stages_are_sequential_anyway) {
  // The chain has more work than the stages that only the resource serializes.
  auto device = timed_stages().cpu(25).cpu(25, {0}).device(20, {1}).device(20, {1});
  EXPECT_EQ(text_of(device.bound()), "90 device: 2, 3");

  auto cores = timed_stages().device(25).device(25, {0}).cpu(20, {1}).cpu(20, {1});
  EXPECT_EQ(text_of(cores.bound()), "90 cpu_cores: 2, 3");

  auto path = timed_stages().cpu(25).device(40, {0}).cpu(5, {1});
  EXPECT_EQ(text_of(path.bound()), "70 critical_path: 0, 1, 2");
}

/// A random pipeline of up to seven stages with known times, on up to three cores and a device that
/// executes one operation at a time.
run_record drawn_stages(std::mt19937_64& generator) {
  const auto one_of = [&](std::size_t n) { return static_cast<std::size_t>(generator() % n); };
  auto made = made_run(strategy::overlap, timing_method::event, "host").frame(0, 1'000'000);
  made.record.cpu_cores = 1 + static_cast<int>(one_of(3));
  const std::size_t stages = 2 + one_of(6);
  for (std::size_t s = 0; s < stages; ++s) {
    std::vector<wait_record> waits;
    for (std::size_t earlier = 0; earlier < s; ++earlier) {
      if (one_of(4) == 0) waits.push_back({earlier, complete});
    }
    const auto time = static_cast<nanoseconds>(1 + one_of(50));
    const auto name = "s" + std::to_string(s);
    if (one_of(3) == 0) {
      made.device_stage(name.c_str(), waits, name.c_str()).device(s, 0, time).busy(s, time);
    } else {
      made.cpu_stage(name.c_str(), waits).cpu(s, 0, time);
    }
  }
  return made.record;
}

/// Finds the shortest schedule by trying every order of begins.
nanoseconds shortest_schedule(const run_record& record) {
  std::vector<std::size_t> order(record.stages.size());
  std::iota(order.begin(), order.end(), 0U);
  nanoseconds shortest = std::numeric_limits<nanoseconds>::max();
  do {
    std::vector<nanoseconds> cores(static_cast<std::size_t>(record.cpu_cores), 0);
    std::vector<nanoseconds> device(1, 0);
    std::vector<nanoseconds> end(order.size(), -1);
    bool possible = true;
    nanoseconds last = 0;
    for (const std::size_t s : order) {
      const auto& stage = record.stages[s];
      auto& places = stage.on == side::cpu ? cores : device;
      const auto place = std::min_element(places.begin(), places.end());
      nanoseconds begin = *place;
      for (const auto& wait : stage.waits) {
        possible = possible && end[wait.stage] >= 0;
        begin = std::max(begin, end[wait.stage]);
      }
      if (!possible) break;
      const auto& stamps = stage.on == side::cpu ? stage.cpu : stage.device;
      *place = end[s] = begin + stamps[0].length();
      last = std::max(last, end[s]);
    }
    if (possible) shortest = std::min(shortest, last);
  } while (std::next_permutation(order.begin(), order.end()));
  return shortest;
}

TEST(lower_bound, is_below_the_shortest_schedule_and_mostly_reaches_it) {
  std::mt19937_64 generator(14);
  int within = 0;
  constexpr int cases = 400;
  for (int i = 0; i < cases; ++i) {
    const auto record = drawn_stages(generator);
    const auto shortest = shortest_schedule(record);
    const auto bound = lower_bounds(record).of(0, schedules::any);
    ASSERT_LE(bound.time, shortest) << "case " << i;
    if (static_cast<double>(bound.time) >= 0.97 * static_cast<double>(shortest)) ++within;
    nanoseconds work = 0;
    for (const std::size_t s : bound.stages) {
      const auto& stage = record.stages[s];
      work += (stage.on == side::cpu ? stage.cpu : stage.device)[0].length();
    }
    nanoseconds longest = 0;  // longest stage that is not named
    nanoseconds longest_named = 0;
    for (std::size_t s = 0; s < record.stages.size(); ++s) {
      const auto& stage = record.stages[s];
      const auto time = (stage.on == side::cpu ? stage.cpu : stage.device)[0].length();
      auto& side = std::ranges::count(bound.stages, s) > 0 ? longest_named : longest;
      side = std::max(side, time);
    }
    if (bound.by == limited_by::critical_path) {
      ASSERT_LE(work, bound.time) << "case " << i;
    } else {
      const auto cores = bound.by == limited_by::cpu_cores ? record.cpu_cores : 1;
      ASSERT_GE(bound.stages.size(), 2U) << "case " << i;
      ASSERT_GT(work / cores, longest) << "case " << i;
      ASSERT_GE(work / cores, longest_named) << "case " << i;
    }
  }
  EXPECT_GE(within, 95 * cases / 100);
}

TEST(lower_bound, uses_synced_times_of_device_stages) {
  const auto record = made_run(strategy::async, timing_method::sync)
                          .device_stage("a", {}, "left")
                          .device_stage("b", {{0, by_event}}, "right")
                          .frame(0, 100)
                          .synced(0, 5, 45)
                          .synced(1, 50, 95)
                          .record;
  EXPECT_EQ(lower_bounds(record).of(0, schedules::this_one).time, 85);
}

TEST(lower_bound, is_zero_without_stages) {
  const auto record = made_run(strategy::async).frame(0, 10).record;
  EXPECT_EQ(lower_bounds(record).of(0, schedules::this_one).time, 0);
  EXPECT_THAT(lower_bounds(record).of(0, schedules::this_one).stages, IsEmpty());
}

}  // namespace
}  // namespace graphline
