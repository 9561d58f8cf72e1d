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

#include "tests/run/watched_queue.hpp"

namespace graphline {
namespace {

using namespace testing_load;

arrival_source source_of(const std::vector<nanoseconds>& arrivals) {
  return [arrivals, told = std::size_t{0}]() mutable -> std::optional<nanoseconds> {
    if (told == arrivals.size()) return std::nullopt;
    return arrivals[told++];
  };
}

/// The same through a schedule that is only asked when frames can begin.
load_outcome through_schedule(const std::vector<nanoseconds>& arrivals, std::int64_t room,
                              queue_policy when_full, frame_batching batching, const course& of) {
  frame_schedule schedule(source_of(arrivals), room, when_full, batching);
  load_outcome result;
  nanoseconds free = 0;
  nanoseconds now = 0;
  while (const auto at = schedule.next(now)) {
    now = std::max(now, *at);
    if (now >= of.stop) break;
    const auto begun = schedule.begin_frames(static_cast<std::int64_t>(result.due.size()), now);
    if (begun.due.empty()) continue;
    result.due.emplace_back(begun.due.begin(), begun.due.end());
    result.begun.push_back(now);
    result.ready.push_back(begun.ready);
    now = free = now + of.work(result.due.size() - 1, result.due.back().size());
  }
  const bool failed = of.fails && free > of.stop;
  result.completed = result.due.size() - (failed ? 1 : 0);
  result.load =
      schedule.end(0, std::max(of.stop, free), static_cast<std::int64_t>(result.completed));
  return result;
}

/// From far too much to next to nothing, with many moments at which two things happen.
struct drawn_load {
  explicit drawn_load(std::mt19937& generator) {
    const std::uint64_t gap = 1 + generator() % 10;
    const std::uint64_t longest_work = 1 + generator() % 10;
    nanoseconds at = 0;
    for (std::size_t i = generator() % 60; i > 0; --i) {
      arrivals.push_back(at += static_cast<nanoseconds>(generator() % gap));
      work.push_back(static_cast<nanoseconds>(generator() % longest_work));
    }
    worked_on.work = [this](std::size_t begun, std::size_t) { return work[begun]; };
    worked_on.fails = generator() % 2 == 0;
    if (generator() % 4 != 0) {
      worked_on.stop = static_cast<nanoseconds>(generator() % (2 + static_cast<std::size_t>(at)));
    }
  }

  drawn_load(const drawn_load&) = delete;
  drawn_load& operator=(const drawn_load&) = delete;

  std::vector<nanoseconds> arrivals;
  std::vector<nanoseconds> work;
  course worked_on;
};

TEST(frame_schedule, does_what_a_queue_that_watches_the_clock_does) {
  std::mt19937 generator(3);
  std::size_t dropped = 0;
  std::size_t unfinished = 0;
  std::size_t together = 0;
  for (int round = 0; round < 10'000; ++round) {
    const frame_batching batching{1 + static_cast<std::int64_t>(generator() % 4),
                                  static_cast<nanoseconds>(generator() % 12)};
    const auto room = batching.up_to + static_cast<std::int64_t>(generator() % 4);
    const auto policy = static_cast<queue_policy>(round % 3);
    const drawn_load load(generator);
    const auto expected =
        watched_queue(static_cast<std::size_t>(room), policy, batching, load.worked_on)
            .run(load.arrivals);
    const auto found = through_schedule(load.arrivals, room, policy, batching, load.worked_on);
    ASSERT_EQ(found.due, expected.due) << "round " << round;
    ASSERT_EQ(found.begun, expected.begun) << "round " << round;
    ASSERT_EQ(found.ready, expected.ready) << "round " << round;
    ASSERT_EQ(found.load.dropped, expected.load.dropped) << "round " << round;
    ASSERT_EQ(found.load.unfinished, expected.load.unfinished) << "round " << round;
    ASSERT_EQ(found.load.ended, expected.load.ended) << "round " << round;
    ASSERT_EQ(found.load.found_full, expected.load.found_full) << "round " << round;
    ASSERT_EQ(found.load.longest_queue, expected.load.longest_queue) << "round " << round;
    const auto was_due = [&](nanoseconds at) { return at <= found.load.ended; };
    std::size_t accounted = found.load.dropped.size() + found.load.unfinished.size();
    for (std::size_t i = 0; i < found.completed; ++i) accounted += found.due[i].size();
    for (const auto& due : found.due) together += due.size() > 1 ? 1U : 0U;
    ASSERT_EQ(std::ranges::count_if(load.arrivals, was_due), accounted) << "round " << round;
    dropped += found.load.dropped.size();
    unfinished += found.load.unfinished.size();
  }
  EXPECT_GT(dropped, 1000U);
  EXPECT_GT(unfinished, 1000U);
  EXPECT_GT(together, 1000U);
}

TEST(frame_schedule, counts_times_from_when_it_is_first_asked) {
  frame_schedule schedule(source_of({0, 10, 20, 30, 40, 50}), 1, queue_policy::drop_newest);
  const auto next = [&](nanoseconds at) {
    const auto due = schedule.next(at);
    schedule.begin_frames(0, std::max(at, *due));
    return due;
  };
  EXPECT_EQ(next(1000), 1000);
  EXPECT_EQ(next(1025), 1010);
  EXPECT_EQ(next(1026), 1030);  // yet to come
  EXPECT_EQ(schedule.next(1040), 1040);
  const auto load = schedule.end(900, 1040, 2);
  EXPECT_EQ(load.dropped, std::vector<nanoseconds>{120});
  EXPECT_EQ(load.unfinished, (std::vector<nanoseconds>{130, 140}));
  EXPECT_EQ(load.ended, 140);
  EXPECT_EQ(load.longest_queue, 1);
}

TEST(frame_schedule, has_no_frames_where_it_was_never_asked) {
  frame_schedule schedule(source_of({0, 10}), 1, queue_policy::block);
  const auto load = schedule.end(900, 1040, 0);
  EXPECT_TRUE(load.unfinished.empty());
  EXPECT_EQ(load.ended, 140);
}

TEST(frame_schedule, begins_no_frame_once_it_is_closed) {
  frame_schedule schedule(source_of({0, 10, 20}), 1, queue_policy::block);
  EXPECT_EQ(schedule.next(0), 0);
  schedule.begin_frames(0, 0);
  EXPECT_EQ(schedule.next(5), 10);
  schedule.close();
  EXPECT_TRUE(schedule.begin_frames(0, 10).due.empty());  // told of it before
  EXPECT_EQ(schedule.next(15), std::nullopt);
  const auto load = schedule.end(0, 15, 0);
  EXPECT_EQ(load.unfinished, (std::vector<nanoseconds>{0, 10}));
}

TEST(frame_schedule, tells_frames_in_flight_whether_it_heard_of_those_before_them_or_not) {
  for (const std::int64_t heard : {0, 1, 2}) {
    frame_schedule schedule(source_of({0, 10, 20, 30}), 1, queue_policy::block);
    for (const nanoseconds at : {0, 10, 20}) {
      ASSERT_EQ(schedule.next(at), at);
      schedule.begin_frames(at == 20 ? heard : 0, at);
    }
    EXPECT_EQ(schedule.end(0, 25, 2).unfinished, std::vector<nanoseconds>{20}) << heard;
  }
}

std::vector<nanoseconds> all_times(arrival how, double rate, std::int64_t count,
                                   std::uint64_t seed) {
  std::vector<nanoseconds> due;
  const auto next = arrival_times(how, rate, count, seed);
  while (const auto at = next()) due.push_back(*at);
  EXPECT_EQ(next(), std::nullopt);
  return due;
}

TEST(arrival_times, are_evenly_spaced_at_a_constant_rate_and_do_not_drift) {
  const auto due = all_times(arrival::constant, 3, 3'000'001, 1);
  ASSERT_EQ(due.size(), 3'000'001U);
  for (std::size_t i = 0; i < due.size(); ++i) {
    const auto third = static_cast<nanoseconds>(i) * 1'000'000'000;  // of a nanosecond
    ASSERT_LE(std::abs(3 * due[i] - third), 1) << i;
  }
}

TEST(arrival_times, are_sums_of_logarithms_of_uniform_numbers_when_they_are_random) {
  for (const std::uint64_t seed : {1, 2, 99}) {
    for (const double rate : {0.01, 30.0, 1e6}) {
      const auto due = all_times(arrival::poisson, rate, 10'000, seed);
      ASSERT_EQ(due.size(), 10'000U);
      std::mt19937_64 bits(seed);
      long double sum = 0;
      for (std::size_t i = 0; i < due.size(); ++i) {
        const auto u = static_cast<long double>(bits() >> 11) / 9'007'199'254'740'992.0L;  // 2^53
        sum += -std::log(1 - u) / static_cast<long double>(rate) * 1e9L;
        // Half a nanosecond, and as many roundings of a double.
        const long double tolerance = 0.5L + sum * static_cast<long double>(i + 2) * 0x1p-52L;
        ASSERT_NEAR(static_cast<double>(static_cast<long double>(due[i]) - sum), 0,
                    static_cast<double>(tolerance))
            << "seed " << seed << ", rate " << rate << ", frame " << i;
      }
    }
  }
}

TEST(arrival_times, have_exponential_gaps_of_the_right_mean_when_they_are_random) {
  constexpr std::size_t count = 100'000;
  const auto due = all_times(arrival::poisson, 1000, count, 1);
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
  const auto of = [](std::uint64_t seed) { return all_times(arrival::poisson, 50, 20, seed); };
  EXPECT_EQ(of(7), of(7));
  EXPECT_NE(of(7), of(8));
}

TEST(arrival_times, ascend_without_running_over_however_low_the_rate) {
  for (const auto how : {arrival::constant, arrival::poisson}) {
    for (const double rate : {1e-9, std::numeric_limits<double>::denorm_min()}) {
      const auto due = all_times(how, rate, 1000, 1);
      EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
      EXPECT_GE(due.front(), 0);
      EXPECT_EQ(due.back(), nanoseconds{1} << 61);
    }
  }
}

TEST(due_wait, returns_when_it_is_due_and_not_before) {
  for (const auto& [word, how] : wait_mode_words) {
    const due_wait wait(how);
    const nanoseconds due = now() + 2'000'000;
    EXPECT_TRUE(wait_until(due, wait, [] { return std::optional(stop_poll_interval); })) << word;
    EXPECT_GE(now(), due) << word;
  }
}

TEST(due_wait, looks_again_and_again_and_ends_when_told) {
  for (const auto& [word, how] : wait_mode_words) {
    const due_wait wait(how);
    int looks = 0;
    const auto look = [&]() -> std::optional<nanoseconds> {
      return ++looks < 5 ? std::optional(device_poll_interval) : std::nullopt;
    };
    EXPECT_FALSE(wait_until(never, wait, look)) << word;
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
