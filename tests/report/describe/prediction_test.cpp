#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "framework/report/describe/describe.hpp"
#include "tests/report/documents.hpp"

namespace graphline::report {
namespace {

using samples::cell_of;
using samples::number;
using samples::part_of;
using samples::text;

/// Frames of 8, 10 and 12 ms.
document described(const prediction_record& prediction) {
  document made;
  add_prediction_tables(made, prediction, *distribution::of({8'000'000, 10'000'000, 12'000'000}));
  return made;
}

TEST(prediction_tables, show_what_a_faster_stage_saves_the_largest_gain_first) {
  prediction_record prediction;
  prediction.sensitivity = {{"small", 9'900'000, 9'950'000}, {"large", 9'000'000, 9'200'000}};
  const document made = described(prediction);
  const auto& gains = part_of<table>(made, "sensitivity");
  EXPECT_EQ(text(gains.rows[0].cells[0]), "large");
  EXPECT_DOUBLE_EQ(*number(cell_of(gains, "large", "mean")), -1'000'000);
  EXPECT_DOUBLE_EQ(*number(cell_of(gains, "large", "mean_change")), -0.1);
  EXPECT_DOUBLE_EQ(*number(cell_of(gains, "small", "p50")), -50'000);

  const auto drawn = std::get<comparisons_chart>(part_of<chart>(made, "sensitivity_chart").drawn);
  ASSERT_EQ(drawn.list.size(), 4U);  // too few frames for a p95
  EXPECT_EQ(drawn.list[0].name, "large");
  EXPECT_EQ(drawn.list[0].metric, "mean");
  EXPECT_DOUBLE_EQ(drawn.list[0].change, -0.1);
  EXPECT_DOUBLE_EQ(*drawn.list[0].low, -0.1);
  EXPECT_DOUBLE_EQ(*drawn.list[0].high, 0);
  EXPECT_EQ(drawn.list[3].metric, "p50");
  EXPECT_EQ(drawn.list[3].words, "10 % faster, p50 falls by 50.0 us");
}

TEST(prediction_tables, bound_a_frame_unless_the_next_is_due_before) {
  prediction_record prediction;
  prediction.worst_case = {
      20'000'000, 600'000, 400'000, 20'000'000, {{"net", 15'000'000, true}, {"cut", 4'000'000}}};
  const document made = described(prediction);
  const auto& worst = part_of<table>(made, "worst_case");
  EXPECT_EQ(text(cell_of(worst, "net", "from")), "--at-most");
  EXPECT_EQ(text(cell_of(worst, "cut", "from")), "source");
  EXPECT_EQ(number(cell_of(worst, "issue times", "at_most")), 600'000);
  EXPECT_EQ(number(cell_of(worst, "delays", "at_most")), 400'000);
  EXPECT_EQ(number(cell_of(worst, "end to end", "at_most")), 20'000'000);

  prediction.worst_case->bound += 1;
  const document none = described(prediction);
  EXPECT_FALSE(number(cell_of(part_of<table>(none, "worst_case"), "end to end", "at_most")));
}

}  // namespace
}  // namespace graphline::report
