#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/analysis/stats/histogram.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/page_parts.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/made_roofline.hpp"
#include "tests/analysis/sample_rows.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/trace/read_trace.hpp"

namespace graphline::report {
namespace {

using samples::cell_of;
using samples::number;
using samples::part_of;
using samples::recognizer;
using samples::text;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::int32_t> sixty_frames() {
  constexpr std::int32_t some[] = {1, 2, skipped, 2, 0, 3, 9, 2, 2, 1};
  std::vector<std::int32_t> rows;
  for (int i = 0; i < 6; ++i) rows.insert(rows.end(), std::begin(some), std::end(some));
  return rows;
}

run_record calibrated(const std::vector<std::int32_t>& rows) {
  auto record = recognizer(rows, timing_method::layers);
  record.calibration = samples::round_calibration();
  record.outputs = {
      {.tensor = "texts", .type = {{4, 2}, dtype::int64}, .checksum = "0", .rows = 1}};
  return record;
}

TEST(describe_rows, shows_buckets_padding_and_frames_that_did_not_run_a_stage) {
  samples::expect_golden("run_rows.txt", as_text(describe(calibrated(sixty_frames()))));
}

TEST(describe_rows, has_exact_figures_for_each_bucket) {
  const auto says = describe(calibrated(sixty_frames()));
  const auto& rows = part_of<table>(says, "rows");
  EXPECT_EQ(number(cell_of(rows, "recognize", "frames")), 48);
  EXPECT_DOUBLE_EQ(*number(cell_of(rows, "recognize", "rows")), (2 * 1 + 4 * 2 + 3 + 4) / 8.0);
  EXPECT_DOUBLE_EQ(*number(cell_of(rows, "recognize", "padding")), (26 - 17) / 26.0);
  EXPECT_EQ(number(cell_of(rows, "1 row", "frames")), 12);
  EXPECT_EQ(number(cell_of(rows, "1 row", "padding")), 0);
  EXPECT_EQ(number(cell_of(rows, "4 rows", "frames")), 36);
  EXPECT_DOUBLE_EQ(*number(cell_of(rows, "4 rows", "padding")), (24 - 15) / 24.0);
  EXPECT_EQ(number(cell_of(rows, "4 rows", "flops")), 4e6);
  EXPECT_EQ(number(cell_of(rows, "no rows", "frames")), 6);
  EXPECT_EQ(number(cell_of(rows, "skipped", "frames")), 6);
  EXPECT_FALSE(cell_of(rows, "skipped", "mean").known());
  EXPECT_FALSE(cell_of(rows, "decode", "padding").known());

  const auto& stages = part_of<table>(says, "stages");
  EXPECT_EQ(text(cell_of(stages, "recognize", "ran")), "48 of 60");
  EXPECT_EQ(number(cell_of(stages, "notify", "frames_skipped")), 12);
  EXPECT_EQ(text(cell_of(stages, "find", "ran")), "all");
  EXPECT_EQ(text(cell_of(part_of<table>(says, "outputs"), "texts", "rows")), "1 of 4");
}

TEST(describe_rows, calls_an_output_skipped_and_shows_no_checksum_of_it) {
  auto record = recognizer({1, skipped});
  record.tensors = {{"texts", {{4}, dtype::float32}, side::cpu, 2, {}}};
  record.outputs = {{.tensor = "texts", .type = {{4}}, .checksum = "cbf29ce484222325", .rows = 0}};
  const auto shown = as_text(describe(record));
  EXPECT_THAT(shown, ContainsRegex("texts +float32 \\[4\\] +skipped"));
  EXPECT_THAT(shown, Not(HasSubstr("cbf29ce484222325")));
  const auto result = nlohmann::ordered_json::parse(result_json(record));
  EXPECT_EQ(result["outputs"][0]["checksum"], "cbf29ce484222325");
  EXPECT_EQ(result["outputs"][0]["rows_computed"], 0);
  record.stages[2].rows = {1, 0};
  EXPECT_THAT(as_text(describe(record)), HasSubstr("0 of 4"));
}

TEST(describe_rows, counts_batches_where_frames_run_together) {
  auto record = recognizer({1, 4, skipped});
  record.run.arrival = arrival::constant;
  record.run.rate = 500;
  record.run.batch_frames = 4;
  for (const auto& frame : record.frames) record.batches.push_back({1, frame.begin});
  const auto shown = as_text(describe(record));
  EXPECT_THAT(shown, ContainsRegex("Rows by bucket\nstage \\(us\\) +batches +rows"));
  EXPECT_THAT(shown, HasSubstr("FLOPs: of a batch"));
  EXPECT_THAT(shown, HasSubstr("ran: batches that ran the stage; its times are of these batches"));
  EXPECT_THAT(shown, HasSubstr("Batches: 1.00 frames on average"));
  EXPECT_THAT(shown, HasSubstr("mean: from the start to the end of a batch"));
  EXPECT_THAT(as_text(diff(describe(record), describe(record), "a", "b")),
              HasSubstr("batches before"));
}

TEST(describe_rows, shows_a_stage_that_never_ran_without_a_time) {
  const auto shown = as_text(describe(calibrated({skipped, skipped, 0})));
  EXPECT_THAT(shown, HasSubstr("0 of 3"));
  EXPECT_THAT(shown, Not(HasSubstr("nan")));
  const auto result = nlohmann::ordered_json::parse(result_json(recognizer({skipped, 0})));
  const auto& stage = result["stages"][1];
  EXPECT_EQ(stage["frames_run"], 0);
  EXPECT_EQ(stage["frames_without_rows"], 1);
  EXPECT_EQ(stage["frames_skipped"], 1);
  EXPECT_FALSE(stage.contains("share"));
}

TEST(describe_rows, has_nothing_to_say_of_a_run_without_rows) {
  const auto says = describe(samples::two_models(timing_method::event, 60));
  EXPECT_THROW(part_of<table>(says, "rows"), std::runtime_error);
  EXPECT_THAT(as_text(says), Not(HasSubstr(" ran ")));
}

TEST(describe_rows, draws_only_frames_that_ran_a_stage) {
  const auto record = recognizer({skipped, 1, 0, 4});
  const auto says = describe(record);
  const auto& frames = std::get<frames_chart>(part_of<chart>(says, "frame_times").drawn);
  EXPECT_THAT(frames.list[2].frames, ElementsAre(1, 3));
  EXPECT_THAT(frames.list[2].times, ElementsAre(101'000, 404'000));
}

TEST(describe_rows, draws_a_mark_where_a_stage_did_not_run) {
  const auto record = recognizer({skipped, 1, 0});
  const auto says = describe(record);
  const auto data = chart_data(part_of<chart>(says, "timeline"));
  const auto marks_of = [&](std::size_t frame) {
    std::vector<std::string> marks;
    const auto& row = data["frames"][frame];
    for (std::size_t at = 6; at < 6 + 7 * row[5].get<std::size_t>(); at += 7) {
      const auto& kind = data["kinds"][row[at].get<std::size_t>()];
      if (kind["category"] != "skipped") continue;
      EXPECT_EQ(data["lanes"][row[at + 1].get<std::size_t>()]["name"], "main");
      EXPECT_EQ(row[at + 5], 0);
      marks.push_back(fmt::format("{} {} {}", record.stages[row[at + 2].get<std::size_t>()].name,
                                  kind["name"].get<std::string>(), row[at + 4].get<nanoseconds>()));
    }
    return marks;
  };
  EXPECT_THAT(marks_of(0), ElementsAre("recognize skipped 110000", "decode skipped 120000",
                                       "notify skipped 130000"));
  EXPECT_THAT(marks_of(1), IsEmpty());
  EXPECT_THAT(marks_of(2), ElementsAre("recognize no rows 110000", "decode no rows 120000",
                                       "notify skipped 130000"));
}

TEST(describe_rows, tells_what_part_of_the_graphs_is_for_buckets) {
  auto record = recognizer({1, 4});
  for (const std::int64_t rows : {0, 1, 4}) {
    auto& graph = record.graphs.emplace_back();
    graph.rows = rows;
    graph.capture = 1'000;
    graph.instantiate = 2'000;
  }
  EXPECT_THAT(as_text(describe(record)),
              ContainsRegex("buckets account for 2 graphs and[[:space:]]+6.00 us of"));
}

TEST(describe_rows, gives_each_bucket_a_line_of_the_roofline) {
  const auto says = describe(roofline_record{calibrated(sixty_frames()), {}});
  const auto& stages = part_of<table>(says, "stages");
  EXPECT_EQ(number(cell_of(stages, "recognize (rows=1)", "flops")), 1e6);
  EXPECT_EQ(number(cell_of(stages, "recognize (rows=1)", "measured")), 101'000);
  EXPECT_EQ(number(cell_of(stages, "recognize (rows=4)", "flops")), 4e6);
  EXPECT_EQ(number(cell_of(stages, "recognize (rows=4)", "measured")), 402'000);
  EXPECT_EQ(number(cell_of(stages, "recognize (rows=4)", "rows")), 4);
}

TEST(run_csv_of_rows, leaves_the_duration_empty_if_a_stage_did_not_run) {
  auto record = recognizer({skipped, 0, 3});
  record.stages.resize(2);
  EXPECT_EQ(run_csv(record),
            std::string(csv_header) +
                "0,,,end_to_end,0,135000,135000,,0\n"
                "0,find,cpu,cpu_time,0,100000,100000,,0\n"
                "0,recognize,device,device_time,110000,,,,100000\n"
                "0,recognize,device,enqueue_time,110000,,,,100000\n"
                "1,,,end_to_end,2000000,2135000,135000,,2000000\n"
                "1,find,cpu,cpu_time,2000000,2100000,100000,,2000000\n"
                "1,recognize,device,device_time,2110000,,,0,2100000\n"
                "1,recognize,device,enqueue_time,2110000,,,0,2100000\n"
                "2,,,end_to_end,4000000,4583000,583000,,4000000\n"
                "2,find,cpu,cpu_time,4000000,4100000,100000,,4000000\n"
                "2,recognize,device,device_time,4120000,4523000,403000,3,4100000\n"
                "2,recognize,device,enqueue_time,4110000,4120000,10000,3,4100000\n");
}

TEST(trace_of_rows, marks_a_stage_that_did_not_run_and_states_rows) {
  const auto trace = samples::read_trace(recognizer({skipped, 0, 3}));
  std::vector<std::string> marks;
  for (const auto& event : samples::events_of(trace, "i")) {
    if (event["cat"] == "skipped") marks.push_back(event["name"]);
  }
  EXPECT_THAT(marks, ElementsAre("recognize skipped", "decode skipped", "notify skipped",
                                 "recognize has no rows", "decode has no rows", "notify skipped"));
  const auto slices = samples::slices_named(trace, "recognize");
  ASSERT_THAT(slices, SizeIs(1));
  EXPECT_EQ(slices[0]["args"]["rows"], 3);
  EXPECT_EQ(slices[0]["args"]["bucket"], 4);
  for (const auto& slice : samples::events_of(trace, "X")) {
    EXPECT_GT(samples::ns_of(slice["dur"]), 0);
  }
}

TEST(diff_of_rows, joins_buckets) {
  auto other = recognizer({1, 1, 4, 0});
  other.stages[1].buckets[0].rows = 2;
  const auto says = diff(describe(recognizer({1, 3, 4, 0})), describe(other), "a", "b");
  const auto& rows = part_of<table>(says, "rows");
  EXPECT_EQ(number(cell_of(rows, "4 rows", "frames_before")), 2);
  EXPECT_EQ(number(cell_of(rows, "4 rows", "frames_after")), 1);
  EXPECT_FALSE(cell_of(rows, "1 row", "frames_after").known());
  EXPECT_EQ(number(cell_of(rows, "2 rows", "frames_after")), 2);
}

TEST(experiment_of_rows, shows_stages_that_ran_differently) {
  auto record = samples::two_strategies();
  samples::for_runs_of(record, 0, [](run_record& run) {
    run.stages[0].capacity = 4;
    run.stages[0].rows.assign(run.frames.size(), 2);
  });
  samples::for_runs_of(record, 1, [](run_record& run) {
    run.stages[0].capacity = 4;
    run.stages[0].rows.assign(run.frames.size(), 2);
  });
  EXPECT_THROW(part_of<table>(describe(record), "rows"), std::runtime_error);
  samples::for_runs_of(record, 1, [](run_record& run) {
    for (std::size_t frame = 0; frame < run.frames.size(); frame += 4) {
      run.stages[0].rows[frame] = skipped;
    }
  });
  const auto says = describe(record);
  const auto& rows = part_of<table>(says, "rows");
  ASSERT_THAT(rows.rows, SizeIs(2));
  EXPECT_EQ(number(rows.rows[0].cells[3]), 1);
  EXPECT_EQ(number(rows.rows[1].cells[3]), 0.75);
  EXPECT_EQ(number(rows.rows[1].cells[4]), 2);
}

}  // namespace
}  // namespace graphline::report
