#include "framework/report/terminal/roofline_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/terminal/roofline_plot.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using samples::two_models_roofline;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(roofline_table, shows_figures_roofs_plot_and_findings) {
  expect_golden("roofline.txt", roofline_table(two_models_roofline(20)));
}

TEST(roofline_table, keeps_to_a_narrow_terminal_without_block_characters) {
  expect_golden("roofline_narrow.txt",
                roofline_table(two_models_roofline(20), {.width = 40, .blocks = false}));
}

TEST(roofline_table, is_as_wide_as_a_plot_can_be_read) {
  expect_golden("roofline_wide.txt", roofline_table(two_models_roofline(20), {.width = 200}));
}

TEST(roofline_table, says_that_nothing_can_be_held_against_half_a_calibration) {
  auto record = two_models_roofline(5);
  std::erase_if(record.stages.calibration->ceilings,
                [](const auto& figure) { return unit_of(figure.what) == ceiling_unit::rate; });
  EXPECT_THAT(roofline_table(record),
              AllOf(HasSubstr("Nothing to hold the times against"),
                    HasSubstr("run 'graphline calibrate'"), Not(HasSubstr("roofs of"))));
}

TEST(roofline_table, tells_of_a_run_that_ended_early) {
  auto record = two_models_roofline(5);
  record.layers.failure = "stage 'head', frame 3: out of memory";
  record.layers.interrupted = true;
  EXPECT_THAT(roofline_table(record),
              AllOf(HasSubstr("FAILED under timing layers: stage 'head'"),
                    HasSubstr("INTERRUPTED after 5 of 5 frames of the run for parts")));
  record.stages.interrupted = true;
  record.stages.run.frames = 9;
  EXPECT_THAT(roofline_table(record),
              HasSubstr("INTERRUPTED after 5 of 9 frames of stages, before parts were timed"));
}

TEST(roofline_table, shows_no_median_of_too_few_frames) {
  const auto text = roofline_table(two_models_roofline(4));
  EXPECT_THAT(text, AllOf(HasSubstr("-: too few frames: p50 needs 5\n"),
                          Not(testing::ContainsRegex("[0-9]x +[0-9]"))));
  EXPECT_THAT(roofline_table(two_models_roofline(5)),
              AllOf(Not(HasSubstr("too few frames")), testing::ContainsRegex("[0-9]x +[0-9]")));
}

TEST(roofline_table, shows_no_median_of_parts_whose_run_was_cut_off) {
  auto record = two_models_roofline(5);
  record.layers = two_models_roofline(4).layers;
  EXPECT_THAT(roofline_table(record), AllOf(HasSubstr("-: too few frames: p50 needs 5\n"),
                                            HasSubstr("memory    1.07        -      -\n")));
}

TEST(roofline_table, tells_warnings_of_both_runs_once) {
  auto record = two_models_roofline(5);
  record.stages.warnings = {"the clock jumped"};
  record.layers.warnings = {"the clock jumped"};
  const auto text = roofline_table(record);
  EXPECT_THAT(text, HasSubstr("warning: the clock jumped"));
  EXPECT_EQ(text.find("the clock jumped"), text.rfind("the clock jumped"));
}

std::string plot_of(const roofline_record& record, const look& as = {}) {
  return roofline_plot(record.stages, *hold_against_roofline(record.stages, &record.layers), as);
}

TEST(roofline_plot, names_what_has_no_place_in_it) {
  auto record = two_models_roofline(5);
  record.stages.stages[2].cost.flops.reset();
  EXPECT_THAT(plot_of(record),
              AllOf(HasSubstr("not in the plot, without FLOPs or without a time: head"),
                    Not(HasSubstr("B head"))));
}

TEST(roofline_plot, is_not_there_when_nothing_could_be_drawn) {
  auto record = two_models_roofline(5);
  for (auto* run : {&record.stages, &record.layers}) {
    for (auto& stage : run->stages) {
      stage.device.clear();
      for (auto& part : stage.parts) part.device.clear();
    }
  }
  EXPECT_EQ(plot_of(record), "");
}

TEST(roofline_plot, has_letters_for_the_26_parts_that_take_longest) {
  auto record = two_models_roofline(5);
  for (auto* run : {&record.stages, &record.layers}) {
    auto& parts = run->stages[0].parts;
    while (parts.size() < 40) {
      parts.push_back(parts.front());
      parts.back().name += std::to_string(parts.size());
    }
  }
  EXPECT_THAT(plot_of(record),
              AllOf(HasSubstr("not in the plot, shorter than those with letters: 14 more\n"),
                    HasSubstr("z 0."), Not(HasSubstr("{ 0."))));
}

TEST(roofline_plot, says_which_letters_have_no_place_beside_others) {
  auto record = two_models_roofline(5);
  EXPECT_THAT(plot_of(record), Not(HasSubstr("behind others")));
  auto& stages = record.stages.stages;
  while (stages.size() < 10) {
    stages.push_back(stages[2]);
    stages.back().name += std::to_string(stages.size());
  }
  EXPECT_THAT(plot_of(record), HasSubstr("behind others in the plot: I"));
}

TEST(roofline_plot, draws_the_roofs_of_precisions_that_are_used) {
  auto record = two_models_roofline(5);
  auto& ceilings = record.stages.calibration->ceilings;
  ceilings.push_back({ceiling::matmul, precision::float16, 900e9, 800e9, 950e9});
  EXPECT_THAT(plot_of(record), Not(HasSubstr("float16")));
  record.stages.stages[2].cost.arithmetic = precision::float16;
  EXPECT_THAT(plot_of(record), HasSubstr("float16 900 GFLOP/s"));
}

}  // namespace
}  // namespace graphline
