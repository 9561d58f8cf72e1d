#include "framework/run/execute/frame_schedule.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace graphline {
namespace {

/// What became of frames: when those that began had been due, and when they began.
struct outcome {
  std::vector<nanoseconds> due;
  std::vector<nanoseconds> begun;
  load_record load;
};

/// A queue that watches the clock: goes from event to event, and takes frames to the one place they
/// are worked on. `work` is what each begun frame takes, in order.
class watched_queue {
 public:
  watched_queue(std::size_t room, queue_policy when_full, const std::vector<nanoseconds>& work)
      : room_(room), when_full_(when_full), work_(work) {}

  outcome run(const std::vector<nanoseconds>& arrivals) {
    for (const nanoseconds at : arrivals) {
      advance(at);
      arrive(at);
    }
    advance(std::numeric_limits<nanoseconds>::max());
    return result_;
  }

 private:
  /// Ends what ends up to then, and begins what waits.
  void advance(nanoseconds to) {
    while (busy_ && end_ <= to) {
      busy_ = false;
      if (inside_.empty()) return;
      const nanoseconds due = inside_.front();
      inside_.pop_front();
      if (!outside_.empty()) {
        inside_.push_back(outside_.front());
        outside_.pop_front();
      }
      begin(due, end_);
    }
  }

  void arrive(nanoseconds at) {
    if (!busy_) return begin(at, at);
    if (inside_.size() < room_) {
      inside_.push_back(at);
    } else {
      ++result_.load.found_full;
      if (when_full_ == queue_policy::block) {
        outside_.push_back(at);
      } else if (when_full_ == queue_policy::drop_newest) {
        result_.load.dropped.push_back(at);
      } else {
        result_.load.dropped.push_back(inside_.front());
        inside_.pop_front();
        inside_.push_back(at);
      }
    }
    const auto waiting = static_cast<std::int64_t>(inside_.size() + outside_.size());
    result_.load.longest_queue = std::max(result_.load.longest_queue, waiting);
  }

  void begin(nanoseconds due, nanoseconds at) {
    end_ = at + work_[result_.due.size()];
    busy_ = true;
    result_.due.push_back(due);
    result_.begun.push_back(at);
  }

  std::size_t room_;
  queue_policy when_full_;
  const std::vector<nanoseconds>& work_;
  bool busy_ = false;
  nanoseconds end_ = 0;
  std::deque<nanoseconds> inside_;
  std::deque<nanoseconds> outside_;
  outcome result_;
};

/// The same through a schedule that is only asked when a frame can begin.
outcome through_schedule(const std::vector<nanoseconds>& arrivals, std::int64_t room,
                         queue_policy when_full, const std::vector<nanoseconds>& work) {
  frame_schedule schedule(arrivals, room, when_full);
  outcome result;
  nanoseconds free = 0;
  while (const auto due = schedule.next(free)) {
    result.due.push_back(*due);
    result.begun.push_back(std::max(free, *due));
    free = result.begun.back() + work[result.due.size() - 1];
  }
  result.load = std::move(schedule).hand_over(0);
  return result;
}

TEST(frame_schedule, does_what_a_queue_that_watches_the_clock_does) {
  std::mt19937 generator(3);
  std::int64_t dropped = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto room = static_cast<std::int64_t>(1 + generator() % 5);
    const auto policy = static_cast<queue_policy>(round % 3);
    // From far too much to next to nothing, with many moments at which two things happen.
    const std::uint64_t gap = 1 + generator() % 10;
    const std::uint64_t longest_work = 1 + generator() % 10;
    std::vector<nanoseconds> arrivals;
    std::vector<nanoseconds> work;
    nanoseconds at = 0;
    for (std::size_t i = generator() % 60; i > 0; --i) {
      arrivals.push_back(at += static_cast<nanoseconds>(generator() % gap));
      work.push_back(static_cast<nanoseconds>(generator() % longest_work));
    }
    const auto expected = watched_queue(static_cast<std::size_t>(room), policy, work).run(arrivals);
    const auto found = through_schedule(arrivals, room, policy, work);
    ASSERT_EQ(found.due, expected.due) << "round " << round;
    ASSERT_EQ(found.begun, expected.begun) << "round " << round;
    ASSERT_EQ(found.load.dropped, expected.load.dropped) << "round " << round;
    ASSERT_EQ(found.load.found_full, expected.load.found_full) << "round " << round;
    ASSERT_EQ(found.load.longest_queue, expected.load.longest_queue) << "round " << round;
    dropped += static_cast<std::int64_t>(found.load.dropped.size());
  }
  EXPECT_GT(dropped, 1000);
}

TEST(frame_schedule, counts_times_from_when_it_is_first_asked) {
  frame_schedule schedule({0, 10, 20, 30}, 1, queue_policy::drop_newest);
  EXPECT_EQ(schedule.next(1000), 1000);
  EXPECT_EQ(schedule.next(1025), 1010);
  EXPECT_EQ(schedule.next(1026), 1030);  // yet to come
  EXPECT_EQ(schedule.next(1040), std::nullopt);
  const auto load = std::move(schedule).hand_over(900);
  EXPECT_EQ(load.dropped, std::vector<nanoseconds>{120});
  EXPECT_EQ(load.longest_queue, 1);
}

TEST(arrival_times, are_evenly_spaced_at_a_constant_rate_and_do_not_drift) {
  const auto due = arrival_times(arrival::constant, 3, 3'000'001, 1);
  EXPECT_EQ(due[0], 0);
  EXPECT_EQ(due[1], 333'333'333);
  EXPECT_EQ(due[2], 666'666'667);
  EXPECT_EQ(due[3'000'000], 1'000'000'000'000'000);
}

TEST(arrival_times, have_exponential_gaps_of_the_right_mean_when_they_are_random) {
  constexpr std::size_t count = 100'000;
  const auto due = arrival_times(arrival::poisson, 1000, count, 1);
  std::vector<double> gaps;  // in their expected mean
  for (std::size_t i = 0; i < count; ++i) {
    gaps.push_back(static_cast<double>(due[i] - (i == 0 ? 0 : due[i - 1])) / 1e6);
  }
  // Three standard errors of the mean of exponential gaps.
  EXPECT_NEAR(static_cast<double>(due.back()) / 1e6 / count, 1, 3 / std::sqrt(count));
  // The distance of Kolmogorov and Smirnov that one sample in a hundred exceeds.
  std::sort(gaps.begin(), gaps.end());
  double distance = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = 1 - std::exp(-gaps[i]);
    distance = std::max({distance, expected - static_cast<double>(i) / count,
                         static_cast<double>(i + 1) / count - expected});
  }
  EXPECT_LT(distance, 1.63 / std::sqrt(count));
}

TEST(arrival_times, are_the_same_for_the_same_seed_and_no_others) {
  const auto of = [](std::uint64_t seed) { return arrival_times(arrival::poisson, 50, 20, seed); };
  EXPECT_EQ(of(7), of(7));
  EXPECT_NE(of(7), of(8));
}

TEST(arrival_times, ascend_without_running_over_however_low_the_rate) {
  for (const auto how : {arrival::constant, arrival::poisson}) {
    for (const double rate : {1e-9, std::numeric_limits<double>::denorm_min()}) {
      const auto due = arrival_times(how, rate, 1000, 1);
      EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
      EXPECT_GE(due.front(), 0);
      EXPECT_EQ(due.back(), nanoseconds{1} << 61);
    }
  }
}

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
