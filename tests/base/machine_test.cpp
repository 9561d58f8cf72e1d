#include "framework/base/machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace graphline {
namespace {

TEST(machine, has_the_cores_that_the_affinity_names) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  EXPECT_LE(usable_cores(), CPU_COUNT(&all));
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  EXPECT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(machine, has_no_more_memory_available_than_in_all) {
  EXPECT_GT(available_memory(), 0U);
  EXPECT_LE(available_memory(), memory_in_all());
}

}  // namespace
}  // namespace graphline
