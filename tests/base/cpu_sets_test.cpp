#include "framework/base/cpu_sets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>

#include <thread>

namespace graphline {
namespace {

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

}  // namespace
}  // namespace graphline
