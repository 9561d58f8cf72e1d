#include "framework/campaign/predict/validation.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "framework/analysis/experiment/validation_summary.hpp"
#include "framework/base/error.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "tests/run/list_scheduling.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline {
namespace {

using namespace testing_plans;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A device stage of 1 ms, two CPU stages that wait for it, and one for both: 1.4 ms with two
/// workers, 1.6 ms in a serial run.
drawn_run diamond(strategy how) {
  drawn_run run;
  run.planned = plan_of({side::device, side::cpu, side::cpu, side::cpu},
                        {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, streams);
  run.workers = 2;
  run.times.assign(60, {1'000'000, 300'000, 200'000, 100'000});
  finish(run.planned, how, graph_mode::stage, 1);
  run.planned.run.frames = 60;
  return run;
}

drawn_run slower(drawn_run run, std::size_t stage, double factor) {
  for (auto& frame : run.times) {
    frame[stage] = std::llround(static_cast<double>(frame[stage]) * factor);
  }
  return run;
}

run_record run_once(const drawn_run& run) {
  run_record record = run.planned.schedule.properties.in_order
                          ? run_in_virtual_time<sequential_executor>(run).record
                          : run_in_virtual_time<ready_executor>(run).record;
  record.device.backend = "host";
  return record;
}

/// Measures one run per round, and the same serial run as source.
validation_record validated(const std::vector<drawn_run>& runs) {
  const drawn_kinds kinds(runs.front());
  return validate(
      kinds.planned(),
      [&](std::int64_t round) { return run_once(runs[static_cast<std::size_t>(round)]); },
      [](std::int64_t) { return run_once(diamond(strategy::serial)); },
      {.rounds = static_cast<std::int64_t>(runs.size())});
}

TEST(validation, finds_no_error_where_a_run_does_what_is_predicted) {
  const auto found = analyze(validated(std::vector(3, diamond(strategy::overlap))));
  ASSERT_THAT(found.figures, SizeIs(4));
  for (const auto& figure : found.figures) {
    EXPECT_EQ(figure.measured, figure.predicted) << figure.name;
    EXPECT_EQ(figure.error, 0.0) << figure.name;
    EXPECT_EQ(figure.verdict, agreement::agrees) << figure.name;
  }
  EXPECT_EQ(found.figures[0].measured, 1'400'000);
  EXPECT_NEAR(*found.figures[3].measured, 1e9 / 1'400'000, 1e-6);
  const double times[] = {1'000'000, 300'000, 200'000, 100'000};
  ASSERT_THAT(found.stages, SizeIs(4));
  for (std::size_t s = 0; s < 4; ++s) {
    EXPECT_EQ(found.stages[s].measured, times[s]);
    EXPECT_EQ(found.stages[s].predicted, times[s]);
    EXPECT_EQ(found.stages[s].verdict, std::nullopt);
  }
  for (const auto& piece : found.pieces) EXPECT_EQ(piece.difference(), 0);
}

TEST(validation, tells_which_stage_is_slower_than_predicted) {
  const auto run = slower(diamond(strategy::overlap), 0, 1.2);
  const auto found = analyze(validated({run, run, run}));
  for (const auto& figure : found.figures) {
    // 1.4 ms are predicted; frames take 1.6 ms.
    const double expected = figure.name == "throughput" ? 1.6 / 1.4 : 1.4 / 1.6;
    EXPECT_NEAR(*figure.error, expected - 1, 1e-9) << figure.name;
    EXPECT_EQ(figure.verdict, agreement::differs) << figure.name;
  }
  EXPECT_NEAR(*found.stages[0].error, 1 / 1.2 - 1, 1e-9);
  for (std::size_t s = 1; s < 4; ++s) EXPECT_EQ(found.stages[s].error, 0.0);
  ASSERT_FALSE(found.pieces.empty());
  EXPECT_EQ(found.pieces[0].stage, "0");
  EXPECT_EQ(found.pieces[0].what, time_category::device);
  EXPECT_NEAR(found.pieces[0].difference(), -200'000, 1e-6);
  EXPECT_NEAR(found.whole.difference(), -200'000, 1e-6);
  double sum = 0;
  for (const auto& piece : found.pieces) sum += piece.measured;
  EXPECT_NEAR(sum, 1'600'000, 1e-6);
}

TEST(validation, judges_errors_by_their_interval_and_by_how_much_runs_differ) {
  // Frames of 100 us and, by round, 0 to 2 % more or less. Of the logarithms, the deviation is
  // 0.0158135; t is 2.77645 for 4 degrees of freedom. Intervals reach t * 0.0158135 / sqrt(5) =
  // 0.0196350 to either side of the error, and the A/A spread t * 0.0158135 * sqrt(2) = 0.0620913.
  const auto of_frames = [](double time) {
    run_record run;
    run.run.timing = timing_method::none;
    for (nanoseconds f = 0; f < 60; ++f) run.frames.push_back({f * 200'000, f * 200'000, 0});
    for (auto& frame : run.frames) frame.end = frame.begin + std::llround(time);
    return run;
  };
  const auto verdicts = [&](double factor) {
    validation_record record{5, {}, false, {}};
    for (const double part : {1.0, 1.02, 0.98, 1.01, 0.99}) {
      record.rounds.push_back({of_frames(1e5 * part), of_frames(1e5 * factor)});
    }
    return analyze(record).figures;
  };
  const auto found = verdicts(1.08);
  const double middle = -std::log(1.02 * 0.98 * 1.01 * 0.99) / 5;  // of the measured times
  EXPECT_NEAR(*found[0].error, 1.08 * std::exp(middle) - 1, 1e-6);
  EXPECT_NEAR(found[0].error_range->low, 1.08 * std::exp(middle - 0.0196350) - 1, 1e-6);
  EXPECT_NEAR(found[0].error_range->high, 1.08 * std::exp(middle + 0.0196350) - 1, 1e-6);
  EXPECT_NEAR(found[0].spread->low, std::exp(-0.0620913) - 1, 1e-6);
  EXPECT_NEAR(found[0].spread->high, std::exp(0.0620913) - 1, 1e-6);
  EXPECT_EQ(found[0].verdict, agreement::cannot_tell);       // 5.9 % to 10.2 %
  EXPECT_EQ(verdicts(1.03)[0].verdict, agreement::agrees);   // 1.0 % to 5.1 %, within the spread
  EXPECT_EQ(verdicts(1.12)[0].verdict, agreement::differs);  // 9.8 % to 14.3 %
  EXPECT_EQ(verdicts(1.12)[2].verdict, agreement::cannot_tell);  // p95: 10 %
  EXPECT_EQ(verdicts(0.85)[2].verdict, agreement::differs);
}

TEST(validation, attributes_running_times_where_the_end_to_end_time_is_unsettled) {
  auto run = diamond(strategy::overlap);
  run.times.resize(200, run.times.front());
  run.planned.run.frames = 200;
  run.planned.run.arrival = arrival::constant;
  run.planned.run.rate = 1000;  // a frame takes 1.4 ms
  const auto found = analyze(validated({run, run, run}));
  EXPECT_FALSE(found.why_no_queue.empty());
  EXPECT_EQ(found.figures[0].measured, std::nullopt);
  EXPECT_EQ(found.figures[3].verdict, agreement::agrees);
  EXPECT_NEAR(found.whole.measured, 1'400'000, 1e-6);
}

/// Rounds that log their runs and end in the third one.
struct logged_rounds {
  validation_record run(const std::function<void(run_record&)>& in_third = {}) {
    const auto one = [&](strategy how) {
      return [this, how, in_third](std::int64_t round) {
        log += how == strategy::serial ? 's' : 'w';
        auto record = run_once(diamond(how));
        if (round == 2 && how == strategy::serial && in_third) in_third(record);
        return record;
      };
    };
    const auto wanted = diamond(strategy::overlap);
    const drawn_kinds kinds(wanted);
    return validate(kinds.planned(), one(strategy::overlap), one(strategy::serial),
                    {.rounds = 20, .stop = &stop});
  }
  std::string log;
  stop_request stop;
};

TEST(validation, runs_both_once_per_round_in_an_order_that_only_the_seed_decides) {
  logged_rounds first;
  EXPECT_THAT(first.run().rounds, SizeIs(20));
  ASSERT_THAT(first.log, SizeIs(40));
  int serial_first = 0;
  for (std::size_t round = 0; round < 20; ++round) {
    const auto order = first.log.substr(2 * round, 2);
    EXPECT_TRUE(order == "sw" || order == "ws") << order;
    if (order == "sw") ++serial_first;
  }
  EXPECT_GE(serial_first, 3);
  EXPECT_LE(serial_first, 17);
  logged_rounds second;
  second.run();
  EXPECT_EQ(first.log, second.log);
}

TEST(validation, keeps_the_complete_rounds_of_one_that_ends_early) {
  logged_rounds interrupted;
  auto record = interrupted.run([](run_record& run) { run.interrupted = true; });
  EXPECT_THAT(record.rounds, SizeIs(2));
  EXPECT_TRUE(record.interrupted);

  logged_rounds stopped;
  record = stopped.run([&](run_record&) { stopped.stop.raise(); });
  EXPECT_LE(record.rounds.size(), 3U);
  EXPECT_GE(record.rounds.size(), 2U);
  EXPECT_TRUE(record.interrupted);

  logged_rounds failed;
  record = failed.run([](run_record& run) { run.failure = "it broke"; });
  EXPECT_THAT(record.rounds, SizeIs(2));
  EXPECT_EQ(record.failure, "it broke");
}

TEST(validation, throws_the_failure_of_the_first_round) {
  const auto wanted = diamond(strategy::overlap);
  const drawn_kinds kinds(wanted);
  const validation_run fails = [&](std::int64_t) {
    auto record = run_once(wanted);
    record.failure = "it broke";
    return record;
  };
  EXPECT_THROW(validate(kinds.planned(), fails, fails), run_error);
}

TEST(validation, checks_a_saved_source_before_the_first_run) {
  const auto wanted = diamond(strategy::overlap);
  const drawn_kinds kinds(wanted);
  std::vector<prediction_source> saved = {{"s.json", run_once(diamond(strategy::serial))}};
  int runs = 0;
  const validation_run run = [&](std::int64_t) {
    ++runs;
    return run_once(wanted);
  };
  const auto record = validate(kinds.planned(), run, saved, {.rounds = 3});
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(record.rounds.at(2).predicted.prediction->sources.front(), "s.json");
  EXPECT_EQ(analyze(record).figures[0].verdict, agreement::agrees);
  saved.front().run.run.timing = timing_method::none;
  EXPECT_THROW(validate(kinds.planned(), run, saved), input_error);
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace graphline
