#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline::report {
namespace {

using samples::cell_of;
using samples::number;
using samples::part_of;
using samples::sentences_of;
using samples::two_models_roofline;
using testing::ElementsAre;
using testing::HasSubstr;

/// On a device calibrated again, with a faster `head` and another name for the work on the CPU.
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
    EXPECT_LE(widest_line(as_text(says, {.width = width})), width);
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
  EXPECT_EQ(samples::text(cell_of(other, "stages.work.duration", "before")), "3ms");
  EXPECT_EQ(other.rows.size(), 2u);
}

TEST(diff, says_that_nothing_changed) {
  const auto text = as_text(diff_of(two_models_roofline(45), two_models_roofline(45)));
  EXPECT_THAT(text, HasSubstr("each stage is as it was before"));
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

TEST(diff, says_which_result_was_disturbed_and_which_is_the_newer) {
  auto before = two_models_roofline(45);
  auto after = before;
  before.stages.environment.emplace_back("date", "2026-11-21T08:00:00Z");
  after.stages.environment.emplace_back("date", "2026-11-20T08:00:00Z");
  after.stages.warnings = {"disturbed (machine noise): other work"};
  const auto says = diff_of(before, after);
  EXPECT_THAT(sentences_of(says, finding_severity::warning),
              ElementsAre("new.json: disturbed (machine noise): other work"));
  EXPECT_EQ(says.lines.back(), "What stands as before is the newer of the two.");
  EXPECT_NE(diff_of(after, before).lines.back(), says.lines.back());
}

TEST(diff, shows_in_text_what_its_results_show_there) {
  const auto says = diff_of(two_models_roofline(45), later_roofline());
  EXPECT_EQ(part_of<table>(says, "ceilings").where, in_page | in_data);
}

TEST(diff, has_its_rows_as_json) {
  const auto text = text_by([](text_sink& to, const document& of) { write_json(to, of); },
                            diff_of(two_models_roofline(45), later_roofline()));
  const auto result = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(result["schema"], "graphline.diff/1");
  EXPECT_EQ(result["of"], "graphline.roofline/1");
  ASSERT_EQ(result["stages"].size(), 4u);
  EXPECT_EQ(result["stages"][2]["name"], "head");
  EXPECT_NEAR(result["stages"][2]["measured_change"].get<double>(), -0.5, 1e-3);
  EXPECT_TRUE(result["stages"][1]["ratio_before"].is_null());
  ASSERT_EQ(result["findings"].size(), 2u);
  EXPECT_EQ(result["findings"][0]["severity"], "failure");
  EXPECT_EQ(result["findings"][0]["figures"]["file"], "new.json");
  EXPECT_EQ(result["findings"][1]["severity"], "warning");
}

}  // namespace
}  // namespace graphline::report
