#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline::report {
namespace {

using samples::cell_of;
using samples::number;
using samples::part_of;
using samples::sentences_of;
using samples::two_models;
using samples::two_models_roofline;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A roofline with a new calibration, a faster `head` and a renamed CPU stage.
roofline_record later_roofline() {
  auto record = two_models_roofline(45);
  record.stages.calibration->date = "2026-12-20T12:00:00Z";
  for (auto& ceiling : record.stages.calibration->ceilings) ceiling.value *= 2;
  for (auto& stamps : record.stages.stages[2].device) stamps.end -= stamps.length() / 2;
  record.stages.stages[1].name = record.layers.stages[1].name = "randoms";
  record.stages.interrupted = true;
  return record;
}

document diff_of(const roofline_record& before, const roofline_record& after) {
  return diff(describe(before), describe(after), "old.json", "new.json");
}

TEST(diff, shows_rows_of_both_and_what_changed) {
  const auto says = diff_of(two_models_roofline(45), later_roofline());
  samples::expect_golden("diff_roofline.txt", as_text(says));
  for (const std::size_t width : {40U, 60U, 80U, 120U}) {
    EXPECT_LE(samples::widest_line(as_text(says, {.width = width})), width);
  }
}

TEST(diff, joins_rows_by_name_and_columns_by_key) {
  const auto says = diff_of(two_models_roofline(45), later_roofline());
  const auto& stages = part_of<table>(says, "stages");
  EXPECT_NEAR(*number(cell_of(stages, "head", "measured_change")), -0.5, 1e-3);
  EXPECT_NEAR(*number(cell_of(stages, "head", "ratio_change")), 0, 1e-3);
  EXPECT_TRUE(cell_of(stages, "noise", "measured_before").known());
  EXPECT_FALSE(cell_of(stages, "noise", "measured_after").known());
  EXPECT_FALSE(cell_of(stages, "noise", "measured_change").known());
  EXPECT_TRUE(cell_of(stages, "randoms", "measured_after").known());
  EXPECT_FALSE(cell_of(stages, "randoms", "measured_before").known());
  const auto& figures = part_of<table>(says, "figures");
  EXPECT_NEAR(*number(cell_of(figures, "memory", "change")), 1, 1e-9);
}

TEST(diff, tells_parts_of_one_name_by_their_stage) {
  auto before = two_models_roofline(45);
  auto after = before;
  for (auto* record : {&before, &after}) {
    for (auto* run : {&record->stages, &record->layers}) {
      run->stages[2].parts = run->stages[0].parts;
    }
  }
  for (auto& stamps : after.layers.stages[2].parts[0].device) stamps.end += stamps.length();
  const auto says = diff_of(before, after);
  const auto& stages = part_of<table>(says, "stages");
  std::vector<double> changes;
  for (const auto& row : stages.rows) {
    if (row.level == 1) changes.push_back(*number(row.cells[3]));
  }
  EXPECT_THAT(changes, ElementsAre(0, 0, testing::DoubleNear(1, 1e-6), 0));
}

TEST(diff, lists_settings_and_sources_that_differ) {
  auto before = two_models_roofline(45);
  auto after = before;
  after.stages.run.in_flight = 2;
  before.stages.source = {"p.yaml", "pipeline: p\nstages: {work: {duration: 3ms}}\n"};
  after.stages.source = {"p.yaml", "pipeline: p\nstages: {work: {duration: 5ms}}\n"};
  const auto says = diff_of(before, after);
  const auto& other = part_of<table>(says, "differences");
  EXPECT_EQ(samples::text(cell_of(other, "settings.in_flight", "after")), "2");
  EXPECT_EQ(samples::text(cell_of(other, "p.yaml:2", "after")), "stages: {work: {duration: 5ms}}");
  EXPECT_EQ(other.rows.size(), 2u);
}

TEST(diff, says_that_nothing_changed) {
  const auto text = as_text(diff_of(two_models_roofline(45), two_models_roofline(45)));
  EXPECT_THAT(text, HasSubstr("Source, settings, device and environment are the same."));
}

TEST(diff, says_what_ended_early) {
  auto without = later_roofline();
  without.stages.calibration->ceilings.clear();
  without.stages.failure = "the device went away";
  const auto says = diff_of(two_models_roofline(45), without);
  EXPECT_THAT(
      sentences_of(says, finding_severity::failure),
      ElementsAre("new.json: FAILED after 45 of 45 frames under timing event: the device went away",
                  HasSubstr("new.json: INTERRUPTED after 45 of 45 frames"),
                  HasSubstr("new.json: no roofline")));
}

// ---- Of runs ------------------------------------------------------------------------------------

/// `count` frames of the sample pipeline at `part` of their time.
run_record sample_run(std::size_t count, double part) {
  auto record = two_models(timing_method::event, count);
  for (auto& frame : record.frames) {
    for (auto* stamp : {&frame.due, &frame.begin, &frame.end}) {
      *stamp = std::llround(static_cast<double>(*stamp) * part);
    }
  }
  record.environment.emplace_back("date", "2026-10-03T14:00:00Z");
  return record;
}

document diff_of(const run_record& before, const run_record& after) {
  return diff({"old.json", before, analyze(before)}, {"new.json", after, analyze(after)});
}

/// The difference as text with joined lines, to search for sentences.
std::string line(const run_record& before, const run_record& after) {
  auto text = as_text(diff_of(before, after));
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (std::size_t at; (at = text.find("  ")) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string output_words(const run_record& before, const run_record& after) {
  const auto says = diff_of(before, after);
  return samples::text(cell_of(part_of<table>(says, "outputs"), "score", "words"));
}

TEST(run_diff, shows_a_run_that_became_faster) {
  const auto before = sample_run(45, 1);
  auto after = sample_run(60, 0.8);
  after.run.strategy = strategy::overlap;
  after.run.in_flight = 2;
  after.memory.device_peak_bytes = 30 << 20;
  after.environment = {{"graphline", "0.2.0"},
                       {"system", "Linux 6.1"},
                       {"compiler", "a compiler whose version is longer than a column is wide"},
                       {"date", "2026-11-21T08:01:43Z"}};
  after.outputs[0].checksum = "0123456789abcdef";
  after.stages.pop_back();
  after.stages[0].name = "trunk";
  samples::expect_golden("diff_run.txt", as_text(diff_of(before, after)));
}

TEST(run_diff, leaves_out_layers_that_were_not_measured) {
  auto record = samples::two_models_in_parts(45);
  const auto rows = [](const run_record& of) {
    return part_of<table>(diff_of(of, of), "stages").rows.size();
  };
  const std::size_t with_layers = rows(record);
  for (auto& part : record.stages[0].parts) part.device.clear();
  EXPECT_EQ(rows(record), with_layers - record.stages[0].parts.size());
}

TEST(run_diff, compares_no_latency_of_an_overloaded_run) {
  const auto text = line(sample_run(300, 1), samples::overloaded_two_models(300));
  EXPECT_THAT(text, AllOf(HasSubstr("no latency to compare: the run after was overloaded"),
                          HasSubstr("throughput")));
  EXPECT_THAT(line(sample_run(2, 1), sample_run(300, 1)),
              HasSubstr("no latency to compare: the run before has too few frames"));
}

TEST(run_diff, says_first_what_became_of_the_median_frame) {
  EXPECT_THAT(line(sample_run(5, 1), sample_run(5, 0.5)),
              StartsWith("two_models: end to end p50 74.2 ms, after 37.1 ms, -50.0 %"));
  auto other = sample_run(5, 1);
  other.pipeline = "one_model";
  EXPECT_THAT(line(sample_run(5, 1), other),
              StartsWith("different subjects: two_models before, one_model after"));
}

TEST(run_diff, gives_no_change_between_times_of_two_kinds) {
  const auto says =
      diff_of(two_models(timing_method::sync, 5), two_models(timing_method::event, 5));
  const auto& stages = part_of<table>(says, "stages");
  EXPECT_TRUE(cell_of(stages, "backbone", "p50_before").known());
  EXPECT_TRUE(cell_of(stages, "backbone", "p50_after").known());
  EXPECT_FALSE(cell_of(stages, "backbone", "p50_change").known());
  EXPECT_TRUE(cell_of(stages, "noise", "p50_change").known());
}

TEST(run_diff, says_by_how_much_outputs_differ) {
  auto before = sample_run(5, 1);
  before.outputs[0].values.clear();
  auto after = before;
  EXPECT_EQ(output_words(before, after), "the same");
  after.outputs[0].checksum = "01";
  EXPECT_THAT(output_words(before, after), StartsWith("differs by checksum; the files hold no"));
  before.outputs[0].values = {1.0, 2.0};
  after.outputs[0].values = {1.0, 2.5};
  EXPECT_EQ(output_words(before, after),
            "differs by up to 0.5, 0.2 of the largest value (of 2 values compared)");
  after.outputs[0].values = before.outputs[0].values;
  EXPECT_EQ(output_words(before, after), "differs by checksum, but not in 2 values saved of it");
  after.outputs[0].finite = false;
  EXPECT_THAT(output_words(before, after), HasSubstr("; holds NaN or infinity after"));
  after.outputs[0].type.shape = {2, 1};
  EXPECT_THAT(output_words(before, after), StartsWith("of another shape or type"));
  after.outputs[0].tensor = "rank";
  EXPECT_EQ(output_words(before, after), "only before");
}

}  // namespace
}  // namespace graphline::report
