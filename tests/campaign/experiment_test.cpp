#include "framework/campaign/experiment/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

/// Made-up runs of twenty frames; records the requested configurations.
class scripted_runner final : public trial_runner {
 public:
  std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                              const stop_request* stop) override {
    const auto trial = static_cast<std::size_t>(std::ranges::count(asked, configuration));
    asked.push_back(configuration);
    numbers.push_back(request.number);
    run_record record;
    record.interrupted = stop != nullptr && stop->raised();
    // All frames differ; trials differ by about a percent, and between configurations.
    const auto apart = static_cast<nanoseconds>(trial * (3 + 4 * configuration) % 5);
    for (nanoseconds i = 0; i < 20; ++i) {
      const nanoseconds length = 1'000'000 + 5'000 * apart + 100 * (7 * i % 13);
      record.frames.push_back({i * 2'000'000, i * 2'000'000, i * 2'000'000 + length});
    }
    if (script) script(configuration, trial, record);
    std::vector<run_record> members;
    members.push_back(std::move(record));
    return members;
  }

  std::vector<std::size_t> asked;
  std::vector<std::uint64_t> numbers;
  /// Changes the n-th trial of a configuration, if set.
  std::function<void(std::size_t configuration, std::size_t trial, run_record&)> script;
};

/// Configurations named a, b, c, ..., compared with the first.
experiment_plan planned(std::size_t configurations, std::int64_t trials) {
  experiment_plan p;
  p.name = "made up";
  p.how.trials = trials;
  for (std::size_t i = 0; i < configurations; ++i) {
    planned_configuration c;
    c.what.name = std::string(1, static_cast<char>('a' + i));
    c.what.members = {"pipeline"};
    c.members.emplace_back();
    p.configurations.push_back(std::move(c));
    if (i > 0) p.pairs.push_back({{i, 0}, {0, 0}});
  }
  return p;
}

std::vector<std::pair<std::size_t, std::size_t>> order(const experiment_record& record) {
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (const auto& t : record.trials) order.emplace_back(t.block, t.configuration);
  return order;
}

TEST(experiment, runs_each_configuration_once_in_every_block) {
  scripted_runner runner;
  const auto record = run_experiment(planned(4, 6), runner, {});
  ASSERT_THAT(record.trials, SizeIs(24));
  for (std::size_t block = 0; block < 6; ++block) {
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(record.trials[block * 4 + i].block, block);
      seen.insert(record.trials[block * 4 + i].configuration);
    }
    EXPECT_THAT(seen, SizeIs(4)) << "block " << block;
  }
  EXPECT_THAT(record.stopped, IsEmpty());
  EXPECT_FALSE(record.interrupted);
  EXPECT_EQ(record.name, "made up");
  EXPECT_THAT(record.configurations, SizeIs(4));
  EXPECT_THAT(record.pairs, SizeIs(3));
  // Random arrivals differ between blocks.
  EXPECT_EQ(std::set(runner.numbers.begin(), runner.numbers.end()).size(), 6U);
}

TEST(experiment, orders_blocks_differently_and_in_the_same_way_for_the_same_seed) {
  auto p = planned(5, 12);
  const auto run = [&] {
    scripted_runner runner;
    run_experiment(p, runner, {});
    return runner.asked;
  };
  const auto first = run();
  EXPECT_EQ(run(), first);
  std::set<std::vector<std::size_t>> orders;
  for (std::size_t block = 0; block < 12; ++block) {
    const auto begin = first.begin() + static_cast<std::ptrdiff_t>(5 * block);
    orders.emplace(begin, begin + 5);
  }
  EXPECT_GT(orders.size(), 6U);
  p.how.seed = 2;
  EXPECT_NE(run(), first);
}

TEST(experiment, goes_on_after_a_pause_wherever_that_came_as_though_there_had_been_none) {
  const auto p = planned(3, 4);
  scripted_runner all;
  const auto whole = run_experiment(p, all, {});
  for (std::size_t pause = 0; pause <= whole.trials.size(); ++pause) {
    experiment_options options;
    options.done = {whole.trials.begin(),
                    whole.trials.begin() + static_cast<std::ptrdiff_t>(pause)};
    std::size_t added = 0;
    options.on_trial = [&](const trial_record&) { ++added; };
    scripted_runner rest;
    const auto resumed = run_experiment(p, rest, options);
    EXPECT_EQ(order(resumed), order(whole)) << "pause after " << pause;
    EXPECT_EQ(added, 12 - pause);
    for (std::size_t i = 1; i < resumed.trials.size(); ++i) {
      EXPECT_LE(resumed.trials[i - 1].begun, resumed.trials[i].begun) << "pause after " << pause;
    }
  }
}

/// Runs the blocks of helpers in this thread, as processes with these places.
class scripted_helpers final : public block_helpers {
 public:
  scripted_helpers(const experiment_plan& p, std::vector<trial_place> places)
      : planned_(p), places_(std::move(places)) {}

  std::size_t count() const override { return places_.size(); }
  void begin(std::size_t helper, std::size_t block, nanoseconds elapsed) override {
    begun.emplace_back(helper, block);
    if (dies) return;
    for (auto& trial : run_block(planned_, runner_, block, elapsed, never_)) {
      trial.place = places_[helper];
      trials_.push_back(std::move(trial));
    }
  }
  std::optional<std::vector<trial_record>> trials() override {
    return dies ? std::nullopt : std::optional(std::exchange(trials_, {}));
  }

  std::vector<std::pair<std::size_t, std::size_t>> begun;  ///< helper and block
  bool dies = false;

 private:
  const experiment_plan& planned_;
  std::vector<trial_place> places_;
  scripted_runner runner_;
  stop_request never_;
  std::vector<trial_record> trials_;
};

const trial_place first_rank{0, "here"};
const trial_place second_rank{1, "there"};

TEST(experiment, of_ranks_has_all_trials_of_a_block_on_one_rank) {
  const auto p = planned(3, 7);
  scripted_runner own;
  scripted_helpers helpers(p, {second_rank, {2, "there"}});
  std::size_t stored = 0;
  const auto record = run_experiment(p, own,
                                     {.on_trial = [&](const trial_record&) { ++stored; },
                                      .place = first_rank,
                                      .helpers = &helpers});
  ASSERT_THAT(record.trials, SizeIs(21));
  EXPECT_EQ(stored, 21U);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const auto& trial : record.trials) {
    seen.emplace(trial.block, trial.configuration);
    ASSERT_TRUE(trial.place);
    EXPECT_EQ(trial.place->rank, std::int64_t(trial.block % 3)) << "block " << trial.block;
  }
  EXPECT_THAT(seen, SizeIs(21));
  EXPECT_THAT(own.asked, SizeIs(9));
  EXPECT_THAT(record.stopped, IsEmpty());
}

TEST(experiment, goes_on_with_another_number_of_ranks_and_replaces_the_blocks_of_others) {
  const auto p = planned(2, 5);
  experiment_options options{.place = first_rank};
  for (const auto& [block, configuration, place] :
       {std::tuple{0U, 0U, first_rank}, {0U, 1U, first_rank}, {1U, 0U, second_rank}}) {
    trial_record trial{.configuration = configuration, .block = block, .begun = 0, .members = {}};
    trial.members.emplace_back().frames = {{0, 0, 1'000'000}};
    trial.place = place;
    options.done.push_back(trial);
  }
  scripted_runner own;
  const auto record = run_experiment(p, own, options);
  // Block 1 stays incomplete, and block 5 replaces it.
  std::vector<std::size_t> blocks;
  for (const auto& trial : record.trials) blocks.push_back(trial.block);
  EXPECT_THAT(blocks, ElementsAre(0, 0, 1, 2, 2, 3, 3, 4, 4, 5, 5));
  EXPECT_THAT(record.stopped, IsEmpty());
  EXPECT_EQ(summarize(record).counted_blocks, 5U);
}

TEST(experiment, of_ranks_keeps_its_own_block_when_another_rank_dies) {
  const auto p = planned(2, 6);
  scripted_runner own;
  scripted_helpers helpers(p, {second_rank});
  helpers.dies = true;
  const auto record = run_experiment(p, own, {.place = first_rank, .helpers = &helpers});
  EXPECT_THAT(record.trials, SizeIs(2));
  EXPECT_TRUE(record.interrupted);
  EXPECT_THAT(helpers.begun, ElementsAre(std::pair(0U, 1U)));
}

TEST(run_block, names_the_trial_that_fails) {
  scripted_runner runner;
  runner.script = [](std::size_t configuration, std::size_t, run_record& record) {
    if (configuration == 1) record.failure = "out of memory";
  };
  try {
    run_block(planned(2, 1), runner, 0, 0, stop_request());
    FAIL();
  } catch (const run_error& e) {
    EXPECT_STREQ(e.what(), "a trial of configuration 'b' failed: out of memory");
  }
}

TEST(experiment, counts_the_time_of_trials_before_a_pause_and_not_the_pause) {
  auto p = planned(2, 4);
  p.how.time_limit = 3'600'000'000'000;
  experiment_options options;
  trial_record earlier;
  earlier.members.emplace_back();
  earlier.members[0].frames = {{0, 0, 5'000'000'000}};
  for (const std::size_t configuration : {0, 1}) {
    earlier.configuration = configuration;
    earlier.begun = static_cast<nanoseconds>(configuration) * 600'000'000'000;
    options.done.push_back(earlier);
  }
  scripted_runner runner;
  const auto record = run_experiment(p, runner, options);
  ASSERT_THAT(record.trials, SizeIs(8));
  EXPECT_GE(record.trials[2].begun, 605'000'000'000);
  EXPECT_LT(record.trials.back().begun, 3'600'000'000'000);

  options.done.back().begun = 3'600'000'000'000;
  const auto late = run_experiment(p, runner, options);
  EXPECT_THAT(late.trials, SizeIs(2));
  EXPECT_EQ(late.stopped,
            "the time limit of 3600 s was reached after 1 trial of each configuration");
}

TEST(experiment, completes_a_block_that_began_before_the_time_limit) {
  auto p = planned(3, 10);
  p.how.time_limit = 1;
  scripted_runner runner;
  const auto record = run_experiment(p, runner, {});
  EXPECT_THAT(record.trials, SizeIs(3));
  EXPECT_THAT(record.stopped, HasSubstr("the time limit of 1.00 ns was reached after 1 trial of"));
}

TEST(experiment, runs_a_trial_that_failed_before_a_pause_again) {
  const auto p = planned(2, 2);
  scripted_runner runner;
  runner.script = [](std::size_t, std::size_t, run_record& r) { r.failure = "out of film"; };
  experiment_options options;
  options.done = run_experiment(p, runner, {}).trials;
  ASSERT_THAT(options.done, SizeIs(1));
  runner.script = nullptr;
  const auto record = run_experiment(p, runner, options);
  EXPECT_THAT(record.trials, SizeIs(4));
  EXPECT_THAT(record.stopped, IsEmpty());
}

TEST(experiment, ends_with_a_trial_that_failed_and_says_in_what) {
  scripted_runner runner;
  runner.script = [](std::size_t configuration, std::size_t trial, run_record& r) {
    if (configuration == 1 && trial == 2) r.failure = "stage 'head', frame 3: out of film";
  };
  experiment_options options;
  std::size_t kept = 0;
  options.on_trial = [&](const trial_record&) { ++kept; };
  const auto record = run_experiment(planned(2, 9), runner, options);
  ASSERT_FALSE(record.trials.empty());
  EXPECT_EQ(record.trials.back().configuration, 1U);
  EXPECT_EQ(record.trials.back().block, 2U);
  EXPECT_EQ(record.trials.size(), kept);
  EXPECT_EQ(record.stopped,
            "a trial of configuration 'b' failed: stage 'head', frame 3: out of film");
  EXPECT_EQ(record.failure, record.stopped);
  EXPECT_FALSE(record.interrupted);
}

TEST(experiment, leaves_out_the_trial_that_an_interruption_cut_short) {
  stop_request stop;
  scripted_runner runner;
  runner.script = [&](std::size_t, std::size_t, run_record& r) {
    if (runner.asked.size() == 5) {
      stop.raise();
      r.interrupted = true;
    }
  };
  experiment_options options;
  options.stop = &stop;
  std::size_t kept = 0;
  options.on_trial = [&](const trial_record&) { ++kept; };
  const auto record = run_experiment(planned(3, 9), runner, options);
  EXPECT_TRUE(record.interrupted);
  EXPECT_EQ(record.stopped, "interrupted");
  EXPECT_THAT(record.trials, SizeIs(4));
  EXPECT_EQ(kept, 4U);
}

TEST(experiment, ends_with_what_there_is_when_a_runner_throws) {
  for (const bool memory : {false, true}) {
    scripted_runner runner;
    runner.script = [&](std::size_t, std::size_t, run_record&) {
      if (runner.asked.size() < 4) return;
      if (memory) throw std::bad_alloc();
      throw run_error("configuration 'a': its process is gone");
    };
    const auto record = run_experiment(planned(2, 9), runner, {});
    EXPECT_THAT(record.trials, SizeIs(3));
    EXPECT_THAT(record.failure, Optional(HasSubstr(memory ? "out of memory" : "is gone")));
    EXPECT_EQ(record.stopped, record.failure);
    EXPECT_FALSE(record.interrupted);
  }
}

TEST(experiment, tells_which_configuration_is_next_and_how_long_is_left) {
  scripted_runner runner;
  std::vector<experiment_progress> told;
  std::vector<std::string> names;
  experiment_options options;
  options.on_progress = [&](const experiment_progress& p) {
    told.push_back(p);
    names.emplace_back(p.configuration);
  };
  run_experiment(planned(2, 2), runner, options);
  ASSERT_THAT(told, SizeIs(5));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(told[i].done, static_cast<std::int64_t>(i));
    EXPECT_EQ(told[i].total, 4);
    EXPECT_EQ(names[i], std::string(1, static_cast<char>('a' + runner.asked[i])));
    EXPECT_EQ(told[i].left.has_value(), i > 0);
  }
  EXPECT_EQ(told[4].done, 4);
  EXPECT_EQ(told[4].left, 0);
  EXPECT_THAT(names[4], IsEmpty());
}

TEST(experiment, stops_once_every_interval_is_narrow_enough) {
  auto p = planned(2, 60);
  p.how.narrow_to = 0.05;
  scripted_runner runner;
  const auto record = run_experiment(p, runner, {});
  EXPECT_GT(record.trials.size(), 2U);
  EXPECT_LT(record.trials.size(), 120U);
  EXPECT_EQ(record.trials.size() % 2, 0U);
  EXPECT_THAT(record.stopped, HasSubstr("every interval reached at most 5 % to either side after"));
}

/// Makes every frame of a record three times as long.
void slow_down(run_record& record) {
  for (auto& f : record.frames) f.end = f.begin + 3 * (f.end - f.begin);
}

TEST(experiment, makes_up_for_affected_blocks_with_as_many_further_ones) {
  auto p = planned(2, 12);
  p.how.repeat_affected = true;
  scripted_runner runner;
  runner.script = [](std::size_t, std::size_t trial, run_record& r) {
    if (trial == 4 || trial == 9) slow_down(r);
  };
  const auto record = run_experiment(p, runner, {});
  EXPECT_THAT(record.trials, SizeIs(2 * 14));
  EXPECT_THAT(record.stopped, IsEmpty());

  runner.asked.clear();
  experiment_options resumed;
  resumed.done = {record.trials.begin(), record.trials.begin() + 2 * 12 + 1};
  EXPECT_EQ(order(run_experiment(p, runner, resumed)), order(record));
  p.how.repeat_affected = false;
  runner.asked.clear();
  EXPECT_THAT(run_experiment(p, runner, {}).trials, SizeIs(2 * 12));
}

/// Returns the same runs for every configuration.
class made_up_runner final : public trial_runner {
 public:
  std::vector<run_record> run(std::size_t, const trial_request&, const stop_request*) override {
    return records;
  }

  std::vector<run_record> records;
};

/// Ten measured frames of two members, after two of warm-up.
experiment_plan together() {
  experiment_plan p;
  planned_configuration c;
  c.what.name = "together";
  c.members.resize(2);
  for (plan& member : c.members) {
    member.run.frames = 10;
    member.run.warmup = 2;
  }
  p.configurations.push_back(std::move(c));
  return p;
}

TEST(try_out, takes_a_run_that_began_no_frame_before_the_leading_one_was_done_for_no_interruption) {
  made_up_runner runner;
  runner.records.resize(2);
  runner.records[0].frames = {{0, 0, 500}, {500, 500, 1000}};
  EXPECT_THAT(try_out(together(), runner, nullptr), ElementsAre(12 * 500));
}

TEST(try_out, ends_where_a_person_interrupts_it) {
  made_up_runner runner;
  runner.records.resize(2);
  runner.records[0].frames = {{0, 0, 500}};
  runner.records[0].interrupted = true;
  EXPECT_THROW(try_out(together(), runner, nullptr), interrupted_error);
}

using namespace testing_kinds;

pipeline_spec small() {
  return pipeline_of({make_stage("a", "device_mix", {}), make_stage("b", "cpu_mix", {})});
}

TEST(timing_experiment, runs_each_method_once_in_every_block) {
  host_session s(small());
  const auto result = compare_timing_methods(s, {.trials = 6, .frames = 4});
  ASSERT_EQ(result.trials.size(), 30U);
  for (std::size_t block = 0; block < 6; ++block) {
    std::set<timing_method> seen;
    for (const auto& trial : result.trials) {
      if (trial.block == block) seen.insert(trial.members.at(0).run.timing);
      EXPECT_EQ(trial.members.at(0).frames.size(), 4U);
      EXPECT_EQ(result.configurations.at(trial.configuration).name,
                "timing=" + std::string(to_word(trial.members[0].run.timing)));
    }
    EXPECT_EQ(seen.size(), 5U) << "block " << block;
  }
  ASSERT_EQ(result.pairs.size(), 4U);
  for (const auto& pair : result.pairs) EXPECT_EQ(pair.reference.configuration, 0U);
}

TEST(timing_experiment, compares_only_what_makes_sense_for_the_plan) {
  auto spec = small();
  spec.run.graphs = graph_mode::frame;
  host_session whole(spec);
  const auto result = compare_timing_methods(whole, {.trials = 1, .frames = 2});
  ASSERT_THAT(result.configurations, SizeIs(2));
  EXPECT_EQ(result.configurations[1].name, "timing=event");
}

TEST(timing_experiment, ends_with_the_failure_told_when_a_stage_fails) {
  for (const int call : {1, 40}) {  // while it warms up, and later
    int calls = 0;
    host_session s(small(), [&](const std::string&, std::int64_t) {
      if (++calls == call) throw std::runtime_error("enough");
    });
    const auto result = compare_timing_methods(s, {.trials = 50, .frames = 4});
    EXPECT_FALSE(result.interrupted);
    const std::string failure = result.failure.value_or("none");
    EXPECT_NE(failure.find("configuration 'timing="), std::string::npos) << failure;
    EXPECT_NE(failure.find("enough"), std::string::npos) << failure;
  }
}

}  // namespace
}  // namespace graphline
