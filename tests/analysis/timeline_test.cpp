#include "framework/analysis/run/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

using lane_kind = timeline_lane::kind;
using span_kind = timeline_span::kind;
using named_lanes = std::vector<std::pair<lane_kind, std::string>>;

named_lanes lanes_of(const run_record& record) {
  const timeline picture(record);
  named_lanes result;
  for (const auto& lane : picture.lanes()) result.emplace_back(lane.what, lane.name);
  return result;
}

stage_record on_device(const char* name, const char* stream, bool copy, stamp_pair launched,
                       stamp_pair done) {
  stage_record stage;
  stage.name = name;
  stage.stream = stream;
  stage.copy = copy;
  stage.enqueued = {launched};
  stage.device = {done};
  stage.threads = {0};
  return stage;
}

stage_record on_cpu(const char* name, std::uint32_t thread, stamp_pair done) {
  stage_record stage;
  stage.name = name;
  stage.on = side::cpu;
  stage.cpu = {done};
  stage.threads = {thread};
  return stage;
}

/// A frame with a CPU stage on a worker, a copy on its own stream, and a network.
run_record one_frame() {
  run_record record;
  record.frames = {{0, 0, 100}};
  record.threads = {"main", "worker 1", "worker 2"};
  record.stages = {on_cpu("decode", 2, {5, 20}),
                   on_device("upload", "copies", true, {21, 23}, {24, 40}),
                   on_device("network", "main", false, {22, 30}, {41, 90})};
  return record;
}

TEST(timeline, has_lanes_for_threads_then_streams_then_copies) {
  EXPECT_EQ(lanes_of(one_frame()), (named_lanes{{lane_kind::thread, "main"},
                                                {lane_kind::thread, "worker 2"},
                                                {lane_kind::stream, "main"},
                                                {lane_kind::copies, "copies"}}));
}

TEST(timeline, treats_a_stream_with_copies_and_stages_as_a_stage_stream) {
  auto record = one_frame();
  record.stages[1].stream = "main";
  EXPECT_EQ(lanes_of(record), (named_lanes{{lane_kind::thread, "main"},
                                           {lane_kind::thread, "worker 2"},
                                           {lane_kind::stream, "main"}}));
  const auto spans = timeline(record).spans_of(0);
  EXPECT_TRUE(std::any_of(spans.begin(), spans.end(), [](const timeline_span& span) {
    return span.what == span_kind::copy && span.lane == 2;
  }));
}

TEST(timeline, lists_spans_by_begin_with_their_lanes) {
  const auto record = one_frame();
  using row = std::tuple<span_kind, std::size_t, std::size_t, nanoseconds, nanoseconds>;
  std::vector<row> rows;
  for (const auto& span : timeline(record).spans_of(0)) {
    ASSERT_TRUE(span.stage);
    rows.emplace_back(span.what, span.lane, *span.stage, span.begin, span.end);
  }
  EXPECT_EQ(rows, (std::vector<row>{{span_kind::cpu, 1, 0, 5, 20},
                                    {span_kind::launch, 0, 1, 21, 23},
                                    {span_kind::launch, 0, 2, 22, 30},
                                    {span_kind::copy, 3, 1, 24, 40},
                                    {span_kind::device, 2, 2, 41, 90}}));
}

TEST(timeline, puts_parts_after_their_stage_in_its_lane) {
  const auto record = samples::two_models_in_parts(2);
  const auto spans = timeline(record).spans_of(1);
  const auto stage = std::find_if(spans.begin(), spans.end(), [](const timeline_span& span) {
    return span.what == span_kind::device && span.stage == 0u;
  });
  ASSERT_GE(spans.end() - stage, 3);
  for (std::size_t part = 0; part < 2; ++part) {
    const auto& span = stage[static_cast<std::ptrdiff_t>(part) + 1];
    EXPECT_EQ(std::tie(span.what, span.lane, span.stage, span.part),
              std::make_tuple(span_kind::part, stage->lane, stage->stage, part));
    const auto& stamps = record.stages[0].parts[part].device[1];
    EXPECT_EQ(std::tie(span.begin, span.end), std::tie(stamps.begin, stamps.end));
  }
}

TEST(timeline, separates_busy_time_from_waits_of_a_device_stage) {
  auto record = one_frame();
  record.stages[2].busy = {30};  // of 49 between the events
  record.stages[1].busy = {16};  // all of it
  using row = std::tuple<span_kind, std::size_t, nanoseconds, nanoseconds>;
  const auto rows = [&] {
    std::vector<row> list;
    for (const auto& span : timeline(record).spans_of(0)) {
      if (span.lane > 1) list.emplace_back(span.what, *span.stage, span.begin, span.end);
    }
    return list;
  };
  EXPECT_EQ(rows(), (std::vector<row>{{span_kind::copy, 1, 24, 40},
                                      {span_kind::held, 2, 41, 90},
                                      {span_kind::device, 2, 60, 90}}));
  record.stages[2].parts = {{.name = "a", .choice = "", .device = {{41, 60}}, .busy = {10}},
                            {.name = "b", .choice = "", .device = {{61, 90}}, .busy = {20}}};
  EXPECT_EQ(rows(), (std::vector<row>{{span_kind::copy, 1, 24, 40},
                                      {span_kind::held, 2, 41, 90},
                                      {span_kind::part, 2, 50, 60},
                                      {span_kind::part, 2, 70, 90}}));
  record.stages[2].parts.clear();
  record.stages[2].busy = {50};  // impossible
  EXPECT_EQ(rows(),
            (std::vector<row>{{span_kind::copy, 1, 24, 40}, {span_kind::device, 2, 41, 90}}));
}

TEST(timeline, is_empty_if_no_stage_is_timed) {
  const auto record = samples::two_models(timing_method::none, 3);
  EXPECT_TRUE(timeline(record).lanes().empty());
  EXPECT_TRUE(timeline(record).spans_of(0).empty());
}

TEST(timeline, has_no_streams_if_only_the_host_is_timed) {
  for (const auto method : {timing_method::host, timing_method::sync}) {
    const auto record = samples::two_models(method, 1);
    EXPECT_EQ(lanes_of(record), (named_lanes{{lane_kind::thread, "main"}}));
    const auto kind = method == timing_method::sync ? span_kind::synced : span_kind::launch;
    const auto spans = timeline(record).spans_of(0);
    EXPECT_EQ(std::count_if(spans.begin(), spans.end(),
                            [&](const timeline_span& span) { return span.what == kind; }),
              2);
  }
}

TEST(timeline, shows_frame_graph_launches_on_the_main_thread) {
  auto record = one_frame();
  for (auto& stage : record.stages) {
    if (stage.on == side::cpu) continue;
    stage.enqueued.clear();
    stage.threads.clear();
  }
  record.launches = {{1, 4}};
  const timeline picture(record);
  const auto spans = picture.spans_of(0);
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[0].what, span_kind::launch);
  EXPECT_FALSE(spans[0].stage);
  EXPECT_EQ(picture.lanes()[spans[0].lane].name, "main");
}

TEST(timeline, has_no_host_spans_if_a_damaged_record_names_no_threads) {
  auto record = one_frame();
  record.threads.clear();
  for (auto& stage : record.stages) stage.threads.clear();
  record.launches = {{1, 4}};
  EXPECT_EQ(lanes_of(record),
            (named_lanes{{lane_kind::stream, "main"}, {lane_kind::copies, "copies"}}));
  EXPECT_EQ(timeline(record).spans_of(0).size(), 2U);
}

TEST(timeline, has_no_spans_of_an_unfinished_frame) {
  auto record = one_frame();
  EXPECT_TRUE(timeline(record).spans_of(1).empty());
  record.frames.clear();
  EXPECT_TRUE(timeline(record).spans_of(0).empty());
}

}  // namespace
}  // namespace graphline
