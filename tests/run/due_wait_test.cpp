#include "framework/run/execute/frame_schedule.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <limits>
#include <optional>

namespace graphline {
namespace {

constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();

TEST(due_wait, returns_when_it_is_due_and_not_before) {
  for (const auto& [word, how] : wait_mode_words) {
    const due_wait wait(how);
    const nanoseconds due = now() + 2'000'000;
    EXPECT_TRUE(wait.until(due, [] { return std::optional(glance_at_stop); })) << word;
    EXPECT_GE(now(), due) << word;
  }
}

TEST(due_wait, looks_again_and_again_and_ends_when_told) {
  for (const auto& [word, how] : wait_mode_words) {
    const due_wait wait(how);
    int looks = 0;
    const auto look = [&]() -> std::optional<nanoseconds> {
      return ++looks < 5 ? std::optional(glance_at_device) : std::nullopt;
    };
    EXPECT_FALSE(wait.until(never, look)) << word;
    EXPECT_EQ(looks, 5) << word;
  }
}

TEST(due_wait, looks_once_where_the_moment_has_passed) {
  const due_wait wait(wait_mode::block);
  int looks = 0;
  EXPECT_TRUE(wait.until(now(), [&] {
    ++looks;
    return std::optional(glance_at_stop);
  }));
  EXPECT_EQ(looks, 1);
}

TEST(due_wait, makes_the_thread_punctual_only_while_it_exists) {
  ASSERT_EQ(::prctl(PR_SET_TIMERSLACK, 40'000, 0, 0, 0), 0);
  {
    const due_wait wait(wait_mode::block);
    EXPECT_EQ(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
  }
  EXPECT_EQ(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 40'000);
}

}  // namespace
}  // namespace graphline
