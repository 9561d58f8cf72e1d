#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/time_units.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/page_records.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline::report {
namespace {

using samples::add_comparison;
using samples::add_together;
using samples::cell_of;
using samples::expect_golden;
using samples::fact_of;
using samples::figures_of;
using samples::made_configuration;
using samples::made_experiment;
using samples::made_of;
using samples::part_of;
using samples::taking;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using samples::ms;
using samples::us;

std::string text_of(const experiment_record& record, const experiment_summary& summary,
                    const terminal_style& as = {}) {
  return as_text(describe(record, analyze(record, summary)), as);
}

/// Adds comparisons of a pair by three figures with one verdict; the interval is 0.6 % to either
/// side of the ratio, or 2 % if inconclusive.
void compare(experiment_summary& summary, const experiment_record& record, std::size_t pair,
             verdict what, std::optional<std::int64_t> more = {}) {
  for (const auto of : {figure::p50, figure::tail, figure::throughput}) {
    add_comparison(summary, record, {pair, of, 1, 1, what, more});
    auto& made = summary.comparisons.back();
    const double reach = what == verdict::inconclusive ? 0.02 : 0.006;
    made.ratio_range = interval{made.ratio - reach, made.ratio + reach};
    made.difference_range = interval{made.difference - reach * made.reference,
                                     made.difference + reach * made.reference};
  }
}

/// Moves frames to a schedule of `rate` frames per second.
void put_on_schedule(run_record& run, double rate) {
  run.run.arrival = arrival::constant;
  run.run.rate = rate;
  for (std::size_t i = 0; i < run.frames.size(); ++i) {
    const auto due = static_cast<nanoseconds>(static_cast<double>(i) * 1e9 / rate);
    const auto later = due - run.frames[i].begin;
    run.frames[i].due = due;
    run.frames[i].begin += later;
    run.frames[i].end += later;
    for (auto& stage : run.stages) {
      for (auto* stamps : {&stage.device, &stage.enqueued, &stage.cpu}) {
        if (stamps->empty()) continue;
        (*stamps)[i].begin += later;
        (*stamps)[i].end += later;
      }
    }
  }
}

made_configuration strategy_of(strategy what, nanoseconds end_to_end) {
  auto result = made_of({{"strategy", std::string(to_word(what))}}, taking(end_to_end));
  result.change = [what](run_record& run) {
    run.run.strategy = what;
    run.run.frames = 20;
  };
  return result;
}

TEST(describe_experiment, of_strategies_gives_the_answer_first) {
  auto record = made_experiment(
      "strategies",
      {strategy_of(strategy::serial, 87 * ms), strategy_of(strategy::async, 74 * ms),
       strategy_of(strategy::overlap, 73 * ms)},
      10);
  record.description = "Three ways to run two networks with CPU work between them.";
  auto summary = figures_of(record);
  compare(summary, record, 0, verdict::faster);
  compare(summary, record, 1, verdict::faster);
  summary.comparisons[4].verdict = verdict::inconclusive;
  summary.comparisons[4].ratio_range = interval{0.68, 1.02};
  const auto text = text_of(record, summary);
  EXPECT_LE(samples::widest_line(text), 80U) << text;
  expect_golden("experiment_strategies.txt", text);
  const auto narrow = text_of(record, summary, {.width = 44});
  EXPECT_THAT(narrow, AllOf(HasSubstr("change %  verdict\n"),
                            HasSubstr("too narrow to show: 95 % interval\n")));
}

TEST(describe_experiment, shows_verdicts_of_all_kinds) {
  std::vector<made_configuration> methods;
  const std::pair<timing_method, nanoseconds> all[] = {{timing_method::none, 74'000 * us},
                                                       {timing_method::host, 74'020 * us},
                                                       {timing_method::sync, 90'000 * us},
                                                       {timing_method::event, 74'900 * us}};
  for (const auto& [method, time] : all) {
    methods.push_back(
        made_of({{"timing", std::string(to_word(method))}, {"in_flight", "1"}}, taking(time)));
    methods.back().timing = method;
  }
  const auto record = made_experiment("sync_vs_event", methods, 10);
  auto summary = figures_of(record);
  compare(summary, record, 0, verdict::same);
  compare(summary, record, 1, verdict::slower);
  compare(summary, record, 2, verdict::inconclusive, 42);
  summary.stage_comparisons.push_back({.pair = record.pairs[1],
                                       .stage = 0,
                                       .difference = 16e6,
                                       .ratio = 1.25,
                                       .ratio_range = interval{1.2, 1.3},
                                       .verdict = verdict::slower});
  // Certain, but negligible in a frame of 74 ms.
  summary.stage_comparisons.push_back({.pair = record.pairs[2],
                                       .stage = 2,
                                       .difference = 1e5,
                                       .ratio = 1.25,
                                       .ratio_range = interval{1.2, 1.3},
                                       .verdict = verdict::slower});
  summary.machine.drift = 0.031;
  summary.machine.affected_blocks = {3, 7};
  const auto text = text_of(record, summary);
  EXPECT_LE(samples::widest_line(text), 80U) << text;
  expect_golden("experiment_timing.txt", text);
}

TEST(describe_experiment, groups_configurations_under_what_they_are_compared_with) {
  std::vector<made_configuration> grid;
  for (const char* method : {"none", "sync"}) {
    for (const char* depth : {"1", "2"}) {
      const bool sync = method == std::string("sync");
      grid.push_back(
          made_of({{"timing", method}, {"in_flight", depth}}, taking(sync ? 90 * ms : 74 * ms)));
      grid.back().timing = sync ? timing_method::sync : timing_method::none;
      grid.back().change = [depth](run_record& run) { run.run.in_flight = std::stoi(depth); };
    }
  }
  auto record = made_experiment("sync_by_depth", grid, 10);
  record.pairs = {{{2, 0}, {0, 0}}, {{3, 0}, {1, 0}}};
  auto summary = figures_of(record);
  compare(summary, record, 0, verdict::slower);
  compare(summary, record, 1, verdict::slower);
  for (const std::size_t pair : {0, 1}) {
    summary.stage_comparisons.push_back({.pair = record.pairs[pair],
                                         .stage = 0,
                                         .difference = 16e6,
                                         .ratio = 1.25,
                                         .ratio_range = interval{1.2, 1.3},
                                         .verdict = verdict::slower});
  }
  const auto text = text_of(record, summary);
  EXPECT_LE(samples::widest_line(text), 80U) << text;
  expect_golden("experiment_groups.txt", text);
}

TEST(describe_experiment, has_a_row_for_each_of_several_pipelines) {
  made_configuration camera{"", {}, taking(12 * ms)};
  camera.times.backbone = 8 * ms;
  camera.times.noise = 3 * ms;
  camera.change = [](run_record& run) {
    put_on_schedule(run, 30);
    run.run.deadline = 15 * ms;
  };
  made_configuration batch{"", {}, taking(80 * ms)};
  auto slow_camera = camera;
  slow_camera.times.end_to_end = 18 * ms;
  auto slow_batch = batch;
  slow_batch.times.end_to_end = 95 * ms;
  auto slower_camera = slow_camera;
  slower_camera.times.end_to_end = 26 * ms;
  slower_camera.change = [change = camera.change](run_record& run) {
    change(run);
    run.run.priorities = false;
    run.load.dropped = {run.frames.back().due + 33 * ms};
  };
  auto batch_without = slow_batch;
  batch_without.change = [](run_record& run) { run.run.priorities = false; };

  experiment_record record;
  record.name = "together";
  record.description = "A camera with a deadline, beside a batch.";
  add_together(record, "camera alone", {{"camera", camera}});
  add_together(record, "batch alone", {{"batch", batch}});
  add_together(record, "together", {{"camera", slow_camera}, {"batch", slow_batch}});
  add_together(record, "together without priorities",
               {{"camera", slower_camera}, {"batch", batch_without}});
  record.pairs = {{{2, 0}, {0, 0}}, {{2, 1}, {1, 0}}, {{2, 0}, {3, 0}}, {{2, 1}, {3, 1}}};
  auto summary = figures_of(record);
  compare(summary, record, 0, verdict::slower);
  compare(summary, record, 1, verdict::slower);
  compare(summary, record, 2, verdict::faster);
  compare(summary, record, 3, verdict::same);
  add_comparison(summary, record, {0, figure::late, 0.95, 1, verdict::slower});
  add_comparison(summary, record, {2, figure::late, -0.004, 0.004, verdict::same});
  const auto text = text_of(record, summary);
  EXPECT_LE(samples::widest_line(text), 80U) << text;
  expect_golden("experiment_together.txt", text);
}

TEST(describe_experiment, shows_data_ages_and_reaction_times_of_chains_with_verdicts) {
  auto record = samples::made_chains({1, 0.8, 1});
  record.chains[0].age = 7 * ms;
  const auto text = text_of(record, summarize(record));
  EXPECT_LE(samples::widest_line(text), 80U) << text;
  expect_golden("experiment_chains.txt", text);
  // An overloaded source has no percentiles. Without comparisons, the interval is that of p50.
  samples::for_runs_of(record, 2, [](run_record& run) {
    if (run.pipeline != "camera") return;
    run.run.arrival = arrival::constant;
    for (std::size_t i = 0; i < run.frames.size(); ++i) {
      const auto due = static_cast<nanoseconds>(i) * 5 * ms;
      run.frames[i] = {due, 2 * due, 2 * due + 10 * ms};
    }
  });
  EXPECT_THAT(text_of(record, summarize(record)), ContainsRegex("\nbrake +3 +overloaded"));
  record.pairs.clear();
  EXPECT_THAT(text_of(record, summarize(record)),
              AllOf(HasSubstr("Data age of chains\n"), HasSubstr("95 % interval"),
                    Not(HasSubstr("change %")), Not(HasSubstr("simultaneous"))));
}

TEST(describe_experiment, says_what_pipelines_share_and_names_the_common_policy) {
  experiment_record record;
  auto camera = made_of({});
  camera.change = [](run_record& run) {
    run.run.strategy = strategy::overlap;
    run.run.policy = "deadline";
  };
  add_together(record, "one", {{"camera", camera}, {"batch", camera}});
  record.how.share = sharing::cpu;
  const auto text = text_of(record, figures_of(record));
  EXPECT_THAT(text, HasSubstr("(1 compute thread); share=cpu\n"));
  EXPECT_THAT(text, HasSubstr("policy=deadline"));
  record.how.horizon = 250'000'000;
  EXPECT_THAT(text_of(record, figures_of(record)), HasSubstr("share=cpu; horizon=250 ms\n"));
}

TEST(describe_experiment, has_streams_and_realtime_in_its_heading_if_all_runs_share_them) {
  const auto heading_with = [](const stream_choice& first, const stream_choice& second) {
    auto one = made_of({{"in_flight", "1"}});
    one.change = [&](run_record& run) { run.run.streams = first, run.run.realtime = 7; };
    auto two = made_of({{"in_flight", "2"}});
    two.change = [&](run_record& run) { run.run.streams = second, run.run.realtime = 7; };
    const auto record = made_experiment("streams", {one, two}, 2);
    return text_of(record, figures_of(record));
  };
  EXPECT_THAT(heading_with({.at_most = 3}, {.at_most = 3}), HasSubstr("streams=3, realtime=7"));
  const auto apart = heading_with({.at_most = 3}, {stream_rule::one});
  EXPECT_THAT(apart, HasSubstr("realtime=7"));
  EXPECT_THAT(apart, Not(HasSubstr("streams=")));
}

TEST(describe_experiment, says_overloaded_in_place_of_a_verdict_on_latency) {
  auto slow = made_of({{"rate", "10"}});
  slow.change = [](run_record& run) { put_on_schedule(run, 10); };
  auto fast = made_of({{"rate", "20"}});
  fast.change = [](run_record& run) {  // a frame is done every 74 ms
    put_on_schedule(run, 20);
    for (std::size_t i = 0; i < run.frames.size(); ++i) {
      run.frames[i].begin = static_cast<nanoseconds>(i) * 74 * ms;
      run.frames[i].end = run.frames[i].begin + 74 * ms;
    }
  };
  auto record = made_experiment("loads", {slow, fast}, 6);
  const auto text = text_of(record, summarize(record));
  EXPECT_THAT(text, ContainsRegex("\n20 +overloaded"));
  EXPECT_THAT(text, HasSubstr("\noverloaded: latency grows with the run's length\n"));
  EXPECT_THAT(text, ContainsRegex("overloaded: completed 13\\.5[0-9]* of 20 offered"));
  EXPECT_THAT(text, Not(HasSubstr("too few frames")));
  EXPECT_THAT(text, Not(HasSubstr("-: not known")));
  std::swap(record.pairs[0].what, record.pairs[0].reference);
  EXPECT_THAT(text_of(record, summarize(record)), ContainsRegex("\n10 .* baseline overloaded"));
}

TEST(describe_experiment, says_how_many_trials_would_decide) {
  const auto record = made_experiment("wide", {{"first"}, {"again"}}, 10);
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.001, 3000, verdict::inconclusive, 2475});
  EXPECT_THAT(text_of(record, summary),
              AllOf(HasSubstr("-99.9 to +299900  inconclusive"), HasSubstr("2475")));
}

TEST(describe_experiment, names_the_trial_that_failed) {
  auto record = made_experiment("broken",
                                {{"one by one", {{"strategy", "serial"}}, taking(87 * ms)},
                                 {"at once", {{"strategy", "overlap"}}, taking(73 * ms)}},
                                7);
  auto& failed = record.trials.back().members.front();
  failed.frames.resize(12);
  failed.failure = "stage 'noise' failed in frame 12: the folder 'images' holds no JPEG file";
  record.stopped = "a trial of 'at once' failed";
  auto summary = figures_of(record);
  compare(summary, record, 0, verdict::faster);
  const auto text = text_of(record, summary);
  EXPECT_LE(samples::widest_line(text), 80U) << text;
  expect_golden("experiment_failed.txt", text);
}

TEST(describe_experiment, says_that_something_failed_where_no_trial_shows_it) {
  auto record = made_experiment("broken", {{"first"}, {"again"}}, 2);
  record.failure = record.stopped = "configuration 'again': the process of a trial is gone";
  EXPECT_THAT(text_of(record, figures_of(record)),
              HasSubstr("\nFAILED: configuration 'again': the process of a trial is gone\n"));
}

TEST(describe_experiment, without_a_complete_block_shows_what_there_is) {
  auto record = made_experiment(
      "cut_short", {strategy_of(strategy::serial, 87 * ms), strategy_of(strategy::async, 74 * ms)},
      1);
  record.trials.pop_back();
  record.interrupted = true;
  record.stopped = "interrupted";
  expect_golden("experiment_interrupted.txt", text_of(record, figures_of(record)));
}

TEST(describe_experiment, leaves_out_a_table_without_figures) {
  auto record = made_experiment("short", {made_of({{"a", "1"}}), made_of({{"a", "2"}})}, 1);
  for (auto& trial : record.trials) {
    auto& run = trial.members[0];
    run.frames.resize(1);
    run.frames[0].end = run.frames[0].begin;  // in no time: no throughput
  }
  const auto text = text_of(record, figures_of(record));
  EXPECT_THAT(text, Not(HasSubstr("Median end-to-end time")));
  EXPECT_THAT(text, Not(HasSubstr("Tail latency and throughput")));
}

TEST(describe_experiment, shows_that_none_was_dropped_beside_what_was) {
  auto record = made_experiment("e", {made_of({{"a", "1"}}), made_of({{"a", "2"}})}, 5);
  EXPECT_THAT(text_of(record, summarize(record)), Not(HasSubstr("dropped %")));
  samples::for_runs_of(record, 1, [](run_record& run) { run.load.dropped.push_back(1); });
  const auto text = text_of(record, summarize(record));
  EXPECT_THAT(text, ContainsRegex("dropped %\n1 .* 0\n2 .* 4.8\n"));
}

TEST(describe_experiment, counts_the_blocks_that_begin_before_the_time_limit) {
  experiment_plan planned;
  planned.name = "e";
  planned.configurations.resize(2);
  planned.how.trials = 50;
  const auto brief = [&](std::optional<nanoseconds> limit) {
    planned.how.time_limit = limit;
    return in_brief(planned, {1000 * ms, 3000 * ms});
  };
  EXPECT_EQ(brief({}), "e: 2 configurations, 50 trials each: about 3 min 20 s");
  EXPECT_EQ(brief(500 * ms), "e: 2 configurations, at most 50 trials each: about 4 s");
  EXPECT_EQ(brief(4000 * ms), "e: 2 configurations, at most 50 trials each: about 4 s");
  EXPECT_EQ(brief(4001 * ms), "e: 2 configurations, at most 50 trials each: about 8 s");
  EXPECT_EQ(brief(300'000 * ms), "e: 2 configurations, 50 trials each: about 3 min 20 s");
}

TEST(describe_experiment, gives_many_configurations_a_row_each) {
  std::vector<made_configuration> grid;
  for (const char* wait : {"spin", "yield", "block"}) {
    for (const char* graphs : {"off", "stage", "frame"}) {
      grid.push_back(made_of({{"wait", wait}, {"graphs", graphs}, {"in_flight", "1"}}));
    }
  }
  grid.front().times.end_to_end = 75 * ms;
  const auto record = made_experiment("waiting", grid, 10);
  auto summary = figures_of(record);
  for (std::size_t pair = 0; pair + 1 < grid.size(); ++pair) {
    compare(summary, record, pair, verdict::inconclusive, 30);
  }
  const auto text = text_of(record, summary);
  EXPECT_LE(samples::widest_line(text), 80U) << text;
  expect_golden("experiment_many.txt", text);
}

TEST(describe_experiment, of_too_few_blocks_gives_no_interval) {
  const auto record = made_experiment(
      "short", {strategy_of(strategy::serial, 87 * ms), strategy_of(strategy::async, 74 * ms)}, 3);
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0, 0, verdict::inconclusive, 2});
  EXPECT_THAT(text_of(record, summary),
              AllOf(HasSubstr("3 blocks: too few for intervals and verdicts, which need 5"),
                    HasSubstr("async          74.0     -14.9"), Not(HasSubstr("inconclusive")),
                    Not(HasSubstr("more trials")), Not(HasSubstr("bootstrap"))));
}

TEST(describe_experiment, says_what_was_left_out_and_why_it_ended) {
  auto record = made_experiment("steady", {{"first"}, {"again"}}, 10);
  record.how.repeat_affected = true;
  record.stopped = "the time limit of 90 s was reached";
  auto summary = figures_of(record);
  summary.machine.affected_blocks = {2};
  summary.trials_left_out = 2;
  compare(summary, record, 0, verdict::same);
  EXPECT_THAT(
      samples::sentences_of(describe(record, analyze(record, summary)), finding_severity::warning),
      AllOf(Contains("ended early: the time limit of 90 s was reached"),
            Contains("left out: 2 trials of incomplete or disturbed blocks")));
}

TEST(describe_experiment, counts_the_blocks_that_are_left) {
  auto record = made_experiment("steady", {{"first"}, {"again"}}, 10);
  record.how.repeat_affected = true;
  auto summary = figures_of(record);
  summary.machine.affected_blocks = {2, 3};
  summary.counted_blocks = 8;
  compare(summary, record, 0, verdict::same);
  EXPECT_THAT(text_of(record, summary), HasSubstr("bootstrap over 8 blocks"));
  summary.counted_blocks = 4;
  EXPECT_THAT(text_of(record, summary), HasSubstr("4 blocks: too few for intervals"));
}

TEST(describe_experiment, shows_names_as_printable_text) {
  const auto record = made_experiment("odd\x1b[31m", {{"a\nb"}, {"c"}}, 3);
  EXPECT_THAT(text_of(record, figures_of(record)),
              AllOf(HasSubstr("\na?b  "), Not(HasSubstr("\x1b"))));
}

TEST(describe_experiment, of_a_search_shows_the_answer_and_the_trade_off) {
  const auto says = describe(samples::searched());
  const auto& answer = part_of<facts>(says, "answer");
  EXPECT_EQ(samples::text(fact_of(answer, "settings").value), "graphs=frame");
  const auto& change = std::get<estimate>(fact_of(answer, "change").value.value);
  EXPECT_NEAR(change.value.value, -0.25, 0.01);
  EXPECT_TRUE(*change.low < -0.25 && -0.25 < *change.high);
  const auto& front = part_of<table>(says, "front");
  ASSERT_EQ(front.rows.size(), 2U) << "in_flight=2 is worse than graphs=frame in all three";
  EXPECT_EQ(samples::number(cell_of(front, "in_flight=4", "throughput")), 30);

  // All measured candidates by latency; those on the front have a line.
  const auto& drawn = std::get<sweep_chart>(part_of<chart>(says, "front_chart").drawn);
  EXPECT_EQ(drawn.parameter, "p50 ms");
  EXPECT_THAT(drawn.at, ElementsAre(60, 80, 90, 150));
  EXPECT_EQ(drawn.names[3], "in_flight=4, device memory 839 MB");
  using maybe = std::optional<double>;
  const auto& lines = drawn.panels.at(0).lines;
  EXPECT_THAT(lines.at(0).values, ElementsAre(maybe(16), maybe(), maybe(), maybe(30)));
  EXPECT_THAT(lines.at(1).values, ElementsAre(maybe(), maybe(12), maybe(15), maybe()));
  EXPECT_TRUE(lines[1].points && !lines[0].points);

  const auto text = as_text(says);
  EXPECT_THAT(text, HasSubstr("run: {graphs: frame}"));
  EXPECT_EQ(fact_of(part_of<facts>(says, "search"), "candidates").note,
            "1 skipped, 0 not reached in time, 1 failed");
  EXPECT_THAT(text, ContainsRegex("strategy=serial +stage 'a': out of memory +failed"));
}

TEST(describe_experiment, of_nothing_says_so) {
  EXPECT_EQ(samples::sentences_of(describe(experiment_record()), finding_severity::warning),
            std::vector<std::string>{"no trial was measured"});
}

}  // namespace
}  // namespace graphline::report
