#include "framework/run/execute/heartbeat.hpp"

#include <gtest/gtest.h>

namespace graphline {
namespace {

constexpr nanoseconds ms = 1'000'000;

/// The beat that follows the first one, at 0, after so much time.
beat after(nanoseconds passed, nanoseconds used, std::optional<nanoseconds> waited = 0) {
  return {passed, passed, used, waited};
}

const beat first = after(0, 0);

TEST(heartbeat, that_is_late_without_waiting_for_a_core_finds_that_the_process_stood_still) {
  const auto still = standstill_between(first, after(1'200 * ms, 15 * ms, 3 * ms));
  ASSERT_TRUE(still);
  EXPECT_EQ(still->length, 1'177 * ms);  // but for the sleep and the wait for a core
  EXPECT_EQ(still->begin + still->length, 1'197 * ms);
  EXPECT_FALSE(still->suspended);
}

TEST(heartbeat, that_waits_for_a_core_or_sees_other_threads_run_finds_nothing) {
  EXPECT_FALSE(standstill_between(first, after(20 * ms, 0)));
  EXPECT_FALSE(standstill_between(first, after(69 * ms, 0)));
  EXPECT_TRUE(standstill_between(first, after(70 * ms, 0)));
  EXPECT_FALSE(standstill_between(first, after(1'000 * ms, 0, 940 * ms)));
  EXPECT_FALSE(standstill_between(first, after(1'000 * ms, 900 * ms)));
}

TEST(heartbeat, needs_more_where_the_system_does_not_say_who_waits_for_a_core) {
  EXPECT_FALSE(standstill_between(first, after(500 * ms, 0, std::nullopt)));
  EXPECT_TRUE(standstill_between(first, after(520 * ms, 0, std::nullopt)));
}

TEST(heartbeat, knows_a_suspended_machine_by_the_clock_that_goes_on) {
  beat later = after(20 * ms, 0);
  later.with_suspend += 3'600'000 * ms;
  const auto still = standstill_between(first, later);
  ASSERT_TRUE(still);
  EXPECT_TRUE(still->suspended);
  EXPECT_EQ(still->length, 3'600'000 * ms);
}

TEST(heartbeat, ends_when_it_is_told) {
  heartbeat beating;
  for (const auto& still : beating.end()) EXPECT_GE(still.length, heartbeat_late);
}

}  // namespace
}  // namespace graphline
