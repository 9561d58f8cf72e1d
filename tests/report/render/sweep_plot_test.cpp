#include "framework/report/render/sweep_plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/made_sweep.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/render/fit.hpp"

namespace graphline::report {
namespace {

using samples::expect_golden;
using samples::figures_of;
using samples::laptop_calibration;
using samples::made_sweep;
using ::testing::HasSubstr;
using ::testing::Not;

sweep calibrated() {
  auto record = made_sweep();
  record.calibration = laptop_calibration();
  return *sweep_of(record, figures_of(record));
}

/// What the document of an experiment says of its sweep.
document described(const sweep& of) {
  const auto record = made_sweep();
  const auto made = describe(record, experiment_analysis{figures_of(record), of, {}});
  document only;
  only.parts = {samples::part_of<table>(made, "sweep"),
                samples::part_of<chart>(made, "sweep_chart")};
  return only;
}

sweep_chart chart_of(const sweep& of) {
  return std::get<sweep_chart>(samples::part_of<chart>(described(of), "sweep_chart").drawn);
}

void expect_to_fit(const sweep& of, std::size_t width) {
  samples::expect_to_fit("a sweep", width,
                         [&](const terminal_style& as) { return as_text(described(of), as); });
}

TEST(describe_sweep, shows_figures_and_plots_at_every_width) {
  for (const std::size_t width : {40, 80, 200}) {
    expect_golden("sweep_" + std::to_string(width) + ".txt",
                  as_text(described(calibrated()), {.width = width}));
    expect_to_fit(calibrated(), width);
  }
}

TEST(describe_sweep, has_only_what_is_known) {
  const auto record = made_sweep();
  const auto found = *sweep_of(record, figures_of(record));
  EXPECT_THAT(as_text(described(found)), Not(HasSubstr("roofline time")));
  EXPECT_THAT(as_text(described(calibrated())), HasSubstr("roofline time"));
}

TEST(describe_sweep, marks_what_is_not_known_of_a_value) {
  auto found = calibrated();
  auto& point = found.points[2];
  point = {point.configuration, point.text, point.value, {}, {}, {}, {}, {}, {}, {}, {}};
  EXPECT_FALSE(
      samples::cell_of(samples::part_of<table>(described(found), "sweep"), "5", "time").known());
  EXPECT_FALSE(chart_of(found).panels.at(0).lines.at(0).values.at(2));
  expect_to_fit(found, 80);
}

TEST(describe_sweep, stands_in_the_document_of_its_experiment) {
  const auto record = made_sweep();
  const auto text = as_text(describe(record, analyze(record, figures_of(record))));
  EXPECT_THAT(text, HasSubstr("\nagainst kernel: the device stages of the median frame\n"));
  EXPECT_THAT(text, HasSubstr("- from kernel=1 to 11: FLOPs 121x"));
}

TEST(sweep_plot, draws_in_plain_characters_where_there_are_no_others) {
  const auto text = sweep_plot(chart_of(calibrated()), {.blocks = false});
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
    for (const std::size_t width : {30, 40, 60, 80, 120}) {
      samples::expect_to_fit("a plot", width, [&](const terminal_style& as) {
        return sweep_plot(chart_of(found), as);
      });
    }
  }
}

TEST(sweep_plot, needs_room_and_figures) {
  EXPECT_EQ(sweep_plot(chart_of(calibrated()), {.width = 20}), "");
  auto found = calibrated();
  for (auto& point : found.points) point.time = point.least = std::nullopt;
  EXPECT_THAT(sweep_plot(chart_of(found), {}), Not(HasSubstr("p50")));
  for (auto& point : found.points) point.intensity.reset();
  EXPECT_EQ(sweep_plot(chart_of(found), {}), "");
}

}  // namespace
}  // namespace graphline::report
