#include "framework/base/machine_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace graphline {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;

constexpr nanoseconds tick = 10'000'000;  // of 100 a second

// A file of Linux 6.1 with three cores; columns: user nice system idle iowait irq softirq steal
// guest guest_nice. Guests are in `user` already.
constexpr const char* proc_stat =
    "cpu  660 66 60 3000 150 9 12 600 99 0\n"
    "cpu0 100 20 10 1000 50 3 4 100 33 0\n"
    "cpu1 300 40 20 1000 50 3 4 200 33 0\n"
    "cpu10 260 6 30 1000 50 3 4 300 33 0\n"
    "intr 12345 0 0\n"
    "ctxt 67890\n"
    "softirq 1 2 3\n";

TEST(core_times, are_the_sums_of_the_cores_asked_for) {
  const auto one = core_times_of(proc_stat, {0}, 100);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->busy, (100 + 20 + 10 + 3 + 4) * tick);
  EXPECT_EQ(one->steal, 100 * tick);
  const auto two = core_times_of(proc_stat, {10, 0}, 100);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->busy, (100 + 20 + 10 + 3 + 4 + 260 + 6 + 30 + 3 + 4) * tick);
  EXPECT_EQ(two->steal, 400 * tick);
}

TEST(core_times, go_by_the_ticks_of_the_system) {
  EXPECT_EQ(core_times_of(proc_stat, {1}, 1000)->steal, 200'000'000);
}

TEST(core_times, are_not_known_of_a_core_that_is_not_listed) {
  EXPECT_FALSE(core_times_of(proc_stat, {0, 2}, 100));
  EXPECT_FALSE(core_times_of(proc_stat, {}, 100));
  EXPECT_FALSE(core_times_of("", {0}, 100));
}

TEST(core_times, count_columns_that_an_old_kernel_does_not_have_as_nothing) {
  const auto found = core_times_of("cpu0 1 2 3 4\n", {0}, 100);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->busy, 6 * tick);
  EXPECT_EQ(found->steal, 0);
}

TEST(load, is_the_average_of_the_last_minute) {
  EXPECT_THAT(load_of("3.30 1.99 1.06 7/111 22618\n"), Optional(DoubleEq(3.30)));
  EXPECT_FALSE(load_of(""));
  EXPECT_FALSE(load_of("unknown"));
}

TEST(clock, is_stated_in_megahertz) {
  EXPECT_THAT(clock_of("2445404\n"), Optional(DoubleEq(2445.404)));
  EXPECT_FALSE(clock_of("<unknown>\n"));
  EXPECT_FALSE(clock_of("0\n"));
}

TEST(machine_state, has_the_process_s_own_time_grow_with_its_work) {
  const auto before = look_at_machine();
  const nanoseconds until = before.own + 20'000'000;
  while (processor_time() < until) {
  }
  const auto after = look_at_machine();
  EXPECT_GE(after.own, until);
  EXPECT_GE(after.at - before.at, 20'000'000 / std::max(1, before.cores));
  EXPECT_GE(after.cores, 1);
}

}  // namespace
}  // namespace graphline
