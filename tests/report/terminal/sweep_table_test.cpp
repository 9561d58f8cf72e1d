#include "framework/report/terminal/sweep_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/terminal/experiment_table.hpp"
#include "framework/report/terminal/sweep_plot.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/made_sweep.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/terminal/fit.hpp"

namespace graphline {
namespace {

using samples::expect_golden;
using samples::figures_of;
using samples::laptop_calibration;
using samples::made_sweep;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

sweep calibrated() {
  auto record = made_sweep();
  record.calibration = laptop_calibration();
  return *sweep_of(record, figures_of(record));
}

void expect_to_fit(const sweep& of, std::size_t width) {
  samples::expect_to_fit("a sweep", width, [&](const look& as) { return sweep_section(of, as); });
}

TEST(sweep_table, shows_figures_and_plots_at_every_width) {
  for (const std::size_t width : {40, 80, 200}) {
    expect_golden("sweep_" + std::to_string(width) + ".txt",
                  sweep_section(calibrated(), {.width = width}));
    expect_to_fit(calibrated(), width);
  }
}

TEST(sweep_table, has_only_what_is_known) {
  const auto record = made_sweep();
  const auto found = *sweep_of(record, figures_of(record));
  EXPECT_THAT(cells_of(found).headings,
              ElementsAre("kernel", "FLOPs", "bytes", "FLOP/B", "p50 ms", "GFLOP/s"));
  EXPECT_THAT(sweep_section(found, {}), Not(HasSubstr("least time")));
  EXPECT_THAT(cells_of(calibrated()).headings,
              ElementsAre("kernel", "FLOPs", "bytes", "FLOP/B", "p50 ms", "GFLOP/s", "least ms",
                          "bound", "ratio"));
}

TEST(sweep_table, marks_what_is_not_known_of_a_value) {
  auto found = calibrated();
  auto& point = found.points[2];
  point = {point.configuration, point.text, point.value, {}, {}, {}, {}, {}, {}, {}, {}};
  EXPECT_THAT(cells_of(found).rows[2], ElementsAre("5", "-", "-", "-", "-", "-", "-", "-", "-"));
  expect_to_fit(found, 80);
}

TEST(sweep_table, gives_times_units_of_their_own_where_one_would_hide_digits) {
  auto found = calibrated();
  found.points[0].time = 8'010;
  found.points[0].least = 4'320;
  const auto cells = cells_of(found);
  EXPECT_EQ(cells.headings[4], "p50");
  EXPECT_EQ(cells.headings[6], "least");
  EXPECT_EQ(cells.rows[0][4], "8.01 us");
  EXPECT_EQ(cells.rows[0][6], "4.32 us");
  EXPECT_EQ(cells.rows[5][4], "13.9 ms");
  expect_to_fit(found, 80);
}

TEST(sweep_table, stands_in_the_table_of_its_experiment) {
  const auto record = made_sweep();
  const auto summary = figures_of(record);
  const auto text = experiment_table(record, summary);
  EXPECT_THAT(text, HasSubstr("\n" + sweep_section(*sweep_of(record, summary), {}) + "\n"));
  EXPECT_THAT(text, HasSubstr("- from kernel=1 to 11 the FLOPs grow 121-fold"));
}

TEST(sweep_plot, draws_in_plain_characters_where_there_are_no_others) {
  const auto text = sweep_plot(calibrated(), {.blocks = false});
  expect_golden("sweep_plain.txt", text);
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(sweep_plot, takes_values_of_any_size_and_sign) {
  for (const double factor : {-3.0, 1e-9, 1e12, 0.0}) {
    auto found = calibrated();
    double value = 0;
    for (auto& point : found.points) {
      point.value = factor == 0 ? value : point.value * factor;
      value += 1;
      point.text = std::to_string(point.value);
      point.intensity = *point.intensity * std::abs(factor);
    }
    if (factor < 0) std::reverse(found.points.begin(), found.points.end());
    for (const std::size_t width : {30, 40, 60, 80, 120}) expect_to_fit(found, width);
  }
}

TEST(sweep_plot, needs_room_and_figures) {
  EXPECT_EQ(sweep_plot(calibrated(), {.width = 20}), "");
  auto found = calibrated();
  for (auto& point : found.points) point.time.reset();
  EXPECT_THAT(sweep_plot(found, {}), Not(HasSubstr("p50")));
  for (auto& point : found.points) point.intensity.reset();
  EXPECT_EQ(sweep_plot(found, {}), "");
}

}  // namespace
}  // namespace graphline
