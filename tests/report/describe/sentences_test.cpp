#include "framework/report/sentences.hpp"

#include <gtest/gtest.h>

#include "tests/report/golden.hpp"

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

TEST(sentence, says_how_often_a_policy_decided) {
  const auto choices = [](std::string_view key) {
    return finding(key)
        .with("policy", "deadline")
        .with("decided", 4)
        .with("starts", 12)
        .with("first", "act")
        .with("second", "sense")
        .with("times", 3)
        .with("configurations", "policy=deadline");
  };
  EXPECT_EQ(sentence(choices("policy_decided")),
            "policy deadline differs from oldest_frame in 4 of 12 starts (most often act before "
            "sense: 3)");
  const auto held = finding("policy_decided").with("policy", "p").with("decided", 4);
  EXPECT_EQ(sentence(finding(held).with("starts", 12).with("held", 4)),
            "policy p differs from oldest_frame in 4 of 12 starts, 4 of them held back");
  EXPECT_EQ(sentence(choices("policy_never_decided")),
            "policy deadline had no effect on the order: oldest_frame would have started the same "
            "stages");
  finding all{"policies_decided"};
  all.cases = {choices("decided_in")};
  EXPECT_EQ(sentence(all),
            "policies differ from oldest_frame: policy=deadline in 4 of 12 starts (most often act "
            "before sense: 3)");
  finding none{"policies_never_decided"};
  none.cases = {choices("never_decided_in")};
  EXPECT_EQ(sentence(none),
            "policies had no effect on the order, oldest_frame would have started the same stages: "
            "policy=deadline");
}

TEST(sentence, says_where_priorities_were_inverted) {
  const auto inverted = [](std::string_view key, std::vector<std::string> subjects) {
    finding made{key, finding_severity::note, std::move(subjects)};
    return made.with("order", "lower priority")
        .with("times", 3)
        .with("longest", 2e6, unit::duration)
        .with("configurations", "policy=fifo");
  };
  auto of_run = inverted("priority_inversions", {"act", "steer"});
  EXPECT_EQ(sentence(of_run),
            "priority inversions: 'act' and 'steer' waited 3 times while a stage of lower priority "
            "started, up to 2.00 ms in one wait");
  of_run.with("bound", 1e6, unit::duration);
  EXPECT_TRUE(sentence(of_run).ends_with(" in one wait, beyond the bound of 1.00 ms"));
  finding all{"priority_inversions"};
  all.cases = {inverted("inversions_of", {})};
  EXPECT_EQ(sentence(all),
            "priority inversions: policy=fifo waited 3 times while a stage of lower priority "
            "started, up to 2.00 ms in one wait");
}

/// Adds a p50 that is 6 ms, and 8 ms in the reference.
finding faster(finding to, const char* reference) {
  return to.with("effect", "is faster")
      .with("percentile", "p50")
      .with("with", 6e6, unit::duration)
      .with("without", 8e6, unit::duration)
      .with("change", -0.25, unit::change)
      .with("low", -0.26, unit::change)
      .with("high", -0.24, unit::change)
      .with("reference", reference);
}

TEST(sentence, says_what_a_setting_gained) {
  finding gained{"setting_took_effect"};
  gained.with("setting", "window");
  gained.cases = {faster(finding{"effect_against"}.with("configurations", "window=2"), "1")};
  EXPECT_EQ(sentence(gained),
            "window took effect: window=2 is faster (p50 6.00 ms, with 1 8.00 ms: -25.0 %, 95 % "
            "interval -26.0 % to -24.0 %)");
}

TEST(sentence, says_which_chains_changed_and_which_exceed_their_bounds) {
  const auto about = [](const char* key) {
    return finding{key, finding_severity::note, {"brake"}}
        .with("time", "age")
        .with("configurations", "rate=80");
  };
  finding changed{"chains_changed"};
  changed.cases = {faster(about("chain_changed"), "rate=40")};
  EXPECT_EQ(sentence(changed),
            "chains changed: age of 'brake' is faster in rate=80 (p50 6.00 ms, in rate=40 8.00 "
            "ms: -25.0 %, 95 % interval -26.0 % to -24.0 %)");
  finding exceeded{"chains_exceed_bounds"};
  exceeded.cases = {about("chain_exceeds_bound")
                        .with("late", 12)
                        .with("times", 40)
                        .with("bound", 60e6, unit::duration)};
  EXPECT_EQ(sentence(exceeded),
            "chains exceed their bounds: age of 'brake' in rate=80 (12 of 40 times beyond 60.0 "
            "ms)");
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

TEST(sentence, lists_subjects) {
  const auto open = [](std::vector<std::string> names) {
    return sentence(finding{"rate_not_calibrated", finding_severity::note, std::move(names)}.with(
        "precision", "tf32"));
  };
  EXPECT_EQ(open({"x"}), "no roofline time of 'x': no tf32 rate was calibrated");
  EXPECT_TRUE(open({"x", "y"}).starts_with("no roofline time of 'x' and 'y':"));
  EXPECT_TRUE(open({"a", "b", "c", "d", "e", "f"})
                  .starts_with("no roofline time of 'a', 'b', 'c', 'd' and 2 more:"));
}

TEST(sentence, states_what_a_number_of_frames_is_for) {
  const auto wide = finding{"interval_too_wide"}.with("width", "4 %").with("within", "2 %");
  EXPECT_EQ(sentence(wide), "the interval is 4 % wide, not 2 %");
  EXPECT_EQ(sentence(finding(wide).with("frames", 18432)),
            "the interval is 4 % wide, not 2 %; for an interval about that narrow, use --frames "
            "18432");
  EXPECT_TRUE(sentence(finding{"runs_too_short"}.with("frames", 45).with("needed", 1440))
                  .ends_with(" 45 frames to build up; to rule this out, use --frames 1440"));
}

TEST(sentence, of_a_warning_that_a_run_wrote_down_is_its_text) {
  EXPECT_EQ(sentence(finding{"", finding_severity::warning}.with("text", std::string("x"))), "x");
}

TEST(sentence, of_a_finding_without_words_is_its_key) {
  EXPECT_EQ(sentence(finding{"new_key"}), "new_key");
  EXPECT_EQ(sentence(finding{"rate_not_calibrated", finding_severity::note, {"x"}}),
            "rate_not_calibrated");
}

// ---- Every key of runs and experiments, with the figures that their analysis gives --------------

quantity time_of(double value) {
  return {value * 1e6, unit::duration};
}

quantity change_by(double value) {
  return {value, unit::change};
}

/// Adds configurations to a finding.
finding in(finding to, const char* configurations) {
  return to.with("configurations", configurations);
}

/// Sentences of findings, one per line.
class sentence_list {
 public:
  void title(const char* text) { text_ += std::string("\n# ") + text + "\n"; }
  sentence_list& add(const finding& of) {
    text_ += sentence(of) + '\n';
    return *this;
  }
  /// Adds the finding under each of these keys.
  void add(finding of, std::initializer_list<std::string_view> keys) {
    for (const auto key : keys) {
      of.key = key;
      add(of);
    }
  }
  void add_cases(std::string_view key, std::vector<finding> cases) {
    finding made{key};
    made.cases = std::move(cases);
    add(made);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_load(sentence_list& to) {
  to.title("load");
  const auto rates = finding{"rates_of"}.with("rates", "12 of 30 offered frame/s");
  to.add_cases("overloaded_in", {in(rates, "a and b"), in(rates, "c")});
  finding overload{"overloaded"};
  to.add(overload.with("rates", "12 of 30 offered frame/s"));
  to.add(overload.with("dropped", 5).with("growth", time_of(600)));
  to.add(finding{"disturbed"}.with("by", std::vector<std::string>{"a", "b"}));
}

void add_timing(sentence_list& to) {
  to.title("cost of timing");
  finding cost{""};
  cost.with("method", "sync").with("cost", time_of(16)).with("change", change_by(0.216));
  cost.with("low", time_of(-0.5))
      .with("high", time_of(16.5))
      .with("largest_change", change_by(0.22));
  to.add(cost, {"timing_adds_time", "timing_cost_not_visible", "timing_shortens_frame"});
  to.add(finding{"sync_serializes_overlap"}
             .with("stages", time_of(86.4))
             .with("untimed", time_of(74)));
  to.add(finding{"host_times_launch", finding_severity::note, {"net"}}
             .with("launch", time_of(0.021))
             .with("time", time_of(70))
             .with("method", "event"));
}

void add_outputs(sentence_list& to) {
  to.title("outputs");
  to.add(finding{""}.with("runs", 6), {"no_outputs", "same_outputs"});
  auto differ = in(finding{"checksums_differ"}.with("tensor", "score").with("reference", "a"), "b");
  to.add(differ).add(differ.with("compared", "its values"));
  differ.with("largest", 1.5e-7, unit::none);
  to.add(differ, {"values_differ"});
  differ.with("relative", 0.002, unit::none).with("why", "the seeds differ");
  to.add(differ, {"values_differ", "outputs_not_comparable", "outputs_vary", "not_finite"});
  to.add(differ.with("rows", 1).with("reference_rows", 0), {"rows_differ"});
}

void add_rows(sentence_list& to) {
  to.title("rows");
  finding rows{"rows_above_capacity", finding_severity::warning, {"recognize"}};
  to.add(rows.with("frames", 2).with("most", 23).with("capacity", 16));
  finding batches{"rows_above_capacity", finding_severity::warning, {"answer"}};
  to.add(batches.with("batches", 13).with("most", 16).with("capacity", 8).with("batch_frames", 16));
  finding padding{"padding", finding_severity::note, {"recognize"}};
  to.add(padding.with("padding", quantity{0.38, unit::share})
             .with("buckets", "[3, 6, 16]")
             .with("better", quantity{0.09, unit::share}));
}

void add_ways_to_run(sentence_list& to) {
  to.title("priorities and overlap");
  finding effect{""};
  effect.with("effect", "is faster").with("percentile", "p95").with("with", time_of(74));
  effect.with("without", time_of(80)).with("change", change_by(-0.075));
  effect = in(effect.with("low", change_by(-0.08)).with("high", change_by(-0.07)), "a");
  to.add(effect,
         {"priorities_took_effect", "priorities_changed_nothing", "priorities_inconclusive"});
  finding fastest{"fastest"};
  fastest.with("configuration", "a").with("reference", "b").with("p50", time_of(73));
  fastest.with("change", change_by(-0.16)).with("low", change_by(-0.167));
  to.add(fastest.with("high", change_by(-0.155)), {"fastest", "none_faster"});
  to.add(finding{"output_not_finite", finding_severity::warning, {"score"}});
  const auto overlap = finding{"overlap_of"}.with("overlap", time_of(16));
  const auto one = in(finding(overlap).with("frame", time_of(74)), "a");
  const auto pipelined = in(finding(overlap).with("period", time_of(50)), "b");
  to.add_cases("ran_concurrently", {one, pipelined});
  const auto apart = finding{"stages_in_a_row"}.with("stages", time_of(86.4));
  to.add_cases("no_overlap", {in(finding(apart).with("frame", time_of(87)), "a"),
                              in(finding(apart).with("period", time_of(87)), "b")});
}

void add_search(sentence_list& to) {
  to.title("searches");
  finding none{"search_infeasible", finding_severity::warning};
  to.add(none.with("nearest", "a"),
         {"search_none_better", "search_infeasible", "search_unconfirmed"});
  finding ties{"search_ties"};
  to.add(ties.with("count", 2)
             .with("simplest", "a")
             .with("names", std::vector<std::string>{"'a'", "'b'"}));
}

void add_machine(sentence_list& to) {
  to.title("launches and the machine");
  finding launch{"device_waits_for_host", finding_severity::warning, {"net"}};
  launch.with("enqueue", time_of(0.7)).with("device", time_of(0.72));
  to.add(launch.with("idle", time_of(0.65)).with("share", quantity{0.325, unit::share}));
  launch.with("stages", 2);
  to.add(launch, {"device_waits_for_host", "device_time_may_hold_waits"});
  finding machine{""};
  machine.with("change", change_by(-0.02));
  machine.with("blocks", "blocks 2 and 5").with("consequence", "left out");
  to.add(machine, {"machine_drifted", "disturbed_blocks"});
  finding trials{"disturbed_trials"};
  to.add(trials.with("disturbed", 3).with("trials", 12).with("by", "other processes"));
  to.add(in(finding{"trial_warning"}.with("text", "beware"), "a and b"));
}

void add_limits(sentence_list& to) {
  to.title("what limits a frame");
  const auto limit = [](const char* key) {
    return finding{key, finding_severity::note, {"a", "b"}};
  };
  const auto add = [&](finding of) {
    to.add(of.with("bound", time_of(50))
               .with("running", time_of(53))
               .with("above", quantity{0.06, unit::share}));
  };
  add(limit("critical_path"));
  const std::string limited = "limited by";
  add(limit("cpu_cores").with("cores", 1).with("says", limited));
  add(limit("device").with("says", std::string("the lower bound is set by")));
  for (const auto* key : {"stage", "host_thread", "cpu_cores", "device"}) {
    auto full = limit(key).with("busy", quantity{0.996, unit::share}).with("period", time_of(10));
    add(full.with("cores", 2).with("says", limited));
  }
  auto two = limit("critical_path").with("of", std::string("this schedule"));
  two.with("bound_of_schedule", time_of(66)).with("bound_of_any", time_of(50));
  two.with("running", time_of(200)).with("without", std::string("queue wait"));
  to.add(two.with("ratio", quantity{3.03, unit::ratio}));
  finding late{"deadline_missed"};
  to.add(late.with("deadline", time_of(5)).with("missed", 1).with("frames", 1));
}

TEST(sentence, of_every_finding_of_runs_and_experiments) {
  sentence_list all;
  for (const auto add : {add_load, add_limits, add_timing, add_outputs, add_rows, add_ways_to_run,
                         add_machine, add_search}) {
    add(all);
  }
  samples::expect_golden("sentences.txt", all.text());
}

}  // namespace
}  // namespace graphline::report
