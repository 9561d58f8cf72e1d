#include "framework/base/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "tests/base/environment_guard.hpp"

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

using testing::ElementsAre;
using testing::IsEmpty;

TEST(cpu_split, gives_a_device_its_own_cpus_on_a_machine_with_few) {
  const auto two = split_cpus({0, 1}, 1);
  EXPECT_THAT(two.device, ElementsAre(1));
  EXPECT_THAT(two.others, ElementsAre(0));
  const auto four = split_cpus({2, 3, 6, 7}, 2);
  EXPECT_THAT(four.device, ElementsAre(6, 7));
  EXPECT_THAT(four.others, ElementsAre(2, 3));
}

TEST(cpu_split, is_left_to_the_system_where_there_are_many_or_none_to_spare) {
  for (const auto& split : {split_cpus({}, 1), split_cpus({5}, 1), split_cpus({0, 1}, 2),
                            split_cpus({0, 1}, 9), split_cpus({0, 1, 2, 3, 4}, 1)}) {
    EXPECT_THAT(split.device, IsEmpty());
    EXPECT_THAT(split.others, IsEmpty());
  }
}

TEST(kept_to_cpus, holds_for_a_thread_and_those_it_makes_and_ends) {
  const auto before = usable_cpus();
  if (before.size() < 2) GTEST_SKIP() << "the program may use one CPU only, or a part of several";
  {
    const kept_to_cpus kept({before.back()});
    EXPECT_THAT(usable_cpus(), ElementsAre(before.back()));
    EXPECT_EQ(::sched_getcpu(), before.back());
    std::thread([&] { EXPECT_THAT(usable_cpus(), ElementsAre(before.back())); }).join();
  }
  EXPECT_EQ(usable_cpus(), before);
  const kept_to_cpus nothing({});
  EXPECT_EQ(usable_cpus(), before);
}

TEST(cache_folder, is_the_first_that_the_environment_names) {
  const environment_guard home("HOME", "/home/someone");
  const environment_guard none("XDG_CACHE_HOME", std::nullopt);
  const environment_guard no_override("GRAPHLINE_CACHE", std::nullopt);
  EXPECT_EQ(cache_folder(), "/home/someone/.cache/graphline");
  const environment_guard shared("XDG_CACHE_HOME", "/var/cache");
  EXPECT_EQ(cache_folder(), "/var/cache/graphline");
  const environment_guard own("GRAPHLINE_CACHE", "/tmp/plans");
  EXPECT_EQ(cache_folder(), "/tmp/plans");
}

TEST(cache_folder, is_nowhere_without_a_home) {
  const environment_guard home("HOME", std::nullopt);
  const environment_guard none("XDG_CACHE_HOME", std::nullopt);
  const environment_guard no_override("GRAPHLINE_CACHE", std::nullopt);
  EXPECT_TRUE(cache_folder().empty());
}

}  // namespace
}  // namespace graphline
