#include "framework/report/trace/trace_json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/trace/read_trace.hpp"

namespace graphline {
namespace {

using samples::events_of;
using samples::nested;
using samples::ns_of;
using samples::read_trace;
using samples::slices_named;
using samples::two_models;
using json = nlohmann::ordered_json;

/// Three frames, two in flight: a network, a concurrent CPU stage, another network on its own
/// stream, and a copy.
run_record overlapping() {
  auto record = two_models(timing_method::event, 3);
  record.run.strategy = strategy::overlap;
  record.run.in_flight = 2;
  record.threads = {"main", "worker 1"};
  record.stages[1].threads.assign(3, 1);
  record.stages[2].stream = "side";
  record.stages[2].waits = {{0, satisfied_by::event_wait}, {1, satisfied_by::cpu_return}};
  auto copy = record.stages[2];
  copy.name = "score to host";
  copy.kind = "copy";
  copy.copy = true;
  copy.stream = "copy out";
  copy.waits = {{2, satisfied_by::event_wait}};
  for (auto& stamps : copy.device) stamps = {stamps.end + 1'000, stamps.end + 9'001};
  for (auto& stamps : copy.enqueued) stamps = {stamps.end + 10, stamps.end + 600};
  record.stages.push_back(std::move(copy));
  for (std::size_t i = 0; i < 3; ++i) {
    const auto earlier = static_cast<nanoseconds>(i) * 3'123'456;
    auto& frame = record.frames[i];
    frame = {frame.begin - earlier, frame.begin - earlier, frame.end - earlier + 12'000};
    for (auto& stage : record.stages) {
      for (auto* column : {&stage.enqueued, &stage.device, &stage.cpu}) {
        if (column->empty()) continue;
        (*column)[i].begin -= earlier;
        (*column)[i].end -= earlier;
      }
    }
  }
  return record;
}

TEST(trace_json, names_the_stage_that_would_have_started_without_the_policy) {
  auto record = overlapping();
  record.stages[0].preferred = {0, 2, 0};                   // to noise
  record.stages[1].preferred = {choice::held_back, 0, -1};  // to another pipeline's
  const auto trace = read_trace(record);
  std::vector<std::string> seen;
  std::vector<std::string> held;
  for (const auto& event : events_of(trace, "X")) {
    const auto args = event.value("args", json::object());
    if (args.contains("held back")) held.push_back(event["name"].get<std::string>());
    if (!args.contains("instead of")) continue;
    seen.push_back(event["name"].get<std::string>() + " " + args["frame"].dump() + ": " +
                   args["instead of"].get<std::string>());
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (std::vector<std::string>{"launch backbone 1: noise",
                                            "noise 2: a stage of another pipeline"}));
  EXPECT_EQ(held, std::vector<std::string>{"noise"});
}

TEST(trace_json, is_written_as_ever) {
  samples::expect_golden("trace_event.json", trace_json(overlapping()));
}

TEST(trace_json, keeps_every_nanosecond) {
  auto record = two_models(timing_method::event, 1);
  record.frames[0] = {0, 0, 123'456'789'012'345};
  record.stages[0].device[0] = {7, 123'456'789'012'344};
  record.stages[2].device[0] = {123'456'789'012'344, 123'456'789'012'345};
  const auto text = trace_json(record);
  EXPECT_NE(text.find("\"ts\":0.007,\"dur\":123456789012.337,"), std::string::npos);
  const auto slices = slices_named(read_trace(record), "backbone");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(ns_of(slices[0]["dur"]), 123'456'789'012'337);
}

TEST(trace_json, shows_waits_late_and_dropped_frames) {
  const auto record = samples::two_models_on_schedule(30);
  const auto trace = read_trace(record);
  std::size_t waited = 0;
  for (const auto& frame : record.frames) waited += frame.due < frame.begin ? 1 : 0;
  EXPECT_EQ(events_of(trace, "b").size(), waited);
  EXPECT_EQ(events_of(trace, "e").size(), waited);
  std::map<std::string, std::size_t> marks;
  for (const auto& event : events_of(trace, "i")) {
    const auto name = event["name"].get<std::string>();
    ++marks[name.substr(name.rfind(' ') + 1)];
  }
  EXPECT_EQ(marks,
            (std::map<std::string, std::size_t>{{"dropped", 2}, {"due", 30}, {"deadline", 30}}));
  std::size_t late = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    const auto over = record.frames[i].end - record.frames[i].due - *record.run.deadline;
    if (over <= 0) continue;
    ++late;
    const auto slices = slices_named(trace, "frame " + std::to_string(i) + " late");
    ASSERT_EQ(slices.size(), 1u) << i;
  }
  EXPECT_GT(late, 0u);
}

TEST(trace_json, marks_when_a_frame_is_due_and_its_deadline) {
  const auto record = samples::two_models_on_schedule(5);
  const auto trace = read_trace(record);
  std::map<std::string, nanoseconds> at;
  for (const auto& event : events_of(trace, "i")) at[event["name"]] = ns_of(event["ts"]);
  EXPECT_EQ(at["frame 3 deadline"] - at["frame 3 due"], 80'000'000);
  auto frame = slices_named(trace, "frame 3");
  if (frame.empty()) frame = slices_named(trace, "frame 3 late");
  ASSERT_EQ(frame.size(), 1u);
  EXPECT_EQ(ns_of(frame[0]["ts"]) - at["frame 3 due"],
            record.frames[3].begin - record.frames[3].due);
}

TEST(trace_json, shows_what_the_device_worked_apart_from_what_held_a_stage_up) {
  auto record = two_models(timing_method::event, 2);
  record.stages[0].busy = {10'000'000, 20'000'000};  // of about 70 ms
  const auto trace = read_trace(record);
  const auto held = slices_named(trace, "backbone (held up)");
  const auto work = slices_named(trace, "backbone");
  ASSERT_EQ(held.size(), 2u);
  ASSERT_EQ(work.size(), 2u);
  for (std::size_t frame = 0; frame < 2; ++frame) {
    EXPECT_EQ(ns_of(work[frame]["dur"]), record.stages[0].busy[frame]);
    EXPECT_EQ(ns_of(held[frame]["dur"]) + ns_of(work[frame]["dur"]),
              record.stages[0].device[frame].length());
    EXPECT_EQ(ns_of(held[frame]["ts"]) + ns_of(held[frame]["dur"]), ns_of(work[frame]["ts"]));
  }
}

TEST(trace_json, has_no_negative_times) {
  auto record = samples::two_models_on_schedule(5);
  ASSERT_LT(std::min_element(record.frames.begin(), record.frames.end(),
                             [](auto& a, auto& b) { return a.due < b.due; })
                ->due,
            0);
  const auto trace = read_trace(record);
  nanoseconds earliest = 1;
  for (const auto& event : trace["traceEvents"]) {
    if (event.contains("ts")) earliest = std::min(earliest, ns_of(event["ts"]));
  }
  EXPECT_EQ(earliest, 0);
}

TEST(trace_json, draws_arrows_along_edges_and_from_launches) {
  const auto trace = read_trace(overlapping());
  std::map<json, json> starts;
  for (const auto& event : events_of(trace, "s")) {
    EXPECT_TRUE(starts.emplace(event["id"], event).second);
  }
  std::multiset<std::string> names;
  for (const auto& event : events_of(trace, "f")) {
    const auto start = starts.find(event["id"]);
    ASSERT_NE(start, starts.end());
    EXPECT_EQ(start->second["name"], event["name"]);
    EXPECT_LE(ns_of(start->second["ts"]), ns_of(event["ts"]));
    EXPECT_TRUE(samples::within_a_slice(trace, start->second));
    EXPECT_TRUE(samples::within_a_slice(trace, event));
    names.insert(event["name"].get<std::string>());
  }
  EXPECT_EQ(names.size(), starts.size());
  EXPECT_EQ(names.count("launch"), 9u);
  EXPECT_EQ(names.count("return"), 3u);
  EXPECT_EQ(names.count("event"), 6u);
}

TEST(trace_json, draws_no_arrow_backwards) {
  auto record = two_models(timing_method::event, 1);
  auto& head = record.stages[2];
  const auto before = events_of(read_trace(record), "s").size();
  head.device[0].begin = head.enqueued[0].begin - 1;
  record.stages[0].device[0].end = head.device[0].begin;
  EXPECT_EQ(events_of(read_trace(record), "s").size(), before - 1);
}

TEST(trace_json, puts_layers_within_their_stage_even_where_stamps_contradict_it) {
  auto record = samples::two_models_in_parts(2);
  auto& stage = record.stages[0];
  stage.parts[0].device[1].begin -= 40;
  stage.parts[1].device[1].end += 50;
  const auto trace = read_trace(record);
  EXPECT_TRUE(nested(trace));
  const auto first = slices_named(trace, "0.conv2d+1.gelu");
  const auto second = slices_named(trace, "2.linear");
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0]["args"]["choice"], "cuDNN engine 8, workspace 2 MiB");
  EXPECT_FALSE(first[0]["args"].contains("device_ns"));
  EXPECT_EQ(first[1]["args"]["device_ns"], stage.parts[0].device[1].length());
  EXPECT_EQ(ns_of(second[1]["dur"]) + 50, second[1]["args"]["device_ns"]);
}

TEST(trace_json, shortens_what_overlaps_the_next_on_its_stream_and_says_how_long_it_was) {
  auto record = two_models(timing_method::event, 1);
  auto& backbone = record.stages[0].device[0];
  backbone.end = record.stages[2].device[0].begin + 30;
  const auto trace = read_trace(record);
  EXPECT_TRUE(nested(trace));
  const auto slices = slices_named(trace, "backbone");
  EXPECT_EQ(ns_of(slices[0]["dur"]) + 30, backbone.length());
  EXPECT_EQ(slices[0]["args"]["device_ns"], backbone.length());
}

TEST(trace_json, nests_what_a_thread_took_up_within_something_else) {
  run_record record;
  record.run.timing = timing_method::event;
  record.frames = {{0, 0, 100}};
  record.threads = {"worker 1"};
  for (const auto& stamps : {stamp_pair{0, 50}, {10, 20}, {40, 70}, {60, 65}}) {
    stage_record stage;
    stage.name = "stage " + std::to_string(record.stages.size());
    stage.on = side::cpu;
    stage.cpu = {stamps};
    stage.threads = {0};
    record.stages.push_back(std::move(stage));
  }
  const auto trace = read_trace(record);
  EXPECT_TRUE(nested(trace));
  EXPECT_EQ(ns_of(slices_named(trace, "stage 0")[0]["dur"]), 40);
  EXPECT_EQ(slices_named(trace, "stage 0")[0]["args"]["host_ns"], 50);
  EXPECT_EQ(ns_of(slices_named(trace, "stage 1")[0]["dur"]), 10);
  EXPECT_EQ(ns_of(slices_named(trace, "stage 2")[0]["dur"]), 30);
}

TEST(trace_json, takes_names_that_hold_anything) {
  const std::string odd = "a \"b\" <c>&\n\t画像 \\ 🙂";
  auto record = samples::two_models_in_parts(1);
  record.pipeline = odd;
  record.device.name = odd;
  record.threads = {odd};
  record.stages[0].name = odd;
  record.stages[0].kind = odd;
  record.stages[0].stream = odd;
  record.stages[0].parts[0].name = odd;
  record.stages[2].name = "bad \xff byte";
  const auto trace = read_trace(record);
  EXPECT_EQ(trace["otherData"]["pipeline"], odd);
  EXPECT_EQ(slices_named(trace, odd).size(), 2u);
  EXPECT_EQ(slices_named(trace, "launch " + odd).size(), 1u);
  EXPECT_EQ(slices_named(trace, "bad \uFFFD byte").size(), 1u);
}

TEST(trace_json, shows_what_each_timing_method_measures) {
  const auto slices = [](timing_method method) {
    std::multiset<std::string> categories;
    const auto trace = read_trace(two_models(method, 1));
    for (const auto& event : events_of(trace, "X")) categories.insert(event["cat"]);
    return categories;
  };
  using expected = std::multiset<std::string>;
  EXPECT_EQ(slices(timing_method::none), (expected{"frame"}));
  EXPECT_EQ(slices(timing_method::host), (expected{"frame", "launch", "stage", "launch"}));
  EXPECT_EQ(slices(timing_method::sync),
            (expected{"frame", "synchronized", "stage", "synchronized"}));
  EXPECT_EQ(slices(timing_method::event),
            (expected{"frame", "launch", "stage", "stage", "launch", "stage"}));
}

TEST(trace_json, shows_the_launch_of_a_frames_graph_and_what_it_began) {
  auto record = two_models(timing_method::event, 2);
  for (auto& stage : record.stages) {
    if (stage.on == side::cpu) continue;
    stage.enqueued.clear();
    stage.threads.clear();
  }
  for (const auto& frame : record.frames) {
    record.launches.push_back({frame.begin - 900, frame.begin - 100});
  }
  const auto trace = read_trace(record);
  EXPECT_EQ(slices_named(trace, "launch frame").size(), 2u);
  std::size_t arrows = 0;
  for (const auto& event : events_of(trace, "f")) arrows += event["cat"] == "launch" ? 1 : 0;
  EXPECT_EQ(arrows, 4u) << "to backbone and noise, which wait for nothing";
}

}  // namespace
}  // namespace graphline
