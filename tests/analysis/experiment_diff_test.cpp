#include "framework/analysis/diff/experiment_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/simulated_queue.hpp"

namespace graphline {
namespace {

using samples::simulated_queue;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

/// A trial of consecutive frames with these lengths in nanoseconds.
run_record trial_of(const std::vector<double>& lengths) {
  run_record trial;
  nanoseconds clock = 0;
  for (const double length : lengths) {
    const auto end = clock + std::llround(length);
    trial.frames.push_back({clock, clock, end});
    clock = end;
  }
  return trial;
}

/// Name and trials of a configuration.
using configuration_trials = std::pair<std::string, std::vector<run_record>>;

/// Three frames per trial, close to its median.
configuration_trials configuration(std::string name, const std::vector<double>& trials) {
  configuration_trials result{std::move(name), {}};
  for (const double middle : trials) {
    result.second.push_back(trial_of({middle * 0.9999, middle, middle * 1.0001}));
  }
  return result;
}

experiment_record experiment(const std::vector<configuration_trials>& configurations) {
  experiment_record result;
  for (std::size_t c = 0; c < configurations.size(); ++c) {
    const auto& [name, trials] = configurations[c];
    result.configurations.push_back({name, {}, {"pipeline"}});
    for (std::size_t b = 0; b < trials.size(); ++b) result.trials.push_back({c, b, 0, {trials[b]}});
  }
  return result;
}

experiment_diff diff_of(const experiment_record& before, const experiment_record& after) {
  return compare(before, after, {"before.json", "after.json"});
}

std::vector<double> times(double factor, std::vector<double> values) {
  for (double& value : values) value *= factor;
  return values;
}

const std::vector<double> steady = {1.000e8, 1.001e8, 0.999e8, 1.002e8, 0.998e8, 1.000e8};
const std::vector<double> noisy = {1.00e8, 1.20e8, 0.90e8, 1.10e8, 0.95e8, 1.05e8};

configuration_change change_of(figure what, const experiment_diff& diff) {
  for (const auto& change : diff.changes) {
    if (change.figure == what) return change;
  }
  ADD_FAILURE() << "nothing was compared";
  return {};
}

experiment_diff diff_of(const std::vector<double>& before, const std::vector<double>& after) {
  return diff_of(experiment({configuration("a", before)}), experiment({configuration("a", after)}));
}

TEST(experiment_diff, finds_a_change_well_above_the_variation) {
  const auto shorter = diff_of(steady, times(0.8, steady));
  EXPECT_THAT(change_of(figure::p50, shorter).change(), Optional(DoubleNear(-0.2, 1e-6)));
  EXPECT_EQ(change_of(figure::p50, shorter).verdict, verdict::faster);
  EXPECT_EQ(change_of(figure::p50, diff_of(times(0.8, steady), steady)).verdict, verdict::slower);
}

TEST(experiment_diff, takes_a_higher_throughput_for_faster) {
  const auto change = change_of(figure::throughput, diff_of(steady, times(0.8, steady)));
  EXPECT_THAT(change.values.before, Optional(DoubleNear(10, 1e-3)));
  EXPECT_THAT(change.change(), Optional(DoubleNear(0.25, 1e-6)));
  EXPECT_EQ(change.verdict, verdict::faster);
}

// The throughput's standard error is that of a mean of six trials: on either side the standard
// deviation of the logarithms over sqrt(6). With 10 degrees of freedom and two intervals at 1 -
// sqrt(0.95) each, t is 2.6255.
TEST(experiment_diff, has_the_interval_of_welch_for_means) {
  const auto change = change_of(figure::throughput, diff_of(noisy, noisy));
  ASSERT_TRUE(change.ratio_range);
  const double relative = *stddev_of(noisy) / mean_of(noisy);
  const double reach = 2.6255 * relative * std::sqrt(2.0 / 6);
  EXPECT_NEAR(std::log(change.ratio_range->high), reach, 0.05 * reach);
  EXPECT_NEAR(std::log(change.ratio_range->low), -reach, 0.05 * reach);
}

TEST(experiment_diff, applies_the_margin_of_the_first) {
  auto before = experiment({configuration("a", steady)});
  auto after = experiment({configuration("a", times(1.003, steady))});
  EXPECT_EQ(diff_of(before, after).changes.at(0).verdict, verdict::same);
  before.how.margin = 0.0001;
  EXPECT_EQ(diff_of(before, after).changes.at(0).verdict, verdict::slower);
}

TEST(experiment_diff, is_inconclusive_for_noisy_trials) {
  const auto change = change_of(figure::p50, diff_of(noisy, times(0.99, noisy)));
  ASSERT_TRUE(change.ratio_range);
  EXPECT_EQ(change.verdict, verdict::inconclusive);
}

// A single slow trial of ten determines the pooled p95, which is no evidence of a change.
TEST(experiment_diff, is_not_misled_by_one_slow_trial) {
  std::vector<double> trials = {1.000e8, 1.001e8, 0.999e8, 1.002e8, 0.998e8,
                                1.000e8, 1.001e8, 0.999e8, 1.002e8, 0.998e8};
  configuration_trials clean{"a", {}};
  for (const double middle : trials) {
    clean.second.push_back(trial_of(std::vector<double>(20, middle)));
  }
  auto slow = clean;
  slow.second[3] = trial_of(std::vector<double>(20, 1.3e8));
  const auto change = change_of(figure::tail, diff_of(experiment({clean}), experiment({slow})));
  EXPECT_THAT(change.change(), Optional(::testing::Gt(0.25)));
  EXPECT_EQ(change.verdict, verdict::inconclusive);
}

/// 24 trials of 20 frames; `late` of them, plus or minus one alternately, miss their deadline of
/// 1.5e8.
configuration_trials with_late_frames(std::size_t late) {
  configuration_trials result{"a", {}};
  for (std::size_t trial = 0; trial < 24; ++trial) {
    std::vector<double> lengths(20, 1e8);
    const auto count = late == 0 ? 0 : late + trial % 3 - 1;
    std::fill_n(lengths.begin(), count, 2e8);
    result.second.push_back(trial_of(lengths));
    result.second.back().run.deadline = 150'000'000;
  }
  return result;
}

TEST(experiment_diff, compares_late_frames_by_the_difference_of_their_shares) {
  const auto change = [](std::size_t before, std::size_t after) {
    return change_of(figure::late, diff_of(experiment({with_late_frames(before)}),
                                           experiment({with_late_frames(after)})));
  };
  const auto more = change(2, 6);
  EXPECT_THAT(more.change(), Optional(DoubleNear(0.2, 1e-9)));
  EXPECT_EQ(more.verdict, verdict::slower);
  EXPECT_EQ(more.ratio_range, std::nullopt);
  // Standard errors of a mean of 24: fractions vary by 0.05 in two of three trials.
  const double error = std::sqrt(2.0 / 3 * 0.05 * 0.05 / 23 * 2);
  ASSERT_TRUE(more.difference_range);
  EXPECT_NEAR(more.difference_range->high - 0.2, 2.62 * error, 0.15 * error);
  EXPECT_NEAR(0.2 - more.difference_range->low, 2.62 * error, 0.15 * error);
  EXPECT_EQ(change(6, 2).verdict, verdict::faster);
  // 0 of 480 late frames do not show that none can be late.
  EXPECT_EQ(change(0, 0).change(), 0);
  EXPECT_GT(change(0, 0).difference_range->high, 1.0 / 480);
  EXPECT_EQ(change(0, 6).verdict, verdict::slower);
}

TEST(experiment_diff, does_not_compare_growing_latency) {
  auto before = experiment({configuration("a", steady)});
  const auto after = before;
  for (auto& trial : before.trials) {
    auto& run = trial.members[0];
    run = simulated_queue{arrival::constant, 1.2e6}.run(1000, 100, 1);
    run.run.deadline = 5'000'000;
  }
  for (const auto& diff :
       {diff_of(before, after), diff_of(after, before), diff_of(before, before)}) {
    EXPECT_TRUE(change_of(figure::p50, diff).overloaded);
    EXPECT_TRUE(change_of(figure::tail, diff).overloaded);
    EXPECT_FALSE(change_of(figure::p50, diff).change_range());
    EXPECT_FALSE(change_of(figure::throughput, diff).overloaded);
    EXPECT_TRUE(change_of(figure::throughput, diff).change_range());
  }
}

TEST(experiment_diff, has_no_interval_with_too_few_trials_or_without_a_complete_block) {
  const auto few = change_of(figure::p50, diff_of({1e8, 1.01e8, 0.99e8, 1e8}, steady));
  EXPECT_EQ(few.ratio_range, std::nullopt);
  EXPECT_EQ(few.verdict, verdict::inconclusive);
  EXPECT_EQ(few.trials.before, 4U);
  const auto whole = experiment({configuration("a", steady)});
  auto incomplete = whole;
  incomplete.configurations.push_back({"never ran", {}, {"pipeline"}});
  EXPECT_EQ(diff_of(whole, incomplete).changes.at(0).ratio_range, std::nullopt);
}

TEST(experiment_diff, matches_configurations_by_name) {
  const auto a = configuration("a", steady);
  const auto b = configuration("b", steady);
  const auto c = configuration("c", steady);
  const auto diff = diff_of(experiment({a, b}), experiment({c, b}));
  for (const auto& change : diff.changes) EXPECT_EQ(change.name, "b");
  EXPECT_EQ(diff.changes.size(), 2U);
  EXPECT_THAT(diff.only_before, ElementsAre("a"));
  EXPECT_THAT(diff.only_after, ElementsAre("c"));
}

TEST(experiment_diff, compares_tails_of_equal_percentiles) {
  const auto a = configuration("a", std::vector<double>(30, 1e8));
  auto before = experiment({a});
  auto after = before;
  EXPECT_EQ(diff_of(before, after).changes.size(), 3U);
  after.how.tail = 0.9;
  EXPECT_EQ(diff_of(before, after).changes.size(), 2U);
  before.how.tail = after.how.tail = 0.999;
  EXPECT_EQ(diff_of(before, after).changes.size(), 2U);
}

TEST(experiment_diff, compares_nothing_of_empty_experiments) {
  EXPECT_THAT(diff_of(experiment({}), experiment({})).changes, IsEmpty());
  const auto unmeasured = experiment({configuration("a", {})});
  EXPECT_THAT(diff_of(unmeasured, unmeasured).changes, IsEmpty());
  const auto half = diff_of(unmeasured, experiment({configuration("a", steady)}));
  EXPECT_EQ(half.changes.at(0).values.before, std::nullopt);
  EXPECT_EQ(half.changes.at(0).verdict, verdict::inconclusive);
}

/// Trials whose level varies by 1 %, with frames that vary by 2 %.
configuration_trials drawn(const std::string& name, std::size_t trials, std::mt19937_64& random) {
  std::lognormal_distribution<double> level(0, 0.01);
  std::lognormal_distribution<double> frame(0, 0.02);
  configuration_trials result{name, {}};
  for (std::size_t i = 0; i < trials; ++i) {
    const double middle = 1e8 * level(random);
    std::vector<double> lengths(20);
    for (double& length : lengths) length = middle * frame(random);
    result.second.push_back(trial_of(lengths));
    result.second.back().run.deadline = 101'000'000;
  }
  return result;
}

TEST(configuration_change, is_relative_for_the_smallest_values_and_empty_for_none) {
  const auto change = [](double before, double after) {
    configuration_change changed;
    changed.figure = figure::throughput;
    changed.values = {before, after};
    return changed.change();
  };
  EXPECT_EQ(change(0.5, 0.25), -0.5);
  EXPECT_EQ(change(1e-9, 3e-9), 2.0);
  EXPECT_EQ(change(0, 1), std::nullopt);
}

TEST(experiment_diff, rarely_finds_a_difference_where_there_is_none) {
  std::mt19937_64 random(1);
  constexpr int experiments = 400;
  int wrong = 0;
  for (int i = 0; i < experiments; ++i) {
    std::vector<configuration_trials> before;
    std::vector<configuration_trials> after;
    for (const char* name : {"a", "b", "c"}) {
      before.push_back(drawn(name, 8, random));
      after.push_back(drawn(name, 12, random));
    }
    bool any = false;
    for (const auto& change : diff_of(experiment(before), experiment(after)).changes) {
      any = any || !change.change_range()->contains(0);
    }
    wrong += any ? 1 : 0;
  }
  // 5 % plus three standard deviations of the count.
  EXPECT_LE(wrong, 33);
  EXPECT_GT(wrong, 0);  // otherwise the intervals are far too wide
}

}  // namespace
}  // namespace graphline
