#include "framework/analysis/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::ms;
using ::testing::DoubleNear;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string refusal(std::string_view text, gated what = gated::run) {
  try {
    parse_gate(text, what);
  } catch (const input_error& problem) {
    return problem.what();
  }
  ADD_FAILURE() << text << " was taken";
  return "";
}

TEST(parse_gate, accepts_every_metric_of_a_run) {
  for (const char* metric : {"p50", "p90", "p95", "p99", "p99.9", "p99.99", "mean", "max"}) {
    const auto made = parse_gate(std::string(" ") + metric + " > 1.5us ", gated::run);
    EXPECT_EQ(made.text, std::string(metric) + ">1.5us");
    EXPECT_EQ(made.metric, metric);
    EXPECT_EQ(made.limit, 1500);
  }
  EXPECT_EQ(parse_gate("late>0.5%", gated::run).limit, 0.005);
  EXPECT_EQ(parse_gate("slower>250%", gated::comparison).limit, 2.5);
  EXPECT_EQ(parse_gate("slower>0%", gated::comparison).limit, 0);
}

TEST(parse_gate, names_the_option_and_what_it_expects) {
  EXPECT_EQ(refusal("p98>20ms"),
            "--fail-if 'p98>20ms': unknown metric 'p98' (known: p50, p90, p95, p99, p99.9, p99.99, "
            "mean, max, late, device_memory, error)");
  EXPECT_EQ(refusal("p99"),  // what remains of an unquoted p99>20ms in a shell
            "--fail-if 'p99': expected METRIC > LIMIT, in quotes for the shell: 'p99>20ms'");
  EXPECT_THAT(refusal("slower<5%", gated::comparison), HasSubstr("'slower>5%'"));
  EXPECT_EQ(refusal("inconclusive>5%", gated::comparison),
            "--fail-if 'inconclusive>5%': 'inconclusive' has no limit; write it alone");
  for (const char* limit : {"", "20", "ms", "0ms", "-1ms", "=20ms", "20ms>1", "5%", "nan ms"}) {
    EXPECT_THAT(refusal(std::string("p99>") + limit), HasSubstr("expected a time above zero"));
  }
  for (const char* limit : {"", "1", "100%", "-1%", "nan%", "inf%", "1%%", "1ms"}) {
    EXPECT_THAT(refusal(std::string("late>") + limit), HasSubstr("a percentage below 100%"));
  }
}

TEST(parse_gate, accepts_only_points_for_late_frames) {
  EXPECT_EQ(parse_gate("late>2points", gated::comparison).limit, 0.02);
  EXPECT_EQ(parse_gate("late > 0.5 points", gated::comparison).limit, 0.005);
  for (const auto* text : {"late>2%", "late>2", "late>points", "late>-1points", "late>100points"}) {
    EXPECT_THAT(refusal(text, gated::comparison), HasSubstr("late>2points")) << text;
  }
}

gate_result of_run(const std::string& condition, const run_record& record) {
  return judge(parse_gate(condition, gated::run), record, summarize(record));
}

/// Frames of 1, 2, 3, ... ms.
run_record counting(std::size_t frames) {
  run_record record;
  for (std::size_t i = 0; i < frames; ++i) {
    const auto begin = static_cast<nanoseconds>(i * 1000) * ms;
    record.frames.push_back({begin, begin, begin + static_cast<nanoseconds>(i + 1) * ms});
  }
  return record;
}

TEST(gate_of_a_run, fails_above_the_limit_and_not_at_it) {
  const auto record = counting(100);
  for (const auto& [metric, value] :
       {std::pair("p50", 50.0), {"p90", 90.0}, {"p95", 95.0}, {"max", 100.0}, {"mean", 50.5}}) {
    const auto at = of_run(metric + (">" + std::to_string(value)) + "ms", record);
    EXPECT_EQ(at.outcome, gate_outcome::passed) << metric;
    EXPECT_THAT(at.value->value, DoubleNear(value * ms, 1)) << metric;
    const auto below = of_run(metric + (">" + std::to_string(value - 0.001)) + "ms", record);
    EXPECT_EQ(below.outcome, gate_outcome::failed) << metric;
  }
}

TEST(gate_of_a_run, is_not_judged_by_too_few_frames) {
  const auto found = of_run("p99>1s", counting(298));
  EXPECT_EQ(found.outcome, gate_outcome::not_judged);
  EXPECT_EQ(found.why, "p99 needs 299 frames, the run has 298");
  EXPECT_EQ(of_run("p99>1s", counting(299)).outcome, gate_outcome::passed);
  EXPECT_EQ(of_run("max>1s", run_record()).outcome, gate_outcome::not_judged);
}

TEST(gate_of_a_run, explains_before_the_run_why_it_cannot_judge) {
  plan planned;
  settings& run = planned.run;
  const auto why = [&planned](const char* text) {
    return why_never_judged(parse_gate(text, gated::run), planned);
  };
  run.frames = 298;
  EXPECT_EQ(why("p99>1s"), "p99 needs 299 frames, the run has 298");
  EXPECT_EQ(why("p50>1s"), "");
  EXPECT_EQ(why("max>1s"), "");
  EXPECT_THAT(why("late>1%"), HasSubstr("has no deadline"));
  run.frames = 299;
  run.deadline = 20 * ms;
  EXPECT_EQ(why("p99>1s"), "");
  EXPECT_EQ(why("late>1%"), "");
}

TEST(gate_of_a_run, refuses_a_stage_that_is_unknown_or_not_timed) {
  plan planned;
  planned.stages.emplace_back().name = "detect";
  const auto why = [&planned](const char* text) {
    return why_never_judged(parse_gate(text, gated::run), planned);
  };
  EXPECT_EQ(why("detect.max>1s"), "");
  EXPECT_EQ(why("detct.max>1s"), "the pipeline has no stage 'detct' (did you mean 'detect'?)");
  planned.run.frames = 10;
  EXPECT_EQ(why("detect.p99.9>1s"), "p99.9 needs 2995 frames, the stage has 10");
  planned.run.timing = timing_method::none;
  EXPECT_EQ(why("detect.max>1s"), "timing=none measures no stage times");
  EXPECT_EQ(why("max>1s"), "");
}

TEST(gate_of_a_run, judges_the_times_of_a_stage) {
  auto record = counting(100);
  auto& stage = record.stages.emplace_back();
  stage.name = "a.p99";  // a name may contain a point
  stage.on = side::cpu;
  for (const auto& frame : record.frames) {
    stage.cpu.push_back({frame.begin, frame.begin + (frame.end - frame.begin) / 10});
  }
  EXPECT_EQ(of_run("a.p99.max>10ms", record).outcome, gate_outcome::passed);
  const auto above = of_run("a.p99.p50 > 4.999ms", record);
  EXPECT_EQ(above.outcome, gate_outcome::failed);
  EXPECT_EQ(above.condition.text, "a.p99.p50>4.999ms");
  EXPECT_EQ(above.value->value, 5 * ms);
  EXPECT_EQ(of_run("b.max>1s", record).outcome, gate_outcome::not_judged);
}

TEST(gate_of_a_run, limits_device_memory) {
  auto record = counting(1);
  record.memory.device_bytes = 2ULL << 30;
  EXPECT_EQ(of_run("device_memory>2GiB", record).outcome, gate_outcome::passed);
  EXPECT_EQ(of_run("device_memory>2047MiB", record).outcome, gate_outcome::failed);
  EXPECT_THAT(refusal("device_memory>2GB"), HasSubstr("device_memory>2GiB"));
}

TEST(gate_of_a_run, limits_the_error_of_outputs) {
  auto record = counting(1);
  record.outputs.resize(2);
  record.outputs[0].tensor = "a";
  record.outputs[1].tensor = "b";
  EXPECT_EQ(of_run("error>1e-3", record).outcome, gate_outcome::not_judged);
  record.outputs[0].relative_error = 1e-4;
  record.outputs[1].relative_error = 2e-3;
  EXPECT_EQ(of_run("error>2e-3", record).outcome, gate_outcome::passed);
  const auto above = of_run("error>1e-3", record);
  EXPECT_EQ(above.outcome, gate_outcome::failed);
  EXPECT_EQ(above.why, "0.002 in output 'b'");
  record.outputs[0].relative_error = most_error;
  EXPECT_EQ(of_run("error>1e300", record).why, "output 'a' has NaN or infinity in other places");
  EXPECT_THAT(refusal("error>1%"), HasSubstr("expected a number above zero after '>'"));
}

TEST(gate_of_a_run, counts_dropped_frames_as_late) {
  auto record = counting(8);
  EXPECT_THAT(of_run("late>1%", record).why, HasSubstr("has no deadline"));
  EXPECT_EQ(of_run("late>1%", record).outcome, gate_outcome::not_judged);
  record.run.deadline = 7 * ms;
  record.load.dropped = {1, 2};
  const auto late = of_run("late>29.9%", record);
  EXPECT_EQ(late.outcome, gate_outcome::failed);
  EXPECT_EQ(late.why, "3 of 10 frames");
  EXPECT_EQ(of_run("late>30%", record).outcome, gate_outcome::passed);
}

TEST(gate_of_a_run, is_not_judged_if_the_run_did_not_complete) {
  auto record = counting(100);
  record.interrupted = true;
  EXPECT_EQ(of_run("p50>1ms", record).why, "the run was interrupted");
  record.failure = "stage 'read', frame 4: no more";
  EXPECT_EQ(of_run("p50>1s", record).outcome, gate_outcome::not_judged);
  EXPECT_EQ(of_run("p50>1s", record).why, "the run failed: stage 'read', frame 4: no more");
}

TEST(gate_of_a_run, excludes_frames_delayed_by_a_standstill) {
  auto record = counting(100);
  record.run.deadline = 100 * ms;
  record.frames[9].end += 700 * ms;
  record.load.dropped = {record.frames[9].due + 300 * ms};
  EXPECT_EQ(of_run("max>100ms", record).outcome, gate_outcome::failed);
  EXPECT_EQ(of_run("late>1%", record).outcome, gate_outcome::failed);
  record.conditions.emplace().standstills = {{record.frames[9].begin + ms, 690 * ms}};
  for (const auto* condition : {"max>100ms", "late>0%"}) {
    const auto found = of_run(condition, record);
    EXPECT_EQ(found.outcome, gate_outcome::passed) << condition;
    EXPECT_THAT(found.why, EndsWith("without 1 frame held up while the process stood still"));
  }
  EXPECT_EQ(of_run("max>99ms", record).outcome, gate_outcome::failed);
  EXPECT_EQ(of_run("mean>50.91ms", record).outcome, gate_outcome::passed);
  EXPECT_EQ(of_run("mean>50.90ms", record).outcome, gate_outcome::failed);
  record.frames.resize(9);
  EXPECT_EQ(of_run("max>9ms", record).why, "");  // the standstill delayed no frame
  record.conditions->standstills = {{0, 9'000'000 * ms}};
  EXPECT_EQ(of_run("max>9ms", record).outcome, gate_outcome::not_judged);
  EXPECT_EQ(of_run("max>9ms", record).why, "the process stood still, which held up all frames");
}

TEST(gate_of_a_run, does_not_pass_an_overloaded_run) {
  auto record = samples::overloaded_two_models(100);
  record.run.deadline = 3600'000 * ms;
  for (const char* condition : {"p50>1000s", "mean>1000s", "max>1000s", "late>5%"}) {
    EXPECT_EQ(of_run(condition, record).outcome, gate_outcome::not_judged) << condition;
    EXPECT_THAT(of_run(condition, record).why, HasSubstr("overloaded")) << condition;
  }
  for (const char* condition : {"max>1ms", "p50>1ms", "p95>1ms", "mean>1ms"}) {
    EXPECT_EQ(of_run(condition, record).outcome, gate_outcome::failed) << condition;
  }
}

}  // namespace
}  // namespace graphline
