#include "framework/run/execute/frame_schedule.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "tests/run/watched_queue.hpp"

namespace graphline {
namespace {

using namespace testing_load;

/// When a frame is due that is released then.
using due_function = std::function<nanoseconds(nanoseconds release)>;

nanoseconds at_once(nanoseconds release) {
  return release;
}

/// Ascends with the release, and ever earlier than it.
nanoseconds long_before(nanoseconds release) {
  return release / 2;
}

arrival_source source_of(const std::vector<nanoseconds>& releases,
                         const due_function& due = at_once) {
  return [releases, due, told = std::size_t{0}]() mutable -> std::optional<frame_arrival> {
    if (told == releases.size()) return std::nullopt;
    const nanoseconds release = releases[told++];
    return frame_arrival{due(release), release};
  };
}

/// The same through a schedule that is only asked when frames can begin.
load_outcome through_schedule(const std::vector<nanoseconds>& releases, std::int64_t room,
                              queue_policy when_full, frame_batching batching, const course& of,
                              const due_function& due, nanoseconds give_up) {
  frame_schedule schedule(source_of(releases, due), room, when_full, batching, give_up);
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
    // A queue sees releases; due times only name the frames.
    const nanoseconds give_up =
        round % 4 == 0 ? 1 + static_cast<nanoseconds>(generator() % 20) : never;
    const auto due_of = round % 2 == 0 ? at_once : long_before;
    auto expected =
        watched_queue(static_cast<std::size_t>(room), policy, batching, load.worked_on, give_up)
            .run(load.arrivals);
    std::ranges::sort(expected.load.dropped);
    for (auto& due : expected.due) std::ranges::transform(due, due.begin(), due_of);
    for (auto* due : {&expected.load.dropped, &expected.load.unfinished}) {
      std::ranges::transform(*due, due->begin(), due_of);
    }
    const auto found =
        through_schedule(load.arrivals, room, policy, batching, load.worked_on, due_of, give_up);
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

settings load_of(arrival how, std::optional<double> rate, std::int64_t count) {
  settings run;
  run.arrival = how;
  run.rate = rate;
  run.frames = count;
  return run;
}

struct arrivals {
  std::vector<nanoseconds> due;
  std::vector<nanoseconds> release;
};

arrivals all_arrivals(const settings& run, std::uint64_t seed = 1,
                      const arrival_trace* trace = nullptr) {
  arrivals all;
  const auto next = arrival_times(run, seed, trace);
  while (const auto at = next()) {
    all.due.push_back(at->due);
    all.release.push_back(at->release);
  }
  EXPECT_FALSE(next());
  return all;
}

std::vector<nanoseconds> all_times(arrival how, double rate, std::int64_t count,
                                   std::uint64_t seed) {
  auto all = all_arrivals(load_of(how, rate, count), seed);
  EXPECT_EQ(all.due, all.release);
  return all.due;
}

TEST(arrival_times, of_a_trace_are_its_own_without_a_rate) {
  const auto trace = trace_of({5, 5, 20, 1'000'000'007});
  EXPECT_EQ(all_arrivals(load_of(arrival::trace, {}, 100), 1, &trace).due, trace.due);
  EXPECT_EQ(all_arrivals(load_of(arrival::trace, {}, 3), 1, &trace).due,
            (std::vector<nanoseconds>{5, 5, 20}));
}

TEST(arrival_times, of_a_trace_are_scaled_so_that_their_mean_rate_is_the_rate) {
  // Three frames in 600 ns after the first are 5 million frames a second.
  const auto trace = trace_of({100, 200, 200, 700});
  const auto due = [&](double rate) {
    return all_arrivals(load_of(arrival::trace, rate, 100), 1, &trace).due;
  };
  EXPECT_EQ(due(5e6), trace.due);
  EXPECT_EQ(due(1e6), (std::vector<nanoseconds>{500, 1000, 1000, 3500}));
  EXPECT_EQ(due(5), (std::vector<nanoseconds>{100'000'000, 200'000'000, 200'000'000, 700'000'000}));
  const auto at_once = trace_of({40, 40});
  EXPECT_EQ(at_once.mean_gap, 0);
  EXPECT_EQ(all_arrivals(load_of(arrival::trace, 9, 2), 1, &at_once).due, at_once.due);
}

TEST(arrival_times, in_bursts_are_due_together_and_keep_the_rate_of_frames) {
  auto run = load_of(arrival::constant, 1e6, 8);
  run.burst = 3;
  EXPECT_EQ(all_arrivals(run).due,
            (std::vector<nanoseconds>{0, 0, 0, 3000, 3000, 3000, 6000, 6000}));

  const auto trace = trace_of({100, 200, 700});  // one arrival in 300 ns
  run = load_of(arrival::trace, {}, 100);
  run.burst = 2;
  EXPECT_EQ(all_arrivals(run, 1, &trace).due,
            (std::vector<nanoseconds>{100, 100, 200, 200, 700, 700}));
  run.rate = 1e6;  // an arrival of two frames in 2000 ns
  EXPECT_EQ(all_arrivals(run, 1, &trace).due,
            (std::vector<nanoseconds>{667, 667, 1333, 1333, 4667, 4667}));

  run = load_of(arrival::poisson, 400, 12);
  run.burst = 4;
  const auto found = all_arrivals(run, 5).due;
  const auto single = all_times(arrival::poisson, 100, 3, 5);  // 400 frames a second, by fours
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(found[i], single[i / 4]) << i;
}

TEST(arrival_times, are_delayed_by_the_phase) {
  const auto trace = trace_of({0, 9});
  for (const auto how : {arrival::constant, arrival::poisson, arrival::trace}) {
    auto run = load_of(how, 1000, 2);
    const auto without = all_arrivals(run, 1, &trace);
    run.phase = 5'000'000;
    const auto with = all_arrivals(run, 1, &trace);
    for (const std::size_t i : {0, 1}) {
      EXPECT_EQ(with.due[i], without.due[i] + 5'000'000);
      EXPECT_EQ(with.release[i], with.due[i]);
    }
  }
}

TEST(arrival_times, with_jitter_are_released_uniformly_within_it_and_due_as_without) {
  constexpr std::int64_t count = 20'000;
  constexpr nanoseconds jitter = 900'000;  // shorter than the gap, so that none waits for another
  auto run = load_of(arrival::constant, 1000, count);
  const auto due = all_arrivals(run).due;
  run.jitter = jitter;
  const auto found = all_arrivals(run, 7);
  EXPECT_EQ(found.due, due);
  std::vector<double> shares;
  for (std::size_t i = 0; i < found.due.size(); ++i) {
    const nanoseconds delay = found.release[i] - found.due[i];
    ASSERT_GE(delay, 0);
    ASSERT_LE(delay, jitter);
    shares.push_back(static_cast<double>(delay) / jitter);
  }
  // The distance of Kolmogorov and Smirnov that one sample in a hundred exceeds.
  std::ranges::sort(shares);
  double distance = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    distance = std::max({distance, shares[i] - static_cast<double>(i) / count,
                         static_cast<double>(i + 1) / count - shares[i]});
  }
  EXPECT_LT(distance, 1.63 / std::sqrt(count));
  EXPECT_EQ(all_arrivals(run, 7).release, found.release);
  EXPECT_NE(all_arrivals(run, 8).release, found.release);
}

TEST(arrival_times, with_a_long_jitter_keep_their_order_and_stay_within_it) {
  auto run = load_of(arrival::poisson, 1e5, 5000);
  run.burst = 2;
  const auto due = all_arrivals(run, 3).due;
  run.jitter = 1'000'000;  // the gaps of a hundred frames
  const auto found = all_arrivals(run, 3);
  EXPECT_EQ(found.due, due) << "jitter must not change random arrivals";
  EXPECT_TRUE(std::ranges::is_sorted(found.release));
  for (std::size_t i = 0; i < due.size(); ++i) {
    ASSERT_GE(found.release[i], due[i]);
    ASSERT_LE(found.release[i], due[i] + 1'000'000);
  }
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
