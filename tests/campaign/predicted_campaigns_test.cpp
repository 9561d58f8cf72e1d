#include "framework/campaign/predict/predicted_campaigns.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/experiment/capacity.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/campaign/experiment/experiment.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "tests/analysis/simulated_queue.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline {
namespace {

using namespace testing_plans;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr nanoseconds on_device = 1'000'000;
constexpr nanoseconds on_cpu = 600'000;

/// A device stage and a CPU stage that do not wait for each other. All times of a frame are
/// multiplied by a factor.
drawn_run two_stages(strategy how, std::int64_t in_flight, const std::vector<double>& factors) {
  drawn_run made;
  made.planned = plan_of({side::device, side::cpu}, {}, streams);
  made.times.resize(factors.size());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    for (const nanoseconds time : {on_device, on_cpu}) {
      made.times[f].push_back(std::llround(static_cast<double>(time) * factors[f]));
    }
  }
  finish(made.planned, how, graph_mode::stage, static_cast<std::size_t>(in_flight));
  made.planned.run.frames = 60;
  return made;
}

/// Factors of 60 frames that resemble their neighbors, around `middle`.
std::vector<double> varied(double middle, std::uint64_t seed = 1) {
  std::mt19937_64 bits(seed);
  std::vector<double> factors(60);
  double level = 0;
  for (double& factor : factors) {
    level = 0.6 * level + uniform_unit(bits) - 0.5;
    factor = middle * (1 + 0.2 * level);
  }
  return factors;
}

prediction_source serial_source(const std::string& name, const std::vector<double>& factors) {
  const drawn_run serial = two_stages(strategy::serial, 1, factors);
  prediction_source source{name, run_in_virtual_time<sequential_executor>(serial).record};
  source.run.device.backend = "host";
  return source;
}

/// An experiment on the two stages, compared with the first configuration.
struct experiment_of {
  void add(const std::string& name, strategy how, std::int64_t in_flight = 1) {
    add(name, two_stages(how, in_flight, {1}));
  }

  void add(const std::string& name, drawn_run drawn) {
    const drawn_run& run = runs.emplace_back(std::move(drawn));
    plan p = kinds.emplace_back(run).planned();
    p.pipeline = "two";
    const std::size_t number = planned.configurations.size();
    planned.configurations.push_back({{name, {}, {"two"}}, {}});
    planned.configurations.back().members.push_back(std::move(p));
    if (number > 0) planned.pairs.push_back({{number, 0}, {0, 0}});
  }

  settings& run_of(std::size_t configuration) {
    return planned.configurations[configuration].members.front().run;
  }

  experiment_record predicted(const std::vector<prediction_source>& sources) const {
    const auto runner = make_predicted_trials(planned, sources);
    return run_experiment(planned, *runner, {});
  }

  std::string refusal(const prediction_source& source) const {
    try {
      make_predicted_trials(planned, {source});
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  }

  std::deque<drawn_run> runs;
  std::deque<drawn_kinds> kinds;
  experiment_plan planned;
};

const comparison& median_of_pair(const experiment_analysis& of, std::size_t pair,
                                 const experiment_record& record) {
  return *find_comparison(of.summary, record.pairs[pair], figure::p50);
}

TEST(predicted_trials, find_a_known_difference_and_none_between_equal_configurations) {
  experiment_of made;
  made.add("serial", strategy::serial);
  made.add("overlap", strategy::overlap);
  made.add("serial again", strategy::serial);
  const auto record = made.predicted({serial_source("s.json", varied(1))});
  const auto found = analyze(record);
  // Both configurations replay the same frames, so that each block has the same ratio.
  const comparison& overlap = median_of_pair(found, 0, record);
  EXPECT_EQ(overlap.verdict, verdict::faster);
  ASSERT_TRUE(overlap.ratio_range);
  for (const double ratio : {overlap.ratio, overlap.ratio_range->low, overlap.ratio_range->high}) {
    EXPECT_NEAR(ratio, 1.0 / 1.6, 1e-5);
  }
  const comparison& again = median_of_pair(found, 1, record);
  EXPECT_EQ(again.verdict, verdict::same);
  EXPECT_EQ(again.ratio, 1);
  ASSERT_TRUE(again.ratio_range);
  EXPECT_EQ(again.ratio_range->low, again.ratio_range->high);
  // Trials differ from each other.
  EXPECT_GT(*found.summary.configurations.front().members.front().between_trials, 10'000);
}

TEST(predicted_trials,
     replay_the_same_frames_in_all_configurations_of_a_block_whatever_their_length) {
  experiment_of made;
  made.add("short", strategy::serial);
  made.add("long", strategy::serial);
  made.run_of(0).frames = 30;
  made.planned.how.trials = 6;
  const auto record =
      made.predicted({serial_source("a.json", varied(1)), serial_source("b.json", varied(1, 2))});
  const auto trial_of = [&](std::size_t block, std::size_t configuration) {
    const auto at = std::ranges::find_if(record.trials, [&](const trial_record& trial) {
      return trial.block == block && trial.configuration == configuration;
    });
    return lengths(at->members.front().stages.front().device);
  };
  for (std::size_t block = 0; block < 6; ++block) {
    auto longer = trial_of(block, 1);
    ASSERT_EQ(longer.size(), 60U);
    longer.resize(30);
    EXPECT_EQ(trial_of(block, 0), longer) << block;
    EXPECT_NE(trial_of(block, 0), trial_of((block + 2) % 6, 0)) << block;  // from the same source
  }
}

TEST(predicted_trials, replay_the_same_frames_in_configurations_whose_own_blocks_would_differ) {
  prediction_source source = serial_source("s.json", varied(1));
  // The device's times are independent, those of the CPU stage grow slowly.
  std::mt19937_64 bits(3);
  auto& stages = source.run.stages;
  stages[0].busy.clear();
  for (std::size_t f = 0; f < 60; ++f) {
    stages[0].device[f].end = stages[0].device[f].begin + 100'000 + below(bits, 500'000);
    stages[1].cpu[f].end = stages[1].cpu[f].begin + 10'000 + 1'000 * static_cast<nanoseconds>(f);
    source.run.frames[f].end = stages[0].device[f].end;
  }
  drawn_run alone;
  alone.planned = plan_of({side::device}, {}, streams);
  finish(alone.planned, strategy::serial, graph_mode::stage, 1);
  alone.planned.run.frames = 60;
  experiment_of made;
  made.add("both", strategy::serial);
  made.add("alone", alone);
  const auto block_of = [&](std::size_t configuration) {
    const plan& p = made.planned.configurations[configuration].members.front();
    return predictor(p, {source}).times().block_length();
  };
  ASSERT_NE(block_of(0), block_of(1));
  made.planned.how.trials = 1;
  const auto record = made.predicted({source});
  const auto times = [&](std::size_t trial) {
    return lengths(record.trials[trial].members.front().stages.front().device);
  };
  EXPECT_EQ(times(0), times(1));
}

TEST(predicted_trials, are_timed_by_events_and_not_cut_short) {
  experiment_of made;
  made.add("serial", strategy::serial);
  made.run_of(0).timing = timing_method::sync;
  made.run_of(0).max_time = 1;
  const auto record = made.predicted({serial_source("s.json", varied(1))});
  EXPECT_FALSE(record.failure);
  const run_record& run = record.trials.front().members.front();
  EXPECT_EQ(run.run.timing, timing_method::event);
  EXPECT_FALSE(run.run.max_time);
  EXPECT_EQ(run.frames.size(), 60U);
}

TEST(predicted_trials, differ_as_their_sources_do_and_are_not_taken_for_disturbed) {
  experiment_of made;
  made.add("serial", strategy::serial);
  made.add("overlap", strategy::overlap);
  made.planned.how.trials = 9;
  made.planned.how.repeat_affected = true;
  const std::vector<double> one(60, 1), other(60, 1.001), slow(60, 1.5);
  const auto record = made.predicted({serial_source("a.json", one), serial_source("b.json", other),
                                      serial_source("c.json", slow)});
  EXPECT_THAT(record.prediction->sources, testing::ElementsAre("a.json", "b.json", "c.json"));
  EXPECT_EQ(record.trials.size(), 18U);
  const auto found = analyze(record);
  EXPECT_EQ(found.summary.counted_blocks, 9U);
  EXPECT_THAT(found.summary.machine.affected_blocks, IsEmpty());
  const auto& medians = found.summary.configurations.front().members.front().trial_medians;
  const std::vector<double> expected = {1'600'000, 1'601'600, 2'400'000};
  for (std::size_t block = 0; block < 9; ++block) {
    EXPECT_EQ(medians[block], expected[block % 3]) << block;
  }
  EXPECT_THAT(found.findings, Each(testing::Field(&finding::how, finding_severity::note)));
}

TEST(predicted_trials, take_virtual_time) {
  experiment_of made;
  made.add("serial", strategy::serial);
  made.add("overlap", strategy::overlap);
  made.planned.how.time_limit = 3'600'000'000;  // much longer than this takes
  made.planned.how.trials = 1000;
  const auto record = made.predicted({serial_source("s.json", std::vector<double>(60, 1))});
  // Blocks of 60 frames of 1.6 ms and 60 of 1 ms.
  EXPECT_EQ(record.trials.size(), 2U * 24U);  // 23 blocks end after 3.588 s
  EXPECT_THAT(record.stopped, HasSubstr("the time limit of 3.60 s was reached"));
  nanoseconds begun = 0;
  for (const trial_record& trial : record.trials) {
    EXPECT_EQ(trial.begun, begun);
    begun += 60 * (trial.configuration == 0 ? 1'600'000 : 1'000'000);
  }
}

TEST(predicted_trials, are_the_same_each_time) {
  experiment_of made;
  made.add("serial", strategy::serial);
  made.add("overlap", strategy::overlap, 2);
  const std::vector<prediction_source> sources = {serial_source("a.json", varied(1)),
                                                  serial_source("b.json", varied(2, 2))};
  const auto first = made.predicted(sources);
  const auto second = made.predicted(sources);
  ASSERT_EQ(first.trials.size(), second.trials.size());
  for (std::size_t i = 0; i < first.trials.size(); ++i) {
    const run_record& a = first.trials[i].members.front();
    const run_record& b = second.trials[i].members.front();
    EXPECT_EQ(end_to_end_times(a), end_to_end_times(b)) << i;
    EXPECT_THAT(a.environment, IsEmpty());  // as the source
  }
}

TEST(predicted_trials, refuse_what_a_prediction_cannot_tell_and_name_the_configuration) {
  const auto source = serial_source("s.json", varied(1));
  const auto why_not = [&](const std::function<void(planned_configuration&)>& change) {
    experiment_of made;
    made.add("one", strategy::serial);
    made.add("other", strategy::serial);
    change(made.planned.configurations.back());
    return made.refusal(source);
  };
  EXPECT_EQ(why_not([](auto&) {}), "");
  EXPECT_EQ(why_not([](auto& c) { c.members.push_back(c.members.front()); }),
            "configuration 'other': it runs 2 pipelines at once, but --predict predicts one "
            "pipeline at a time; omit --predict to measure the experiment");
  EXPECT_EQ(why_not([](auto& c) { c.members.front().run.threads = 2; }),
            "configuration 'other': it changes timing, threads, guard, realtime or max_time of "
            "'one', whose effect --predict cannot tell; omit --predict to measure the experiment");
  EXPECT_THAT(why_not([](auto& c) { c.members.front().run.realtime = 5; }),
              HasSubstr("it changes timing"));
  EXPECT_THAT(why_not([](auto& c) { c.members.front().run.timing = timing_method::none; }),
              HasSubstr("it changes timing"));
  EXPECT_THAT(why_not([](auto& c) { c.members.front().stages.front().name = "new"; }),
              HasSubstr("configuration 'other': s.json: cannot use the stage times of this run of "
                        "pipeline 'drawn': it has no stage 'new'"));
  auto with_parameter = source;
  with_parameter.run.parameters = {{"k", "3"}};
  experiment_of made;
  made.add("k=4", strategy::serial);
  made.planned.configurations.front().members.front().parameters = {{"k", "4"}};
  EXPECT_EQ(
      made.refusal(with_parameter),
      "configuration 'k=4': s.json: cannot use the stage times of this run: parameter 'k' is 3 "
      "there, but 4 in the experiment; omit --predict to measure the experiment");
}

/// Searches for the capacity of two stages under a bound on p95.
capacity_record capacity_of(const drawn_run& run, const std::vector<prediction_source>& sources,
                            arrival how, nanoseconds bound) {
  const drawn_kinds kinds(run);
  plan p = kinds.planned();
  p.run.arrival = how;
  p.run.rate = 1;
  predictor by(p, sources);
  capacity_settings wanted;
  wanted.arrival = how;
  wanted.bound = bound;
  capacity_options options;
  options.prediction = by.origin();
  return find_capacity(wanted, make_predicted_probe(by, wanted), options);
}

TEST(predicted_probe, finds_the_rate_of_the_bottleneck_of_constant_stages) {
  const auto source = serial_source("s.json", std::vector<double>(60, 1));
  struct wanted_case {
    strategy how;
    std::int64_t in_flight;
    double rate;
  };
  for (const auto& [how, in_flight, rate] :
       {wanted_case{strategy::serial, 1, 1e9 / (on_device + on_cpu)},
        wanted_case{strategy::overlap, 1, 1e9 / on_device},
        wanted_case{strategy::overlap, 4, 1e9 / on_device}}) {
    const auto record =
        capacity_of(two_stages(how, in_flight, {1}), {source}, arrival::constant, 20'000'000);
    const auto found = summarize(record);
    EXPECT_NEAR(*found.closed_loop, rate, 1e-6 * rate);
    EXPECT_NEAR(*found.estimate.rate, rate, 0.02 * rate);
    EXPECT_LE(*found.estimate.low, rate);
    EXPECT_GE(*found.estimate.high, rate * (1 - 1e-9));
    EXPECT_LE(*found.estimate.width(), 0.02);
    EXPECT_FALSE(record.conditions);
  }
}

TEST(predicted_probe, finds_what_queueing_theory_says_of_random_arrivals) {
  const auto source = serial_source("s.json", std::vector<double>(60, 1));
  for (const nanoseconds bound : {4'000'000, 20'000'000}) {
    const auto record =
        capacity_of(two_stages(strategy::serial, 1, {1}), {source}, arrival::poisson, bound);
    const double truth =
        samples::md1_capacity(on_device + on_cpu, 0.95, static_cast<double>(bound));
    const auto found = summarize(record).estimate;
    EXPECT_NEAR(*found.rate, truth, 0.01 * truth) << bound;
    EXPECT_LE(*found.low, truth) << bound;
    EXPECT_GE(*found.high, truth) << bound;
  }
}

TEST(predicted_probe, counts_runs_of_a_slow_source) {
  const std::vector<double> one(60, 1), other(60, 1.001), slow(60, 1.2);
  const auto record = capacity_of(
      two_stages(strategy::serial, 1, {1}),
      {serial_source("a.json", one), serial_source("b.json", other), serial_source("c.json", slow)},
      arrival::constant, 20'000'000);
  const auto summary = summarize(record);
  EXPECT_THAT(summary.estimate.disturbed, Each(false));
  EXPECT_FALSE(summary.estimate.unsteady);
  EXPECT_EQ(record.prediction->sources.size(), 3U);
  EXPECT_TRUE(std::ranges::any_of(record.runs, [&](const capacity_run& run) {
    return run.pooled && lengths(run.members.front().stages.front().device).front() == 1'200'000;
  }));
}

}  // namespace
}  // namespace graphline
