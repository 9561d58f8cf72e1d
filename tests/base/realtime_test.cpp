#include "framework/base/realtime.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace graphline {
namespace {

struct scheduling {
  int policy = ::sched_getscheduler(0);
  int priority = [] {
    ::sched_param parameters{};
    ::sched_getparam(0, &parameters);
    return parameters.sched_priority;
  }();
};

TEST(scoped_realtime, holds_for_the_thread_but_not_for_those_it_makes_and_ends) {
  const scheduling before;
  {
    const scoped_realtime outer(3);
    if (outer.refused()) GTEST_SKIP() << realtime_refusal(3);
    EXPECT_EQ(scheduling().policy, SCHED_FIFO | SCHED_RESET_ON_FORK);
    EXPECT_EQ(scheduling().priority, 3);
    std::thread([] { EXPECT_EQ(scheduling().policy, SCHED_OTHER); }).join();
    {
      const scoped_realtime inner(99);
      EXPECT_EQ(scheduling().priority, 99);
    }
    EXPECT_EQ(scheduling().priority, 3);
    const scoped_realtime nothing(0);
    EXPECT_EQ(scheduling().priority, 3);
  }
  EXPECT_EQ(scheduling().policy, before.policy);
  EXPECT_EQ(scheduling().priority, before.priority);
}

/// Gives up the right to a real-time priority.
void give_up_permission() {
  const ::rlimit none{0, 0};
  if (::setrlimit(RLIMIT_RTPRIO, &none) != 0) std::_Exit(70);
  if (::geteuid() == 0 && ::setuid(65534) != 0) std::_Exit(71);
}

TEST(scoped_realtime, says_that_it_was_refused_and_changes_nothing) {
  const auto refused = [] {
    give_up_permission();
    bool kept = false;
    {
      const scoped_realtime wanted(3);
      kept = wanted.refused() && scheduling().policy == SCHED_OTHER;
    }
    std::fputs(realtime_refusal(3).c_str(), stderr);
    std::_Exit(kept && scheduling().policy == SCHED_OTHER ? 0 : 1);
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(0),
              "realtime: 3 is not permitted.*the limit is 0 \\(ulimit -r\\).*limits.conf.*"
              "CAP_SYS_NICE.*omit realtime");
}

TEST(scoped_realtime, ends_also_without_the_capability_to_clear_its_flag) {
  if (scoped_realtime(3).refused()) GTEST_SKIP() << realtime_refusal(3);
  const auto ended = [] {
    {
      const scoped_realtime granted(3);
      give_up_permission();
    }
    std::_Exit((scheduling().policy & ~SCHED_RESET_ON_FORK) == SCHED_OTHER ? 0 : 1);
  };
  EXPECT_EXIT(ended(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace graphline
