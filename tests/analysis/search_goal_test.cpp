#include "framework/analysis/search/search_goal.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "framework/analysis/stats/rank_correlation.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const input_error& problem) {
    return problem.what();
  }
  return "accepted";
}

TEST(search_goal, parses_constraints_in_the_units_of_their_metrics) {
  const auto parsed = [](const char* text) {
    const auto limit = parse_limit(text);
    return std::pair(limit.metric, limit.limit);
  };
  EXPECT_EQ(parsed("p99<=20ms"), std::pair(search_metric::p99, 20e6));
  EXPECT_EQ(parsed(" p99.9 <= 1.5 us "), std::pair(search_metric::p99_9, 1500.0));
  EXPECT_EQ(parsed("throughput>=30/s"), std::pair(search_metric::throughput, 30.0));
  EXPECT_EQ(parsed("device_memory<=4GiB"), std::pair(search_metric::device_memory, 0x1p32));
  EXPECT_EQ(parsed("device_memory<= 512 MiB"), std::pair(search_metric::device_memory, 0x1p29));
  EXPECT_EQ(to_text(parse_limit("p99<=20ms")), "p99 <= 20.0 ms");
  EXPECT_EQ(to_text(parse_limit("throughput>=30/s")), "throughput >= 30.00 frame/s");
  EXPECT_EQ(to_text(parse_limit("device_memory<=4GiB")), "device_memory <= 4.29 GB");
}

TEST(search_goal, refuses_constraints_with_the_remedy) {
  const auto refused = [](const std::string& text) { return refusal([&] { parse_limit(text); }); };
  EXPECT_EQ(refused("p98<=20ms"),
            "--subject-to 'p98<=20ms': unknown metric 'p98' (known: p50, p90, p95, p99, p99.9, "
            "p99.99, throughput, device_memory)");
  EXPECT_THAT(refused("p99"), HasSubstr("expected METRIC<=LIMIT or throughput>=RATE"));
  EXPECT_THAT(refused("p99>=20ms"), HasSubstr("expected '<=' after p99"));
  EXPECT_THAT(refused("p99<20ms"), HasSubstr("expected '<=' after p99"));
  EXPECT_THAT(refused("throughput<=30/s"), HasSubstr("expected '>=' after throughput"));
  for (const char* limit : {"", "20", "0ms", "-1ms", "ms", "20ms 1", "5%", "nan ms", "1e300s"}) {
    EXPECT_THAT(refused(std::string("p99<=") + limit), HasSubstr("such as 20ms")) << limit;
  }
  for (const char* limit : {"", "30", "30/m", "0/s", "30ms"}) {
    EXPECT_THAT(refused(std::string("throughput>=") + limit), HasSubstr("such as 30/s")) << limit;
  }
  for (const char* limit : {"", "4", "4GB", "0GiB", "-1GiB", "4GiBs"}) {
    EXPECT_THAT(refused(std::string("device_memory<=") + limit), HasSubstr("4GiB")) << limit;
  }
}

TEST(search_goal, accepts_an_objective_in_its_direction_only) {
  EXPECT_EQ(parse_objective("p99", false), search_metric::p99);
  EXPECT_EQ(parse_objective("throughput", true), search_metric::throughput);
  EXPECT_THAT(refusal([] { parse_objective("throughput", false); }),
              HasSubstr("--minimize throughput: use --minimize with a percentile, --maximize "));
  EXPECT_THAT(refusal([] { parse_objective("p50", true); }), HasSubstr("--maximize p50: use"));
  EXPECT_THAT(refusal([] { parse_objective("device_memory", false); }),
              HasSubstr("--subject-to 'device_memory<=4GiB'"));
  EXPECT_THAT(refusal([] { parse_objective("p59", false); }), HasSubstr("(known: p50,"));
}

/// Frames of these times, one after another; the last `dropped` further frames are dropped.
run_record run_of(const std::vector<nanoseconds>& times, std::size_t dropped = 0) {
  run_record made;
  nanoseconds at = 0;
  for (const nanoseconds time : times) {
    made.frames.push_back({at, at, at + time});
    at += time;
  }
  for (std::size_t i = 0; i < dropped; ++i) made.load.dropped.push_back(at);
  return made;
}

std::vector<nanoseconds> counting(nanoseconds first, nanoseconds last) {
  std::vector<nanoseconds> times;
  const nanoseconds count = last - first + 1;
  for (nanoseconds i = 0; i < count; ++i) times.push_back(first + i * 37 % count);  // no trend
  return times;
}

TEST(search_samples, have_the_values_of_all_trials_together) {
  search_samples of;
  EXPECT_EQ(of.value(search_metric::p50), std::nullopt);
  of.add(run_of(counting(1, 50)));
  of.add(run_of(counting(51, 100)));
  EXPECT_EQ(of.value(search_metric::p50), 50);
  EXPECT_EQ(of.value(search_metric::p90), 90);
  EXPECT_EQ(of.value(search_metric::p99), std::nullopt) << "it needs 299 frames";
  EXPECT_EQ(of.estimate(search_metric::p99), 99);
  EXPECT_NEAR(*of.value(search_metric::throughput), 100 / 5050e-9, 1);
  EXPECT_NEAR(of.scores(search_metric::p50)[1], std::log(75), 1e-9);
  EXPECT_NEAR(of.scores(search_metric::throughput)[0], -std::log(50 / 1275e-9), 1e-9);
}

TEST(search_samples, compare_a_metric_with_its_limit_by_its_confidence_bound) {
  search_samples of;
  for (int i = 0; i < 10; ++i) of.add(run_of(counting(1, 100)));
  const auto check = [&](search_metric metric, double limit, double outside = 0.025) {
    return of.check({metric, limit}, outside);
  };
  using enum bound_verdict;
  EXPECT_EQ(check(search_metric::p90, 95), holds);
  EXPECT_EQ(check(search_metric::p90, 90), open);
  EXPECT_EQ(check(search_metric::p90, 85), fails);
  // Ranks of a binomial distribution: 900 of 1000 +- 1.96 or 2.81 times 9.49.
  EXPECT_EQ(check(search_metric::p90, 92), holds);
  EXPECT_EQ(check(search_metric::p90, 92, 0.0025), open);
  const auto range = *of.range(search_metric::p90);
  EXPECT_NEAR(range.low, 90 - 1.96 * 0.949, 1.1);
  EXPECT_NEAR(range.high, 90 + 1.96 * 0.949, 1.1);
  const double rate = 100 / 5050e-9;  // of every trial
  EXPECT_EQ(check(search_metric::throughput, 0.99 * rate), holds);
  EXPECT_EQ(check(search_metric::throughput, 1.01 * rate), fails);
  EXPECT_EQ(check(search_metric::device_memory, 1), holds);
}

TEST(search_samples, count_dropped_frames_as_endless) {
  search_samples of;
  for (int i = 0; i < 4; ++i) of.add(run_of(std::vector<nanoseconds>(90, 10), 10));
  EXPECT_EQ(of.value(search_metric::p50), 10);
  EXPECT_EQ(of.value(search_metric::p95), std::nullopt) << "a tenth has none";
  EXPECT_EQ(of.check({search_metric::p50, 11}), bound_verdict::holds);
  EXPECT_EQ(of.check({search_metric::p99, 1e12}), bound_verdict::fails);
  EXPECT_EQ(of.range(search_metric::p99), std::nullopt);
}

TEST(search_samples, vary_in_throughput) {
  // Rates of 1/90 and 1/110 frames per ns: their logarithms differ by 0.2, so that of four trials,
  // the interval of the mean extends 3.18 * 0.1159 / 2 = 0.184 to either side.
  search_samples of;
  for (const nanoseconds time : {90, 110, 90, 110}) {
    of.add(run_of(std::vector<nanoseconds>(10, time)));
  }
  const double mean = std::exp((std::log(1e9 / 90) + std::log(1e9 / 110)) / 2);
  EXPECT_EQ(of.check({search_metric::throughput, mean * std::exp(-0.19)}), bound_verdict::holds);
  EXPECT_EQ(of.check({search_metric::throughput, mean * std::exp(-0.18)}), bound_verdict::open);
  EXPECT_EQ(of.check({search_metric::throughput, mean * std::exp(0.18)}), bound_verdict::open);
  EXPECT_EQ(of.check({search_metric::throughput, mean * std::exp(0.19)}), bound_verdict::fails);
}

TEST(violation, is_relative_to_the_limits) {
  search_samples of;
  of.add(run_of(std::vector<nanoseconds>(100, 110)));
  const double rate = 1e9 / 110;
  const auto violation = [&](std::vector<search_limit> limits) { return violation_of(limits, of); };
  EXPECT_EQ(violation({{search_metric::p90, 120}, {search_metric::throughput, 0.9 * rate}}), 0);
  EXPECT_NEAR(violation({{search_metric::p90, 100}}), std::log(1.1), 1e-9);
  EXPECT_NEAR(violation({{search_metric::throughput, 1.5 * rate}}), std::log(1.5), 1e-9);
  EXPECT_NEAR(violation({{search_metric::p90, 100}, {search_metric::throughput, 1.5 * rate}}),
              std::log(1.1) + std::log(1.5), 1e-9);
}

// ---- Race ---------------------------------------------------------------------------------------

TEST(behind_leader, has_intervals_of_differences_paired_by_block) {
  // Differences of 0.2 +- 0.1, 0.1 and 0.3: mean 0.2, s = 0.1, t(2 df, 5 %) = 4.303. The interval
  // extends 4.303 * 0.1 / sqrt(3) = 0.2484 to either side.
  const std::vector<double> leader = {1, 2, 3};
  const std::vector<std::vector<double>> two = {{1.2, 2.1, 3.3}, leader};
  const auto ranges = behind_leader(two);
  EXPECT_NEAR(ranges[0].low, 0.2 - 0.2484, 1e-4);
  EXPECT_NEAR(ranges[0].high, 0.2 + 0.2484, 1e-4);
  EXPECT_EQ(ranges[1].low, 0);
  EXPECT_EQ(ranges[1].high, 0);
  // Of three, each comparison has 2.5 %: t = 6.205.
  const std::vector<std::vector<double>> three = {{1.2, 2.1, 3.3}, leader, {4, 5, 6}};
  EXPECT_NEAR(behind_leader(three)[0].high, 0.2 + 6.205 * 0.1 / std::sqrt(3), 1e-3);
  EXPECT_EQ(behind_leader(three)[2].low, 3);
}

TEST(behind_leader, without_two_blocks_tells_nothing) {
  const auto ranges = behind_leader(std::vector<std::vector<double>>{{1}, {5}});
  EXPECT_EQ(ranges[0].high, 0);
  EXPECT_TRUE(std::isinf(ranges[1].low) && std::isinf(ranges[1].high));
  EXPECT_EQ(behind_leader(std::vector<std::vector<double>>{{1, 2}})[0].low, 0);
}

TEST(behind_leader, is_rarely_certain_of_equals) {
  std::size_t dropped = 0;
  constexpr std::size_t races = 1000;
  normal_generator random;
  random.seed(1);
  for (std::size_t r = 0; r < races; ++r) {
    std::vector<std::vector<double>> scores(10, std::vector<double>(4));
    for (auto& of_one : scores) random.fill(of_one);
    for (const auto& range : behind_leader(scores)) dropped += range.low > 0;
  }
  // The leader is the luckiest of ten, so that more than 5 % of races are certain of one.
  EXPECT_LT(dropped, races / 4);
  EXPECT_GT(dropped, 0U);
}

// ---- Rank correlation ---------------------------------------------------------------------------

/// Kendall's tau-b by its definition, with pairs counted in five classes.
double naive_tau(const std::vector<double>& a, const std::vector<double>& b) {
  long concordant = 0, discordant = 0, tied_in_a = 0, tied_in_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      if (a[i] == a[j] && b[i] == b[j]) continue;
      if (a[i] == a[j]) {
        ++tied_in_a;
      } else if (b[i] == b[j]) {
        ++tied_in_b;
      } else if ((a[i] < a[j]) == (b[i] < b[j])) {
        ++concordant;
      } else {
        ++discordant;
      }
    }
  }
  const auto all = static_cast<double>(concordant + discordant);
  return static_cast<double>(concordant - discordant) /
         std::sqrt((all + static_cast<double>(tied_in_a)) * (all + static_cast<double>(tied_in_b)));
}

TEST(kendall_tau, agrees_with_its_definition) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t size = 3 + random() % 30;
    const std::uint64_t values = 2 + random() % 20;  // few, so that there are ties
    std::vector<double> a(size);
    std::vector<double> b(size);
    for (std::size_t i = 0; i < size; ++i) {
      a[i] = static_cast<double>(random() % values);
      b[i] = static_cast<double>(random() % values);
    }
    const auto tau = kendall_tau(a, b);
    if (tau) {
      EXPECT_NEAR(*tau, naive_tau(a, b), 1e-12);
    }
  }
  EXPECT_NEAR(*kendall_tau(std::vector<double>{1, 2, 3, 4}, std::vector<double>{10, 30, 20, 40}),
              4 / 6.0, 1e-12);  // five of six pairs agree
  EXPECT_EQ(kendall_tau(std::vector<double>{1, 1}, std::vector<double>{1, 2}), std::nullopt);
  EXPECT_EQ(kendall_tau({}, {}), std::nullopt);
}

}  // namespace
}  // namespace graphline
