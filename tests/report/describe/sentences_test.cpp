#include "framework/report/sentences.hpp"

#include <gtest/gtest.h>

namespace graphline::report {
namespace {

finding far_away() {
  return finding{"far_from_roofline", finding_severity::note, {"net"}}
      .with("measured", quantity{200e6, unit::duration})
      .with("bound", std::string("memory"))
      .with("roofline_time", quantity{250e3, unit::duration})
      .with("ratio", quantity{800, unit::ratio})
      .with("share_of_critical_path", quantity{0.9, unit::share});
}

TEST(sentence, has_the_figures_in_their_units) {
  EXPECT_EQ(sentence(far_away()),
            "look at 'net' first: measured 200 ms, memory bound 250 us, 800x roofline; 90 % of the "
            "critical path");
}

TEST(sentence, leaves_out_what_is_not_known) {
  auto found = far_away();
  found.with("part", std::string("1.gelu")).with("part_measured", quantity{590e3, unit::duration});
  EXPECT_EQ(sentence(found), sentence(far_away())) << "not all of the clause is known";
  found.with("part_bound", std::string("memory"));
  found.with("part_roofline_time", quantity{100e3, unit::duration});
  EXPECT_TRUE(
      sentence(found).ends_with("; most of the excess of its parts is in '1.gelu': measured "
                                "590 us, memory bound 100 us"));
}

TEST(sentence, lists_subjects_and_agrees_with_their_number) {
  const auto near = [](std::vector<std::string> names) {
    return sentence(finding{"near_roofline", finding_severity::note, std::move(names)}.with(
        "ratio", quantity{1.1, unit::ratio}));
  };
  EXPECT_TRUE(near({"x"}).starts_with("'x' is within 1.10x roofline")) << near({"x"});
  EXPECT_TRUE(near({"x", "y"}).starts_with("'x' and 'y' are within"));
  EXPECT_TRUE(near({"a", "b", "c", "d"}).starts_with("'a', 'b', 'c' and 'd' are"));
  EXPECT_TRUE(near({"a", "b", "c", "d", "e"}).starts_with("'a', 'b', 'c' and 2 more are"));
}

TEST(sentence, of_a_warning_that_a_run_wrote_down_is_its_text) {
  EXPECT_EQ(sentence(finding{"", finding_severity::warning}.with("text", std::string("x"))),
            "x");
}

TEST(sentence, of_a_finding_without_words_is_its_key) {
  EXPECT_EQ(sentence(finding{"new_key"}), "new_key");
  EXPECT_EQ(sentence(finding{"near_roofline", finding_severity::note, {"x"}}), "near_roofline");
}

// Of an experiment: every key, with the figures that its analysis gives.

quantity ms(double value) {
  return {value * 1e6, unit::duration};
}

quantity change(double value) {
  return {value, unit::change};
}

/// `to` with the configurations it is about.
finding in(finding to, const char* configurations) {
  return to.with("configurations", configurations);
}

finding with_cases(std::string_view key, std::vector<finding> cases) {
  finding made{key};
  made.cases = std::move(cases);
  return made;
}

TEST(experiment_sentences, tell_the_load) {
  const auto rates = [](const char* configurations) {
    return in(finding{"rates_of"}.with("rates", "12 of 30 offered frame/s"), configurations);
  };
  EXPECT_EQ(sentence(with_cases("overloaded_in", {rates("a and b"), rates("c")})),
            "overloaded: completed 12 of 30 offered frame/s in a and b; 12 of 30 offered frame/s "
            "in c");
  const auto frames = finding{"frames_of"}.with("frames", 6).with("due", 66);
  EXPECT_EQ(sentence(with_cases("frames_dropped", {in(frames, "a")})),
            "frames dropped by a full queue, so that no percentile counts them: 6 of 66 in a");
  EXPECT_EQ(sentence(with_cases("queue_full", {in(frames, "a")})),
            "arrivals that found the queue full: 6 of 66 in a");
  const auto late = in(finding(frames).with("median_late", ms(1.5)), "a");
  EXPECT_EQ(sentence(with_cases("late_frames", {late})),
            "frames that missed their deadline, and by how much (median): 6 of 66 by 1.50 ms in a");
  EXPECT_TRUE(sentence(with_cases("queue_full", std::vector<finding>(8, in(frames, "a"))))
                  .ends_with("; 6 of 66 in a; and 3 more"));
}

TEST(experiment_sentences, tell_what_timing_costs) {
  finding cost{"timing_adds_time"};
  cost.with("method", "sync").with("cost", ms(16)).with("change", change(0.216));
  cost.with("low", ms(-0.5)).with("high", ms(16.5)).with("largest_change", change(0.22));
  EXPECT_EQ(sentence(cost),
            "sync adds 16.0 ms to a frame (+21.6 %), 95 % interval -500 us to 16.5 ms");
  cost.key = "timing_cost_not_visible";
  EXPECT_EQ(sentence(cost),
            "sync: 16.0 ms (+21.6 %), 95 % interval -500 us to 16.5 ms includes zero: no cost "
            "visible; more than 16.5 ms (+22.0 %) would show");
  cost.key = "timing_shortens_frame";
  EXPECT_TRUE(sentence(cost).starts_with(
      "sync: 16.0 ms (+21.6 %), 95 % interval -500 us to 16.5 ms: shorter than untimed, which "));
  cost.key = "timing_cost_of_few_blocks";
  EXPECT_EQ(sentence(cost.with("blocks", 3).with("needed", 5)),
            "sync: 16.0 ms (+21.6 %); no interval and no verdict from 3 of at least 5 complete "
            "blocks");
  EXPECT_EQ(
      sentence(finding{"sync_serializes_overlap"}.with("stages", ms(86.4)).with("untimed", ms(74))),
      "work that overlapped is serialized under sync: its stages add up to 86.4 ms, the "
      "untimed frame takes 74.0 ms");
  EXPECT_EQ(sentence(finding{"host_times_launch", finding_severity::note, {"net"}}
                         .with("launch", ms(0.021))
                         .with("time", ms(70))
                         .with("method", "event")),
            "host reports 21.0 us for 'net': the time to launch it, not the 70.0 ms it takes "
            "(event)");
  finding agreement{"sync_and_event_agree", finding_severity::note, {"net"}};
  agreement.with("sync", ms(8)).with("event", ms(4)).with("ratio", 2.0, unit::ratio);
  EXPECT_EQ(sentence(agreement),
            "sync and event agree on every device stage to within 2 %; 'net': 8.00 ms by sync, "
            "4.00 ms by event");
  agreement.key = "sync_and_event_differ";
  EXPECT_EQ(sentence(agreement),
            "sync and event differ most on 'net': 8.00 ms by sync, 4.00 ms by event (2.00x)");
}

TEST(experiment_sentences, follow_a_sweep) {
  finding of{"sweep_changes"};
  of.with("parameter", "kernel").with("first", "1").with("last", "11");
  of.with("flops", 121.0, unit::ratio).with("bytes", 2.6, unit::ratio);
  of.with("intensity_first", 15.5, unit::flops_per_byte);
  of.with("intensity_last", 718.0, unit::flops_per_byte);
  EXPECT_EQ(sentence(of),
            "from kernel=1 to 11: FLOPs 121x, bytes 2.60x, intensity 15.5 FLOP/B to 718 FLOP/B");
  of.with("time", 51.0, unit::ratio).with("time_first", ms(0.273)).with("time_last", ms(13.9));
  EXPECT_EQ(sentence(of),
            "from kernel=1 to 11: FLOPs 121x, bytes 2.60x, time 51.0x (273 us to 13.9 ms), "
            "intensity 15.5 FLOP/B to 718 FLOP/B");
  finding rates{"sweep_rates"};
  rates.with("parameter", "kernel").with("fastest", "11").with("slowest", "1");
  rates.with("most", 165e9, unit::flops_per_second).with("fewest", 7e9, unit::flops_per_second);
  EXPECT_EQ(sentence(rates),
            "most FLOPs a second with kernel=11, 165 GFLOP/s; fewest with 1, 7.00 GFLOP/s");
  EXPECT_EQ(sentence(finding{"sweep_bound"}.with("parameter", "kernel").with("bound", "memory")),
            "memory bound at every kernel");
  finding bounds{"sweep_bound_changes"};
  bounds.with("parameter", "kernel").with("last", "1").with("next", "3");
  bounds.with("first_bound", "memory").with("second_bound", "compute");
  EXPECT_EQ(sentence(bounds), "memory bound up to kernel=1, compute bound from 3 on");
  finding below{"sweep_below_roofline"};
  below.with("parameter", "kernel").with("value", "11").with("ratio", 0.4, unit::ratio);
  EXPECT_TRUE(sentence(below).starts_with("kernel=11 measured 0.40x roofline: data that stay"));
  finding distances{"sweep_distances"};
  distances.with("parameter", "kernel").with("nearest", "11").with("farthest", "1");
  distances.with("least", 1.2, unit::ratio).with("most", 3.0, unit::ratio);
  EXPECT_EQ(sentence(distances),
            "kernel=11 comes nearest to its roofline time, 1.20x roofline; 1 is farthest, 3.00x "
            "roofline");
}

TEST(experiment_sentences, compare_outputs) {
  EXPECT_EQ(sentence(finding{"no_outputs"}),
            "no output to compare: whatever stages write, other stages read");
  auto same = finding{"same_outputs_as_baselines"}.with("runs", 6);
  EXPECT_EQ(sentence(same),
            "every configuration computed the same outputs as its baseline (last frame of 6 runs)");
  same.key = "same_outputs";
  EXPECT_EQ(sentence(same.with("outputs", std::vector<std::string>{"score 00c0", "mask 12ab"})),
            "all configurations computed the same outputs: score 00c0; mask 12ab (last frame of 6 "
            "runs)");
  auto differ = in(finding{"checksums_differ"}.with("tensor", "score").with("reference", "a"), "b");
  EXPECT_EQ(sentence(differ), "outputs of b differ from those of a: 'score' by its checksum");
  differ.with("compared", "its values");
  EXPECT_EQ(sentence(differ),
            "outputs of b differ from those of a: 'score' by its checksum, though not in its "
            "values");
  differ.key = "values_differ";
  differ.with("largest", 1.5e-7, unit::none);
  EXPECT_EQ(sentence(differ),
            "outputs of b differ from those of a: 'score' by 1.5e-07 at most in its values");
  EXPECT_TRUE(sentence(differ.with("relative", 0.002, unit::none))
                  .ends_with(" in its values, 0.002 of the largest"));
  const auto about = [](std::string_view key) {
    return in(finding{key}.with("reference", "a").with("tensor", "score"), "b");
  };
  EXPECT_EQ(sentence(about("same_outputs_as")), "b computed the same outputs as a");
  EXPECT_EQ(sentence(about("outputs_not_comparable").with("why", "the seeds differ")),
            "outputs of b cannot be compared with those of a: the seeds differ");
  EXPECT_EQ(sentence(about("outputs_vary")),
            "outputs of b differ from trial to trial: 'score' has several checksums");
  EXPECT_EQ(sentence(about("not_finite")), "'score' holds NaN or infinity in b");
}

TEST(experiment_sentences, compare_pipelines_priorities_and_ways_to_wait) {
  finding together{"slower_together", finding_severity::note, {"camera", "batch", "log"}};
  together.with("alone", ms(12)).with("together", ms(18)).with("change", change(0.5));
  EXPECT_EQ(sentence(together),
            "'camera': p50 12.0 ms alone, 18.0 ms beside 'batch' and 'log' (+50.0 %)");
  together.with("low", change(0.49)).with("high", change(0.51));
  EXPECT_TRUE(sentence(together).ends_with("(+50.0 %, 95 % interval +49.0 % to +51.0 %)"));
  finding effect{"priorities_took_effect"};
  effect.with("verdict", "faster").with("percentile", "p95").with("with", ms(74));
  effect.with("without", ms(80)).with("change", change(-0.075));
  effect.with("low", change(-0.08)).with("high", change(-0.07));
  effect = in(effect, "a");
  EXPECT_EQ(sentence(effect),
            "priorities took effect, a is faster: p95 74.0 ms with them, 80.0 ms without (-7.50 %, "
            "95 % interval -8.00 % to -7.00 %)");
  effect.key = "priorities_changed_nothing";
  EXPECT_TRUE(sentence(effect).starts_with("priorities changed nothing for a: p95 74.0 ms with"));
  effect.key = "priorities_inconclusive";
  EXPECT_TRUE(sentence(effect.with("levels", 1)).ends_with("; priority levels of the device: 1"));
  EXPECT_TRUE(sentence(effect).starts_with(
      "no effect of priorities is visible for a, inconclusive: p95 74.0 ms with them"));
  finding busy{"busy_wait"};
  busy.with("busy", "spin").with("idle", "block").with("cores", 0.97, unit::none);
  busy.with("busy_p50", ms(74)).with("idle_p50", ms(75)).with("verdict", "same");
  EXPECT_EQ(sentence(busy),
            "spin keeps 0.97 more cores busy than block without a visible gain: p50 74.0 ms "
            "compared with 75.0 ms (same)");
}

TEST(experiment_sentences, tell_of_overlap) {
  const auto overlap = finding{"overlap_of"}.with("overlap", ms(16));
  const auto one = in(finding(overlap).with("frame", ms(74)), "a");
  const auto pipelined = in(finding(overlap).with("period", ms(50)), "b");
  EXPECT_EQ(
      sentence(with_cases("ran_concurrently", {one, pipelined})),
      "of each frame, stages ran concurrently for 16.0 ms of 74.0 ms in a; 16.0 ms of 50.0 ms "
      "frame period in b");
  EXPECT_EQ(sentence(with_cases("ran_concurrently_least_and_most", {one, one})),
            "of each frame, stages ran concurrently, least and most: 16.0 ms of 74.0 ms in a; 16.0 "
            "ms of 74.0 ms in a");
  const auto apart = finding{"stages_in_a_row"}.with("stages", ms(86.4));
  EXPECT_EQ(sentence(with_cases("no_overlap", {in(finding(apart).with("frame", ms(87)), "a"),
                                               in(finding(apart).with("period", ms(87)), "b")})),
            "overlap did not happen in a (stages add up to 86.4 ms, a frame takes 87.0 ms); b "
            "(stages add up to 86.4 ms, a frame is done every 87.0 ms)");
}

TEST(experiment_sentences, tell_of_launches_and_of_the_machine) {
  finding launch{"device_waits_for_host", finding_severity::warning, {"net"}};
  launch.with("enqueue", ms(0.7)).with("device", ms(0.72));
  EXPECT_EQ(sentence(launch),
            "stage 'net': enqueueing takes 700 us, and the device works on it for 720 us: the "
            "device waits for the host");
  launch = in(launch, "a and b").with("worst_in", "b").with("stages", 2);
  EXPECT_TRUE(sentence(launch).starts_with("stage 'net' in a and b, worst in b: enqueueing takes"));
  launch.key = "device_time_may_hold_waits";
  EXPECT_TRUE(sentence(launch).ends_with(
      "its device time is 720 us, the worst of 2 stages; the device may have waited for the host, "
      "so the device time says little about the stage"));
  finding machine{"machine_drifted"};
  machine.with("judge", "the baseline").with("change", change(-0.02));
  EXPECT_TRUE(sentence(machine).starts_with(
      "the machine drifted: from the first block to the last, the p50 of the baseline changed by "
      "-2.00 %; "));
  machine.key = "disturbed_blocks";
  EXPECT_EQ(sentence(machine.with("blocks", "2 and 5").with("consequence", "left out")),
            "disturbed blocks (machine noise): 2 and 5, where the baseline was far from the blocks "
            "around; left out");
  finding trials{"disturbed_trials"};
  trials.with("disturbed", 3).with("trials", 12).with("by", "other processes");
  EXPECT_EQ(sentence(trials),
            "disturbed trials (machine noise): 3 of 12; the first by: other processes");
  EXPECT_EQ(sentence(in(finding{"trial_warning"}.with("text", "beware"), "a and b")),
            "beware (a and b)");
}

TEST(run_sentences, tell_of_overload_and_disturbances) {
  finding overload{"overloaded"};
  overload.with("rates", "12 of 30 offered frame/s");
  EXPECT_EQ(sentence(overload), "overloaded: completed 12 of 30 offered frame/s");
  overload.with("dropped", 5).with("growth", ms(600));
  EXPECT_EQ(sentence(overload),
            "overloaded: completed 12 of 30 offered frame/s; 5 frames dropped; latency grows by "
            "600 ms per second of load");
  EXPECT_EQ(sentence(finding{"disturbed"}.with("by", std::vector<std::string>{"a", "b"})),
            "disturbed (machine noise): a; b");
}

}  // namespace
}  // namespace graphline::report
