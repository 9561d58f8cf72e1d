#include "framework/analysis/run/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/run/graph_cost.hpp"
#include "framework/analysis/run/launch_waits.hpp"
#include "framework/analysis/run/timeline.hpp"
#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_roofline.hpp"
#include "tests/analysis/made_run.hpp"
#include "tests/analysis/sample_rows.hpp"

namespace graphline {
namespace {

using samples::recognizer;
using testing::Contains;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::SizeIs;
using testing::StartsWith;

// ---- Frames and buckets -------------------------------------------------------------------------

TEST(rows, are_counted_by_bucket_with_their_padding) {
  const auto record = recognizer({skipped, 1, 2, 0, 3, 9, 1, skipped});
  const auto summary = summarize(record);
  EXPECT_FALSE(summary.stages[0].rows);

  const auto& recognize = *summary.stages[1].rows;
  EXPECT_EQ(recognize.ran, 5U);
  EXPECT_EQ(recognize.without_rows, 1U);
  EXPECT_EQ(recognize.skipped, 2U);
  EXPECT_EQ(recognize.rows, 1 + 2 + 3 + 4 + 1);
  EXPECT_EQ(recognize.computed, 1 + 4 + 4 + 4 + 1);
  EXPECT_EQ(recognize.above_capacity, 1U);
  EXPECT_EQ(recognize.most, 9);
  EXPECT_THAT(recognize.mean_rows(), Optional(DoubleEq(2.2)));
  ASSERT_THAT(recognize.buckets, SizeIs(2));
  EXPECT_EQ(recognize.buckets[0].frames, 2U);
  EXPECT_EQ(recognize.buckets[0].rows, 2);
  EXPECT_EQ(recognize.buckets[0].times->mean(), 101'000);
  EXPECT_EQ(recognize.buckets[1].frames, 3U);
  EXPECT_EQ(recognize.buckets[1].rows, 9);
  EXPECT_EQ(recognize.buckets[1].times->mean(), 403'000);

  const auto& decode = *summary.stages[2].rows;  // a CPU stage computes its rows only
  EXPECT_EQ(decode.rows, decode.computed);
  EXPECT_THAT(decode.buckets, IsEmpty());
  const auto& notify = *summary.stages[3].rows;
  EXPECT_EQ(notify.ran, 5U);
  EXPECT_EQ(notify.skipped, 3U);
  EXPECT_FALSE(notify.mean_rows());
}

TEST(rows, give_samples_only_of_frames_that_ran_the_stage) {
  for (const auto timing : {timing_method::event, timing_method::layers, timing_method::host}) {
    const auto record = recognizer({skipped, 1, 0, 4, skipped}, timing);
    const auto summary = summarize(record);
    for (const std::size_t stage : {1, 2, 3}) {
      for (const auto& column : summary.stages[stage].columns) {
        EXPECT_EQ(column.times->count(), 2U);
        EXPECT_GT(column.times->min(), 0);
      }
    }
  }
  const auto record = recognizer({skipped, 1, 0, 4, skipped});
  const auto times = end_to_end_times(record);
  const auto whole = static_cast<double>(std::accumulate(times.begin(), times.end(), 0LL));
  const auto recognize = summarize(record).stages[1];
  EXPECT_EQ(recognize.columns[0].times->mean(), (101'000 + 404'000) / 2.0);
  EXPECT_THAT(recognize.share, Optional(DoubleEq((101'000 + 404'000) / whole)));
}

TEST(rows, of_a_stage_that_never_ran_are_no_samples) {
  const auto record = recognizer({skipped, 0, skipped}, timing_method::layers);
  const auto analysis = analyze(record);
  for (const std::size_t stage : {1, 2, 3}) {
    const auto& of = analysis.summary.stages[stage];
    for (const auto& column : of.columns) EXPECT_FALSE(column.times);
    EXPECT_FALSE(of.share);
    for (const auto& part : of.parts) EXPECT_FALSE(part.times || part.share);
    EXPECT_EQ(of.rows->ran, 0U);
    EXPECT_FALSE(of.rows->mean_rows());
  }
  for (const auto& row : analysis.attribution->rows) {
    EXPECT_NE(row.what, time_category::device);
    EXPECT_GT(row.all, 0);
  }
}

TEST(rows, give_a_part_the_frames_of_its_bucket) {
  const auto summary = summarize(recognizer({1, 4, 0, 2, skipped}, timing_method::layers));
  const auto& parts = summary.stages[1].parts;
  ASSERT_THAT(parts, SizeIs(4));
  EXPECT_EQ(parts[0].times->count(), 1U);
  EXPECT_EQ(parts[0].times->mean(), 101'000 / 4 * 3);
  EXPECT_EQ(parts[2].times->count(), 2U);
  EXPECT_EQ(parts[2].times->mean(), (404'000 + 402'000) / 2 / 4 * 3);
  for (const std::size_t bucket : {0, 1}) {
    EXPECT_DOUBLE_EQ(*parts[2 * bucket].share + *parts[2 * bucket + 1].share, 1);
  }
}

// ---- Better buckets -----------------------------------------------------------------------------

std::int64_t computed_with(const std::vector<std::int64_t>& rows,
                           const std::vector<std::int64_t>& buckets) {
  std::int64_t sum = 0;
  for (const auto count : rows) sum += *std::ranges::lower_bound(buckets, count);
  return sum;
}

TEST(best_buckets, compute_the_fewest_rows_of_all_sets) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto capacity = static_cast<std::int64_t>(1 + random() % 10);
    std::vector<std::int64_t> rows(random() % 12);
    for (auto& count : rows) count = 1 + static_cast<std::int64_t>(random()) % capacity;
    const std::size_t most = 1 + random() % 4;
    std::int64_t least = capacity * static_cast<std::int64_t>(rows.size());
    for (unsigned set = 0; set < 1U << (capacity - 1); ++set) {
      std::vector<std::int64_t> buckets;
      for (std::int64_t b = 1; b < capacity; ++b) {
        if ((set >> (b - 1) & 1U) != 0) buckets.push_back(b);
      }
      buckets.push_back(capacity);
      if (buckets.size() <= most) least = std::min(least, computed_with(rows, buckets));
    }
    const auto found = best_buckets(rows, capacity, most);
    ASSERT_LE(found.buckets.size(), most);
    ASSERT_EQ(found.buckets.back(), capacity);
    ASSERT_TRUE(std::ranges::is_sorted(found.buckets));
    ASSERT_EQ(found.computed, least);
    ASSERT_EQ(found.computed, computed_with(rows, found.buckets));
  }
}

TEST(best_buckets, take_no_more_buckets_than_help) {
  EXPECT_THAT(best_buckets({16, 16}, 16, 5).buckets, ElementsAre(16));
  EXPECT_THAT(best_buckets({3, 3}, 16, 5).buckets, ElementsAre(3, 16));
  EXPECT_THAT(best_buckets({}, 16, 5).buckets, ElementsAre(16));
}

TEST(best_buckets, are_found_quickly_for_many_numbers_of_rows) {
  std::vector<std::int64_t> rows(200'000);
  std::iota(rows.begin(), rows.end(), std::int64_t{1});
  const auto found = best_buckets(rows, 200'000, 2);
  EXPECT_THAT(found.buckets, ElementsAre(100'000, 200'000));
}

std::vector<std::string> findings_of(const run_record& record) {
  return samples::texts_of(summarize(record).findings);
}

TEST(rows_findings, name_frames_with_more_rows_than_the_capacity) {
  EXPECT_THAT(findings_of(recognizer({9, 4, 5})),
              Contains("rows_above_capacity(recognize, decode) frames=2 most=9 capacity=4"));
  EXPECT_THAT(findings_of(recognizer({4, 4, 1})), IsEmpty());
}

TEST(rows_findings, name_batches_with_more_frames_than_the_capacity) {
  const auto batched = [](std::vector<std::int32_t> rows) {
    auto record = recognizer(rows);
    record.run.batch_frames = 8;
    for (const auto& frame : record.frames) record.batches.push_back({1, frame.begin});
    return findings_of(record);
  };
  EXPECT_THAT(batched({8, 4, 5}),
              Contains("rows_above_capacity(recognize, decode) batches=2 most=8 capacity=4 "
                       "batch_frames=8"));
  EXPECT_THAT(batched({9, 4}),
              Contains("rows_above_capacity(recognize, decode) batches=1 most=9 capacity=4"));
}

TEST(rows_findings, name_the_stage_that_takes_longest_first_and_no_copies) {
  auto record = recognizer(std::vector<std::int32_t>(20, 2));
  record.stages.push_back(record.stages[1]);
  record.stages.back().name = "longer";
  for (auto& stamps : record.stages.back().device) stamps.end += 1'000;
  record.stages.push_back(record.stages.back());
  record.stages.back().name = "copy:longer";
  record.stages.back().copy = true;
  EXPECT_THAT(findings_of(record), Contains(StartsWith("padding(longer, recognize) ")));
}

TEST(rows_findings, state_buckets_that_compute_a_tenth_fewer_rows) {
  const auto padded = [](std::size_t twos, std::size_t fours) {
    std::vector<std::int32_t> rows(twos, 2);
    rows.insert(rows.end(), fours, 4);
    return findings_of(recognizer(rows));
  };
  EXPECT_THAT(padded(20, 0), Contains("padding(recognize) padding=50 % buckets=[2, 4] better=0 %"));
  EXPECT_THAT(padded(19, 0), Not(Contains(StartsWith("padding"))));  // too few frames
  EXPECT_THAT(padded(4, 20), Not(Contains(StartsWith("padding"))));  // 8 of 96 rows
  EXPECT_THAT(padded(6, 20), Contains(StartsWith("padding")));       // 12 of 104 rows
}

// ---- Where the time goes ------------------------------------------------------------------------

TEST(attribution_of_rows, passes_through_a_stage_that_did_not_run) {
  samples::made_run made(strategy::overlap);
  made.cpu_stage("flag")
      .device_stage("skip", {{0, satisfied_by::cpu_return}})
      .cpu_stage("last", {{1, satisfied_by::completion}});
  made.frame(0, 21).ended_by(2);
  made.cpu(0, 0, 10).cause(0, cause::frame_begun);
  made.launch(1, 12, 12).device(1, 12, 12).cause(1, 0).seen(1, 12);
  made.cpu(2, 15, 20).cause(2, 1);
  made.record.stages[1].rows = {skipped};
  EXPECT_EQ(samples::path_of(made),
            "cpu flag 0-10, worker_wait skip 10-12, worker_wait last 12-15, cpu last 15-20, "
            "worker_wait 20-21");
}

TEST(attribution_of_rows, ends_with_a_stage_that_did_not_run) {
  samples::made_run made(strategy::overlap);
  made.cpu_stage("flag").device_stage("skip", {{0, satisfied_by::cpu_return}});
  made.frame(0, 15).ended_by(1);
  made.cpu(0, 0, 10).cause(0, cause::frame_begun);
  made.launch(1, 12, 12).device(1, 12, 12).cause(1, 0).seen(1, 12);
  made.record.stages[1].rows = {0};
  EXPECT_EQ(samples::path_of(made),
            "cpu flag 0-10, worker_wait skip 10-12, completion_delay 12-15");
}

/// A stage that was skipped at 12 keeps its place on the stream "side": behind "long", for whose
/// event the stream waits, and behind "before", which was launched earlier.
samples::made_run behind_other_work(nanoseconds end_of_long, nanoseconds end_of_before) {
  samples::made_run made(strategy::overlap);
  made.cpu_stage("flag")
      .device_stage("long")
      .device_stage("before", {}, "side")
      .device_stage("skip", {{0, satisfied_by::cpu_return}, {1, satisfied_by::event_wait}}, "side")
      .cpu_stage("last", {{3, satisfied_by::completion}})
      .device_stage("after", {}, "side");
  made.frame(0, 120).ended_by(4);
  made.cpu(0, 0, 10).cause(0, cause::frame_begun);
  made.launch(1, 0, 1).device(1, 1, end_of_long).cause(1, cause::frame_begun);
  made.launch(2, 1, 2).device(2, 2, end_of_before).cause(2, cause::frame_begun);
  made.launch(3, 12, 12).device(3, 12, 12).cause(3, 0).seen(3, 105);
  made.cpu(4, 110, 120).cause(4, 3);
  made.launch(5, 13, 14).device(5, 100, 101).cause(5, cause::frame_begun);
  made.record.stages[3].rows = {skipped};
  return made;
}

TEST(attribution_of_rows, passes_on_what_the_stream_of_the_stage_waited_for) {
  EXPECT_EQ(samples::path_of(behind_other_work(100, 50)),
            "launch long 0-1, device long 1-100, completion_delay last 100-105, "
            "worker_wait last 105-110, cpu last 110-120");
  EXPECT_EQ(samples::path_of(behind_other_work(50, 100)),
            "launch long 0-1, launch before 1-2, device before 2-100, "
            "completion_delay last 100-105, worker_wait last 105-110, cpu last 110-120");
}

TEST(attribution_of_rows, adds_up_with_any_frame_skipped) {
  for (const auto timing : {timing_method::event, timing_method::layers, timing_method::host}) {
    const auto record = recognizer({skipped, 1, 0, 4, 2, skipped}, timing);
    const auto summary = attribute(record);
    double sum = summary->residual.all;
    for (const auto& row : summary->rows) sum += row.all;
    EXPECT_NEAR(sum, summary->end_to_end.all, 1e-6);
    EXPECT_EQ(summary->largest_residual, 0);
    for (std::size_t frame = 0; frame < record.frames.size(); ++frame) {
      for (const auto& piece : attributor(record).of(frame).pieces) EXPECT_GT(piece.length(), 0);
    }
    if (timing == timing_method::host) continue;
    EXPECT_DOUBLE_EQ(summary->stages[1].share_of_frames, 0.5);
    EXPECT_DOUBLE_EQ(summary->stages[1].by_bucket[0] * 6, 101'000);
    EXPECT_DOUBLE_EQ(summary->stages[1].by_bucket[1] * 6, 404'000 + 402'000);
  }
}

TEST(lower_bound_of_rows, gives_a_stage_that_did_not_run_no_length_and_no_place_on_its_stream) {
  const auto made = behind_other_work(100, 50);
  for (const auto of : {schedules::this_one, schedules::any}) {
    const auto bound = lower_bounds(made.record).of(0, of);
    EXPECT_EQ(bound.time, 99 + 10);
    EXPECT_THAT(bound.stages, ElementsAre(1, 3, 4));
  }
}

TEST(launch_waits_of_rows, state_means_over_the_frames_that_ran_the_stage) {
  auto record = recognizer({skipped, 1, skipped, 1});
  for (auto& stamps : record.stages[1].enqueued) {
    if (stamps.length() > 0) stamps.end += 90'000;
  }
  EXPECT_THAT(samples::texts_of({*launch_finding(record)}),
              Contains("device_time_may_hold_waits(recognize) enqueue=100 us device=101 us"));
}

TEST(graph_cost_of_rows, weighs_each_graph_by_the_frames_that_launch_it) {
  auto record = recognizer({1, 1, 4, 0});
  const auto add = [&](std::int64_t rows, nanoseconds eager) {
    graph_record graph;
    graph.name = "recognize";
    graph.rows = rows;
    graph.launch = graph.later_launch = {100, 100, 100};
    graph.eager.assign(3, eager);
    graph.first_launch = 1'600;
    graph.capture = 100 * rows;
    graph.instantiate = 7;
    record.graphs.push_back(graph);
  };
  add(1, 1'100);
  add(4, 4'100);
  const auto cost = *graph_cost_of(record);
  EXPECT_EQ(cost.found, graph_cost_summary::comparison::saves);
  EXPECT_EQ(cost.saving, 1'000 / 2 + 4'000 / 4);
  EXPECT_EQ(cost.first_launch, 3'200);
  EXPECT_EQ(cost.breaks_even_after, 3);

  record.graphs.emplace_back().name = "other";
  record.graphs.back().capture = 1'000;
  const auto with_other = *graph_cost_of(record);
  EXPECT_EQ(with_other.graphs, 3U);
  EXPECT_EQ(with_other.bucket_graphs, 2U);
  EXPECT_EQ(with_other.bucket_setup, 100 + 400 + 2 * 7);
}

// ---- Roofline -----------------------------------------------------------------------------------

TEST(roofline_of_rows, compares_each_bucket_with_its_own_cost) {
  std::vector<std::int32_t> rows = {skipped, 0};
  for (int i = 0; i < 6; ++i) rows.insert(rows.end(), {1, 3});
  auto record = recognizer(rows, timing_method::layers);
  record.calibration = samples::round_calibration();
  const auto found = *evaluate_roofline(record);
  ASSERT_THAT(found.stages, SizeIs(2));
  double on_path = 0;
  for (const std::size_t b : {0, 1}) {
    const auto& line = found.stages[b];
    const double size = b == 0 ? 1 : 4;
    EXPECT_EQ(line.bucket, b);
    EXPECT_DOUBLE_EQ(line.share_of_frames, 6 / 14.0);
    EXPECT_EQ(line.figures.cost.flops, record.stages[1].buckets[b].cost.flops);
    EXPECT_THAT(line.figures.measured, Optional(DoubleEq(b == 0 ? 101'000 : 403'000)));
    ASSERT_THAT(line.parts, SizeIs(2));
    EXPECT_EQ(line.parts[0].index, 2 * b);
    EXPECT_THAT(line.parts[0].figures.measured,
                Optional(DoubleEq(b == 0 ? 101'000 / 4 * 3 : 403'000 / 4 * 3)));
    EXPECT_THAT(line.parts[1].figures.cost.flops, Optional(0));
    EXPECT_DOUBLE_EQ(*line.figures.roofline_time, size * *found.stages[0].figures.roofline_time);
    on_path += *line.share_of_path;
  }
  EXPECT_EQ(name_of(record, found.stages[0]), "recognize (rows=1)");
  EXPECT_EQ(name_of(record, found.stages[1]), "recognize (rows=4)");
  EXPECT_THAT(found.measured, Optional(DoubleEq((101'000 + 403'000) * 6 / 14.0)));
  const auto path = attribute(record);
  EXPECT_DOUBLE_EQ(on_path, path->stages[1].on_path / path->end_to_end.all);
  EXPECT_THAT(found.by_gain, ElementsAre(1, 0));
}

TEST(roofline_of_rows, leaves_out_buckets_that_no_frame_took) {
  auto record = recognizer({1, 1, 1, 1, 1});
  record.calibration = samples::round_calibration();
  EXPECT_THAT(evaluate_roofline(record)->stages, SizeIs(1));
  record = recognizer({skipped, 0});
  record.calibration = samples::round_calibration();
  EXPECT_THAT(evaluate_roofline(record)->stages, IsEmpty());
  EXPECT_EQ(evaluate_roofline(record)->measured, std::nullopt);
}

// ---- Timeline -----------------------------------------------------------------------------------

TEST(timeline_of_rows, has_a_mark_but_no_span_of_a_stage_that_did_not_run) {
  const auto record = recognizer({skipped, 1, 0}, timing_method::layers);
  const timeline picture(record);
  const auto of_skipped = picture.spans_of(0);
  ASSERT_THAT(of_skipped, SizeIs(1));
  EXPECT_EQ(of_skipped[0].stage, 0U);
  const auto marks = picture.skipped_in(0);
  ASSERT_THAT(marks, SizeIs(3));
  EXPECT_EQ(marks[0].stage, 1U);
  EXPECT_EQ(marks[0].begin, 110'000);
  EXPECT_EQ(marks[0].what, timeline_span::kind::skip);
  EXPECT_THAT(picture.skipped_in(1), IsEmpty());
  EXPECT_EQ(picture.skipped_in(2)[0].what, timeline_span::kind::no_rows);
  const auto parts =
      std::ranges::count(picture.spans_of(1), timeline_span::kind::part, &timeline_span::what);
  EXPECT_EQ(parts, 2);  // of the frame's bucket
}

}  // namespace
}  // namespace graphline
