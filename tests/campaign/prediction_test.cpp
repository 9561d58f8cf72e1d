#include "framework/campaign/predict/prediction.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/campaign/predict/source_times.hpp"
#include "tests/analysis/made_run.hpp"
#include "tests/campaign/drawn_pipelines.hpp"
#include "tests/run/list_scheduling.hpp"

namespace graphline {
namespace {

using namespace testing_plans;
using samples::made_run;
using ::testing::HasSubstr;

std::vector<std::vector<nanoseconds>> ends_of(const run_record& record) {
  std::vector<std::vector<nanoseconds>> ends(record.frames.size());
  for (std::size_t f = 0; f < ends.size(); ++f) {
    for (const stage_record& stage : record.stages) {
      ends[f].push_back((stage.on == side::cpu ? stage.cpu : stage.device)[f].end);
    }
    ends[f].push_back(record.frames[f].end);
  }
  return ends;
}

std::vector<std::vector<nanoseconds>> ends_of(const outcome& expected) {
  std::vector<std::vector<nanoseconds>> ends(expected.frames.size());
  for (std::size_t f = 0; f < ends.size(); ++f) {
    for (const span& stage : expected.stages[f]) ends[f].push_back(stage.end);
    ends[f].push_back(expected.frames[f].end);
  }
  return ends;
}

TEST(prediction, from_a_serial_run_is_what_an_independent_simulation_gives) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const drawn_pipeline drawn(seed);
    const drawn_run serial = drawn.under(strategy::serial, graph_mode::stage, 1);
    const run_record source = measured(serial);
    for (const strategy how : {strategy::serial, strategy::async, strategy::overlap}) {
      for (const std::size_t in_flight : {1U, 2U, 4U}) {
        if (how != strategy::overlap && in_flight > 1)
          continue;  // the simulation has no rule for it
        const drawn_run wanted = drawn.under(how, graph_mode::stage, in_flight);
        const drawn_kinds kinds(wanted);
        const run_record predicted =
            predict(kinds.planned(), {{"s.json", source}}, exact_options());
        ASSERT_EQ(ends_of(predicted), ends_of(list_scheduling(wanted).carry_out()))
            << "seed " << seed << ", " << to_word(how) << ", " << in_flight << " in flight";
      }
    }
  }
}

TEST(prediction, of_the_settings_of_the_source_repeats_it_with_its_overheads) {
  const overheads of{.issue = 700, .wake_up = 20'000, .completion_delay = 30'000};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const drawn_pipeline drawn(seed);
    const auto how = seed % 2 == 0 ? strategy::serial : strategy::async;
    const drawn_run run = drawn.under(how, graph_mode::stage, 1);
    const run_record source = measured(run, of);
    const drawn_kinds kinds(run);
    const run_record predicted = predict(kinds.planned(), {{"s.json", source}}, exact_options());
    ASSERT_EQ(ends_of(predicted), ends_of(source)) << "seed " << seed;
  }
}

/// A device stage, two CPU stages that wait for it, and one for both of these.
drawn_pipeline diamond(std::size_t frames) {
  drawn_pipeline made(0, frames);
  made.run.planned = plan_of({side::device, side::cpu, side::cpu, side::cpu},
                             {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, streams);
  made.run.workers = 2;
  made.run.times.assign(frames, {1'000'000, 300'000, 200'000, 100'000});
  return made;
}

TEST(prediction, finds_the_overheads_of_its_source) {
  const drawn_pipeline drawn = diamond(20);
  const drawn_run run = drawn.under(strategy::overlap, graph_mode::stage, 1);
  const run_record source =
      measured(run, {.issue = 700, .wake_up = 20'000, .completion_delay = 30'000});
  const drawn_kinds kinds(run);
  const auto made = *predict(kinds.planned(), {{"s.json", source}}, exact_options()).prediction;
  EXPECT_EQ(made.wake_up, 20'000);
  EXPECT_EQ(made.completion_delay, 30'000);
  EXPECT_EQ(made.device_start, 0);
}

TEST(prediction, takes_the_times_of_another_device_only_if_it_is_equal) {
  const drawn_run run = diamond(20).under(strategy::overlap, graph_mode::stage, 1);
  run_record source = measured(run);
  const drawn_kinds kinds(run);
  plan placed = kinds.planned();
  const auto refusal = [&]() -> std::string {
    try {
      predict(placed, {{"s.json", source}}, exact_options());
    } catch (const input_error& e) {
      return e.what();
    }
    return "none";
  };
  placed.devices.resize(2);
  placed.devices[0].name = "a";
  placed.devices[1].name = "b";
  EXPECT_THAT(refusal(), HasSubstr("its devices are one that is not declared, those of the "
                                   "pipeline are a, b"));
  source.devices = {{"a", source.device}, {"b", source.device}};
  source.devices[1].properties.compute_threads = 2;
  placed.stages[0].device = 1;
  EXPECT_THAT(refusal(), HasSubstr("stage '0' ran on device 'a' there, and 'b' has other times"));
  placed.stages[0].device = 0;
  EXPECT_EQ(refusal(), "none");
  placed.devices[1].threads = 3;
  EXPECT_THAT(refusal(), HasSubstr("device 'b' had 2 threads there, but has 3 in the pipeline"));
  placed.devices[1].backend = "other";
  EXPECT_THAT(refusal(), HasSubstr("device 'b' was host there, but is other in the pipeline"));
}

TEST(prediction, takes_the_start_of_work_only_if_no_device_was_busy) {
  made_run source(strategy::overlap);
  source.device_stage("a", {}, "left").device_stage("b", {}, "right");
  source.record.devices = {{"left", source.record.device}, {"right", source.record.device}};
  source.record.stages[1].device_index = 1;
  // b is launched while a runs, and waits for it.
  source.frame(0, 500).launch(0, 10, 20).device(0, 27, 300).launch(1, 30, 40).device(1, 310, 400);
  EXPECT_EQ(overheads_of({{"s.json", source.record}}).device_restart, 7);
  // Then a has just worked, and b has slept.
  source.frame(100'000, 200'000).launch(0, 100'000, 100'001).device(0, 100'021, 120'000);
  source.launch(1, 120'010, 120'020).device(1, 120'050, 130'000);
  source.frame(200'000, 300'000).launch(0, 130'010, 130'020).device(0, 130'024, 140'000);
  const source_overheads found = overheads_of({{"s.json", source.record}});
  EXPECT_EQ(found.device_start, 20);   // of 20 and 30
  EXPECT_EQ(found.device_restart, 4);  // of 7 and 4
}

TEST(prediction, takes_sources_of_equal_devices_only) {
  const drawn_run run = diamond(20).under(strategy::overlap, graph_mode::stage, 1);
  const run_record source = measured(run);
  run_record other = source;
  other.device.compute_threads += 1;
  const drawn_kinds kinds(run);
  try {
    predict(kinds.planned(), {{"s.json", source}, {"t.json", other}}, exact_options());
    FAIL();
  } catch (const input_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("t.json: measured with another device than s.json"));
  }
}

TEST(prediction, warns_that_it_ignores_cores_and_realtime) {
  const drawn_run run = diamond(20).under(strategy::overlap, graph_mode::stage, 1);
  const run_record source = measured(run);
  const drawn_kinds kinds(run);
  plan placed = kinds.planned();
  EXPECT_TRUE(predict(placed, {{"s.json", source}}, exact_options()).warnings.empty());
  placed.stages[2].cores = {1};
  placed.run.realtime = 5;
  const auto warnings = predict(placed, {{"s.json", source}}, exact_options()).warnings;
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0], "'cores' of stage '" + placed.stages[2].name +
                             "' is ignored: in the prediction, it runs on any core");
  EXPECT_EQ(warnings[1],
            "realtime: 5 is ignored: stages take the times that they had where they were measured");
}

TEST(prediction, takes_the_delay_of_completions_for_a_wake_up_that_its_source_lacks) {
  const drawn_pipeline drawn = diamond(20);
  const run_record source = measured(drawn.under(strategy::serial, graph_mode::stage, 1),
                                     {.issue = 0, .wake_up = 0, .completion_delay = 30'000});
  const drawn_run wanted = drawn.under(strategy::overlap, graph_mode::stage, 1);
  const drawn_kinds kinds(wanted);
  const run_record predicted = predict(kinds.planned(), {{"s.json", source}}, exact_options());
  EXPECT_EQ(predicted.prediction->wake_up, 30'000);
  // The device stage, its completion, a wake-up, the longer of the two and the last stage.
  EXPECT_EQ(predicted.frames[0].end, 1'000'000 + 30'000 + 30'000 + 300'000 + 100'000);
}

TEST(prediction, does_without_the_causes_and_threads_that_a_damaged_source_lacks) {
  const drawn_pipeline drawn = diamond(20);
  const drawn_run run = drawn.under(strategy::overlap, graph_mode::stage, 1);
  run_record source = measured(run, {.issue = 0, .wake_up = 20'000, .completion_delay = 0});
  for (stage_record& stage : source.stages) {
    stage.seen.clear();
    stage.threads.clear();
  }
  const drawn_kinds kinds(run);
  const auto made = *predict(kinds.planned(), {{"s.json", source}}, exact_options()).prediction;
  EXPECT_EQ(made.wake_up, 0);
  EXPECT_EQ(made.completion_delay, 0);
}

TEST(prediction, scales_a_stage_and_adds_cores) {
  const drawn_pipeline drawn = diamond(20);
  drawn_run one_core = drawn.under(strategy::overlap, graph_mode::stage, 1);
  one_core.workers = 1;
  const run_record source = measured(one_core);
  const drawn_kinds kinds(one_core);
  auto options = exact_options();
  EXPECT_EQ(predict(kinds.planned(), {{"s.json", source}}, options).frames[0].end, 1'600'000);
  plan two_workers = kinds.planned();
  two_workers.run.workers = 2;
  EXPECT_EQ(predict(two_workers, {{"s.json", source}}, options).frames[0].end, 1'400'000);
  options.cores = 1;
  EXPECT_EQ(predict(two_workers, {{"s.json", source}}, options).frames[0].end, 1'600'000);
  options.cores = 2;
  EXPECT_EQ(predict(kinds.planned(), {{"s.json", source}}, options).frames[0].end, 1'400'000);
  options.scale = {{"0", 0.5}, {"2", 2.0}};
  EXPECT_EQ(predict(kinds.planned(), {{"s.json", source}}, options).frames[0].end, 1'000'000);
}

TEST(prediction, tells_what_a_faster_stage_gains) {
  const drawn_pipeline drawn = diamond(20);
  const drawn_run run = drawn.under(strategy::overlap, graph_mode::stage, 1);
  const drawn_kinds kinds(run);
  auto options = exact_options();
  options.sensitivity = true;
  const auto made = *predict(kinds.planned(), {{"s.json", measured(run)}}, options).prediction;
  ASSERT_EQ(made.sensitivity.size(), 4U);
  // 1,400,000 ns: the device stage, the longer of two CPU stages, and the last one.
  const nanoseconds expected[] = {1'300'000, 1'370'000, 1'400'000, 1'390'000};
  for (std::size_t s = 0; s < 4; ++s) {
    EXPECT_EQ(made.sensitivity[s].mean, expected[s]) << s;
    EXPECT_EQ(made.sensitivity[s].p50, expected[s]) << s;
    EXPECT_EQ(made.sensitivity[s].p95, std::nullopt) << s;  // 20 frames are too few
  }
}

/// Runs whose stages have times with a correlation of 0.6 from one frame to the next.
drawn_run correlated(std::uint64_t seed, std::size_t frames) {
  drawn_pipeline drawn = diamond(frames);
  std::mt19937_64 bits(seed);
  double level = 0;
  for (auto& frame : drawn.run.times) {
    level = 0.6 * level + uniform_unit(bits) - 0.5;
    for (nanoseconds& time : frame) {
      time = std::llround(static_cast<double>(time) * (1 + 0.2 * level + 0.1 * uniform_unit(bits)));
    }
  }
  return drawn.under(strategy::overlap, graph_mode::stage, 2);
}

TEST(prediction, has_intervals_that_hold_the_figures_of_real_runs) {
  std::map<std::string, int> held;
  constexpr int trials = 60;
  for (int trial = 0; trial < trials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(trial);
    const drawn_run source = correlated(mix_seed(1, seed), 200);
    const drawn_run real = correlated(mix_seed(2, seed), 100);
    const drawn_kinds kinds(real);
    const auto predicted = predict(kinds.planned(), {{"s.json", measured(source)}});
    const auto sample = distribution::of(end_to_end_times(measured(real)));
    const std::map<std::string, double> figures = {
        {"mean", sample->mean()},
        {"p50", static_cast<double>(*sample->percentile(0.5))},
        {"p95", static_cast<double>(*sample->percentile(0.95))}};
    for (const auto& [name, value] : figures) {
      const predicted_figure* const figure = figure_of(*predicted.prediction, name);
      ASSERT_NE(figure, nullptr);
      if (figure->low <= value && value <= figure->high) ++held[name];
    }
  }
  EXPECT_GE(held["mean"], trials * 88 / 100);
  EXPECT_GE(held["p50"], trials * 88 / 100);
  EXPECT_GE(held["p95"], trials * 80 / 100);  // a source of 200 frames has 10 beyond its p95
}

TEST(prediction, from_several_runs_holds_a_run_that_differs_from_each) {
  int held = 0;
  constexpr int trials = 60;
  std::mt19937_64 bits(1);
  const auto run_at = [&bits](double spread) {
    const drawn_run drawn = correlated(bits(), 60);
    drawn_run slower = drawn;
    const double factor = std::exp(spread * (uniform_unit(bits) - 0.5));
    for (auto& frame : slower.times) {
      for (nanoseconds& time : frame) time = std::llround(static_cast<double>(time) * factor);
    }
    return slower;
  };
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<prediction_source> sources;
    for (const char* name : {"a", "b", "c", "d"}) sources.push_back({name, measured(run_at(0.4))});
    const drawn_run real = run_at(0.4);
    const drawn_kinds kinds(real);
    const auto predicted = predict(kinds.planned(), sources);
    EXPECT_EQ(predicted.prediction->source_frames, 4 * 60);
    const auto sample = distribution::of(end_to_end_times(measured(real)));
    const predicted_figure* const figure = figure_of(*predicted.prediction, "mean");
    ASSERT_NE(figure, nullptr);
    if (figure->low <= sample->mean() && sample->mean() <= figure->high) ++held;
  }
  EXPECT_GE(held, trials * 90 / 100);
  EXPECT_LT(held, trials);
}

TEST(prediction, replays_an_equal_part_of_each_source) {
  const auto source_of = [](nanoseconds first) {
    drawn_pipeline drawn = diamond(10);
    for (auto& frame : drawn.run.times) frame.front() = first;
    return measured(drawn.under(strategy::serial, graph_mode::stage, 1));
  };
  const drawn_run wanted = diamond(6).under(strategy::serial, graph_mode::stage, 1);
  const drawn_kinds kinds(wanted);
  const run_record predicted =
      predict(kinds.planned(), {{"a.json", source_of(1'000)}, {"b.json", source_of(2'000)}},
              exact_options());
  EXPECT_THAT(lengths(predicted.stages.front().device),
              testing::ElementsAre(1'000, 1'000, 1'000, 2'000, 2'000, 2'000));
}

TEST(prediction, is_the_same_each_time) {
  const drawn_run run = correlated(3, 100);
  const drawn_kinds kinds(run);
  const run_record source = measured(run);
  const auto first = predict(kinds.planned(), {{"s.json", source}});
  const auto second = predict(kinds.planned(), {{"s.json", source}});
  EXPECT_EQ(ends_of(first), ends_of(second));
  ASSERT_EQ(first.prediction->figures.size(), second.prediction->figures.size());
  for (std::size_t i = 0; i < first.prediction->figures.size(); ++i) {
    EXPECT_EQ(first.prediction->figures[i].low, second.prediction->figures[i].low);
    EXPECT_EQ(first.prediction->figures[i].high, second.prediction->figures[i].high);
  }
}

/// Returns the message with which a prediction from a changed source is refused.
std::string refusal(const std::function<void(run_record&, plan&)>& change,
                    const prediction_options& options = {}) {
  const drawn_pipeline drawn = diamond(10);
  const drawn_run run = drawn.under(strategy::overlap, graph_mode::stage, 1);
  run_record source = measured(run);
  const drawn_kinds kinds(run);
  plan wanted = kinds.planned();
  change(source, wanted);
  try {
    predict(wanted, {{"s.json", source}}, options);
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

prediction_options scaling_nothing() {
  prediction_options options;
  options.scale = {{"resnet", 0.5}};
  return options;
}

TEST(prediction, refuses_sources_that_ran_side_by_side_or_under_different_settings) {
  const drawn_pipeline drawn = diamond(20);
  const drawn_run serial = drawn.under(strategy::serial, graph_mode::stage, 1);
  const drawn_kinds kinds(serial);
  const run_record source = measured(serial);
  const auto why_not = [&](const std::vector<prediction_source>& sources) -> std::string {
    try {
      predict(kinds.planned(), sources, exact_options());
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  run_record at_once = source;  // its stages end long after the next begin
  for (stage_record& stage : at_once.stages) {
    stage.busy.clear();
    for (stamp_pair& stamps : stage.device) stamps.end += 2'000'000;
  }
  for (frame_record& frame : at_once.frames) frame.end += 2'000'000;
  EXPECT_THAT(why_not({{"s.json", at_once}}), HasSubstr("side by side"));
  EXPECT_EQ(why_not({{"s.json", source}, {"s.json", source}}),
            "s.json: named twice; each source is a run of its own");
  const run_record other = measured(drawn.under(strategy::async, graph_mode::stage, 1));
  EXPECT_EQ(why_not({{"s.json", source}, {"o.json", other}}),
            "o.json: measured with another strategy than s.json; all results must be of the same "
            "settings "
            "on the same machine");
}

TEST(prediction, refuses_a_source_that_lacks_what_it_needs) {
  EXPECT_THAT(refusal([](run_record& source, plan&) { source.run.timing = timing_method::none; }),
              HasSubstr("s.json: cannot use the stage times of this run: it was measured with "
                        "timing=none, expected event; measure it with --timing event"));
  EXPECT_THAT(refusal([](run_record& source, plan&) { source.stages[1].name = "other"; }),
              HasSubstr("it has no stage '1'; measure the pipeline again"));
  EXPECT_THAT(refusal([](run_record& source, plan&) { source.stages[1].kind = "cpu.spin"; }),
              HasSubstr("stage '1' is of kind 'cpu.spin' there, but 'drawn.cpu' in the pipeline"));
  EXPECT_THAT(refusal([](run_record& source, plan&) {
                source.stages[0].busy.clear();
                source.stages[0].device.clear();
              }),
              HasSubstr("it has no times of stage '0'; measure the pipeline again"));
  EXPECT_THAT(
      refusal([](run_record& source, plan&) {
        source.pipeline = "other";
        source.stages.clear();
      }),
      HasSubstr("cannot use the stage times of this run of pipeline 'other': it has no stage"));
  EXPECT_THAT(refusal([](run_record& source, plan&) { source.failure = "it broke"; }),
              HasSubstr("it failed"));
  EXPECT_THAT(refusal([](run_record& source, plan&) { source.stages[1].cpu[0].end = -1; }),
              HasSubstr("some of its times end before they begin"));
  EXPECT_THAT(refusal([](run_record& source, plan&) { source.prediction.emplace(); }),
              HasSubstr("it is itself a prediction; use a measured run"));
  EXPECT_THAT(refusal([](run_record& source, plan&) { source.frames.resize(4); }),
              HasSubstr("it has 4 complete frames, and 5 are needed"));
  EXPECT_THAT(
      refusal([](run_record&, plan& wanted) { wanted.run.batch_frames = 2; }),
      HasSubstr("batch_frames: 2: results have no times of batches of frames; set it to 1"));
  EXPECT_THAT(refusal([](run_record& source, plan& wanted) {
                source.tensors.emplace_back().name = "x";
                source.tensors.back().type = {{1}, dtype::float32};
                wanted.tensors.emplace_back().name = "x";
                wanted.tensors.back().type = {{2}, dtype::float32};
              }),
              HasSubstr("tensor 'x' is float32 [1] there, but float32 [2] in the pipeline"));
  EXPECT_THAT(refusal([](run_record&, plan&) {}, scaling_nothing()),
              HasSubstr("--scale resnet: the pipeline has no such stage"));
}

}  // namespace
}  // namespace graphline
