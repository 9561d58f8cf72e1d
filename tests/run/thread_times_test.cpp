#include "framework/run/execute/machine_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/base/clock.hpp"

namespace graphline {
namespace {

TEST(thread_times, reads_what_the_scheduler_writes) {
  thread_time t;
  EXPECT_TRUE(parse_schedstat("123762 2917021 2", t));
  EXPECT_EQ(t.on_cpu, 123'762);
  EXPECT_EQ(t.waited, 2'917'021);
  for (const char* text :
       {"", "12", "12 ", "a b c", "12 x", "-1 2 3", "99999999999999999999 1 1"}) {
    EXPECT_FALSE(parse_schedstat(text, t)) << text;
  }
}

TEST(thread_times, are_those_between_two_readings_by_name) {
  const thread_clocks before = {{1, {"main", 100, 10}}, {2, {"worker 1", 50, 5}}};
  const thread_clocks after = {{1, {"main", 100, 10}},
                               {2, {"worker 1", 80, 45}},
                               {3, {"host device", 7, 1}},
                               {4, {"host device", 20, 2}}};
  const auto times = between(before, after);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].thread, "worker 1");
  EXPECT_EQ(times[0].on_cpu, 30);
  EXPECT_EQ(times[0].waited, 40);
  EXPECT_EQ(times[1].thread, "host device");
  EXPECT_EQ(times[1].on_cpu, 27);
  EXPECT_EQ(times[1].waited, 3);
}

TEST(thread_times, of_a_thread_that_works_are_no_longer_than_the_time_it_had) {
  const auto before = read_thread_clocks();
  if (before.empty()) GTEST_SKIP() << "the system does not say how long threads wait for a CPU";
  const nanoseconds begin = now();
  while (now() < begin + 20'000'000) {
  }
  const auto times = between(before, read_thread_clocks());
  const nanoseconds passed = now() - begin;
  const auto main = std::ranges::find(times, "main", &thread_time::thread);
  ASSERT_NE(main, times.end());
  // The scheduler brings its figures up to date now and then: a tick is missing at most.
  EXPECT_GE(main->on_cpu + main->waited, 10'000'000);
  EXPECT_LE(main->on_cpu, passed + 10'000'000);
}

}  // namespace
}  // namespace graphline
