#include "framework/run/execute/completion_watcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

/// Passes, or fails, when the test says so.
class scripted_event : public event {
 public:
  void pass() { set(1); }
  void fail() { set(2); }

  bool done() const override {
    if (state_ == 2) throw run_error("the device failed");
    return state_ == 1;
  }

  void wait(wait_mode /*how*/) const override {
    state_.wait(0);
    done();
  }

 private:
  void set(int state) {
    state_ = state;
    state_.notify_all();
  }
  std::atomic<int> state_{0};
};

/// What the watcher reported, in that order; a failure as its token below zero.
class reports {
 public:
  completion_watcher::seen_function function() {
    return [this](std::uint64_t token, const std::exception_ptr& problem) {
      const std::lock_guard lock(mutex_);
      seen_.push_back(problem ? -static_cast<int>(token) : static_cast<int>(token));
      changed_.notify_all();
    };
  }

  /// All reports so far, as soon as there are `count`, or what there is after ten seconds.
  std::vector<int> when(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [&] { return seen_.size() >= count; });
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> seen_;
};

class completion_watcher_test : public testing::TestWithParam<wait_mode> {};

TEST_P(completion_watcher_test, reports_the_queue_that_passes_first_while_the_other_is_closed) {
  scripted_event first, second;
  reports told;
  completion_watcher watcher(2, 1, GetParam(), told.function());
  watcher.expect(0, first, 1);
  watcher.expect(1, second, 2);
  second.pass();
  EXPECT_THAT(told.when(1), ElementsAre(2));
  first.pass();
  EXPECT_THAT(told.when(2), ElementsAre(2, 1));
}

TEST_P(completion_watcher_test, reports_a_queue_in_the_order_it_was_handed_in) {
  scripted_event first, second, third;
  reports told;
  completion_watcher watcher(1, 3, GetParam(), told.function());
  watcher.expect(0, first, 1);
  watcher.expect(0, second, 2);
  watcher.expect(0, third, 3);
  third.pass();
  second.pass();
  first.pass();
  EXPECT_THAT(told.when(3), ElementsAre(1, 2, 3));
}

TEST_P(completion_watcher_test, takes_as_many_events_as_come_into_rings_of_its_depth) {
  reports told;
  std::vector<int> expected;
  completion_watcher watcher(2, 1, GetParam(), told.function());
  for (int i = 1; i <= 200; ++i) {
    scripted_event passed;
    passed.pass();
    watcher.expect(static_cast<std::size_t>(i % 2), passed, static_cast<std::uint64_t>(i));
    expected.push_back(i);
    ASSERT_EQ(told.when(expected.size()), expected);
  }
}

TEST_P(completion_watcher_test, reports_a_failure_and_goes_on_with_what_follows) {
  scripted_event failing, sound;
  reports told;
  completion_watcher watcher(1, 2, GetParam(), told.function());
  watcher.expect(0, failing, 1);
  watcher.expect(0, sound, 2);
  failing.fail();
  sound.pass();
  EXPECT_THAT(told.when(2), ElementsAre(-1, 2));
}

TEST_P(completion_watcher_test, ends_only_when_all_that_was_handed_in_was_reported) {
  scripted_event late;
  reports told;
  std::optional<completion_watcher> watcher;
  watcher.emplace(1, 1, GetParam(), told.function());
  watcher->expect(0, late, 1);
  EXPECT_THAT(told.when(0), IsEmpty());
  std::thread passing([&] { late.pass(); });
  watcher.reset();
  passing.join();
  EXPECT_THAT(told.when(0), ElementsAre(1));
}

INSTANTIATE_TEST_SUITE_P(waits, completion_watcher_test,
                         testing::Values(wait_mode::spin, wait_mode::yield, wait_mode::block),
                         [](const auto& tested) { return std::string(to_word(tested.param)); });

}  // namespace
}  // namespace graphline
