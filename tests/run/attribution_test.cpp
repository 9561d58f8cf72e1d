#include "framework/analysis/run/attribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/lower_bound.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

/// Both sides hand each other work, two device stages may run at once, and so may a CPU stage.
pipeline_spec back_and_forth(const way& w) {
  auto spec =
      pipeline_of({make_stage("in", "cpu_mix", {}), make_stage("left", "device_parts", {"in"}),
                   make_stage("right", "device_mix", {"in"}), make_stage("beside", "cpu_mix", {}),
                   make_stage("middle", "cpu_mix", {"left"}),
                   make_stage("last", "device_mix", {"middle", "right"}),
                   make_stage("out", "cpu_mix", {"last", "beside"})},
                  6, 1);
  w.set(spec.run);
  return spec;
}

std::string text_of(const run_record& record, const frame_attribution& path) {
  const settings& run = record.run;
  std::string text = name_of({run.strategy, run.in_flight, run.graphs, run.wait}) + ", timing " +
                     std::string(to_word(run.timing)) + ":";
  for (const auto& piece : path.pieces) {
    text += " " + std::string(to_word(piece.what)) + " ";
    if (piece.stage) text += record.stages[*piece.stage].name + " ";
    text += std::to_string(piece.begin) + "-" + std::to_string(piece.end);
  }
  return text;
}

void expect_sound(const run_record& record) {
  const attributor paths(record);
  const auto times_stages = record.run.timing != timing_method::none;
  for (std::size_t f = 0; f < record.frames.size(); ++f) {
    const auto path = paths.of(f);
    const auto text = text_of(record, path);
    nanoseconds sum = path.residual;
    std::int64_t by_device = 0;
    for (const auto& piece : path.pieces) {
      EXPECT_GT(piece.length(), 0) << text;
      sum += piece.length();
      by_device += piece.what == time_category::device || piece.what == time_category::copy ? 1 : 0;
    }
    EXPECT_EQ(sum, record.frames[f].end - record.frames[f].due) << text;
    EXPECT_LE(path.residual, 0) << text;
    EXPECT_GE(path.residual, -2 * by_device * record.clock_error) << text;
    // All else ends before the last stage, so that it is on the path wherever it is timed; but on a
    // busy machine the call that launches a whole frame may return later still.
    const bool launch_is_last =
        !record.launches.empty() && record.launches[f].end > record.stages.back().cpu[f].end;
    const bool has_out =
        std::any_of(path.pieces.begin(), path.pieces.end(), [&](const path_piece& piece) {
          return piece.what == time_category::cpu && record.stages[*piece.stage].name == "out";
        });
    EXPECT_EQ(has_out, times_stages && !launch_is_last) << text;
    if (!times_stages || record.run.timing == timing_method::host) continue;
    for (const auto& piece : path.pieces) EXPECT_NE(piece.what, time_category::untimed) << text;
    const auto frame = record.frames[f].end - record.frames[f].begin;
    const auto bound = lower_bounds(record).of(f, schedules::this_one).time;
    const auto stages = static_cast<std::int64_t>(record.stages.size());
    EXPECT_LE(bound, frame + 2 * stages * record.clock_error) << text;
    EXPECT_LE(lower_bounds(record).of(f, schedules::any).time, bound) << text;
  }
  EXPECT_EQ(attribute(record).has_value(), times_stages);
}

TEST(attribution_of_a_run, adds_up_under_every_strategy_graph_mode_and_method) {
  int runs = 0;
  for (const way& w : every_way({1, 3})) {
    host_session s(back_and_forth(w));
    for (const auto method : s.timing_methods()) {
      const run_record record = whole_run(s, {.timing = method});
      ASSERT_EQ(record.frames.size(), 6U);
      expect_sound(record);
      ++runs;
    }
  }
  EXPECT_GT(runs, 40);
}

}  // namespace
}  // namespace graphline
