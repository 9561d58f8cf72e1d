#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "framework/analysis/run/timeline.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tests/report/trace/read_trace.hpp"

namespace graphline {
namespace {

using samples::ns_of;

/// A run with random stages, threads, streams and stamps, mostly contradictory.
run_record random_run(std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(generator() % n); };
  const auto stamps = [&] {
    const auto begin = static_cast<nanoseconds>(below(400));
    return stamp_pair{begin, begin + static_cast<nanoseconds>(below(60))};
  };
  run_record record;
  record.run.timing = timing_method::layers;
  record.threads = {"main", "worker 1"};
  const std::size_t frames = 1 + below(4);
  for (std::size_t i = 0; i < frames; ++i) {
    const auto at = stamps();
    record.frames.push_back({at.begin, at.begin, at.end});
  }
  record.stages.resize(1 + below(6));
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    auto& stage = record.stages[i];
    stage.name = std::to_string(i);
    stage.on = below(3) == 0 ? side::cpu : side::device;
    stage.copy = below(4) == 0;
    stage.stream = below(2) == 0 ? "a" : "b";
    if (!stage.copy && stage.on == side::device) stage.parts.resize(below(4));
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (below(2) == 0) stage.waits.push_back({earlier, satisfied_by::event_wait});
    }
    for (std::size_t frame = 0; frame < frames; ++frame) {
      stage.threads.push_back(static_cast<std::uint32_t>(below(2)));
      if (stage.on == side::cpu) {
        stage.cpu.push_back(stamps());
        continue;
      }
      stage.enqueued.push_back(stamps());
      stage.device.push_back(stamps());
      for (auto& part : stage.parts) part.device.push_back(stamps());
    }
  }
  return record;
}

TEST(trace_slices, nest_whatever_the_stamps_say) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    EXPECT_TRUE(samples::nested(samples::read_trace(random_run(seed)))) << "seed " << seed;
  }
}

/// Slices of a trace other than frames, frame by frame in timeline order.
std::vector<nlohmann::ordered_json> slices_of(const run_record& record) {
  auto slices = samples::events_of(samples::read_trace(record), "X");
  std::erase_if(slices, [](const auto& slice) { return slice["cat"] == "frame"; });
  return slices;
}

nanoseconds measured_length(const nlohmann::ordered_json& slice) {
  for (const char* key : {"device_ns", "host_ns"}) {
    if (slice["args"].contains(key)) return slice["args"][key].get<nanoseconds>();
  }
  return ns_of(slice["dur"]);
}

/// Lengths in the trace of two stages with equal begin, the first longer.
std::pair<nanoseconds, nanoseconds> shown_lengths(side on) {
  run_record record;
  record.run.timing = timing_method::event;
  record.threads = {"main"};
  record.frames = {{0, 0, 400}};
  record.stages.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    auto& stage = record.stages[i];
    stage.name = std::to_string(i);
    stage.on = on;
    stage.stream = "a";
    stage.threads = {0};
    const std::vector<stamp_pair> stamps{{100, i == 0 ? 300 : 150}};
    (on == side::cpu ? stage.cpu : stage.device) = stamps;
    if (on == side::device) stage.enqueued = {{10, 20}};
  }
  std::pair<nanoseconds, nanoseconds> lengths;
  for (const auto& slice : slices_of(record)) {
    if (ns_of(slice["ts"]) != 100) continue;
    auto& length = measured_length(slice) == 200 ? lengths.first : lengths.second;
    length = ns_of(slice["dur"]);
  }
  return lengths;
}

TEST(trace_slices, hold_the_shorter_of_two_on_a_thread_and_leave_it_out_on_a_stream) {
  EXPECT_EQ(shown_lengths(side::cpu), (std::pair<nanoseconds, nanoseconds>(200, 50)));
  EXPECT_EQ(shown_lengths(side::device), (std::pair<nanoseconds, nanoseconds>(200, 0)));
}

TEST(trace_slices, begin_when_they_were_stamped_unless_they_are_parts) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto record = random_run(seed);
    const timeline picture(record);
    const auto slices = slices_of(record);
    std::size_t next = 0;
    for (std::size_t frame = 0; frame < record.frames.size(); ++frame) {
      for (const auto& stamped : picture.spans_of(frame)) {
        ASSERT_LT(next, slices.size());
        const auto& shown = slices[next++];
        EXPECT_EQ(shown["args"]["frame"], frame);
        EXPECT_EQ(measured_length(shown), stamped.end - stamped.begin);
        if (stamped.what == timeline_span::kind::part) continue;
        EXPECT_EQ(ns_of(shown["ts"]), stamped.begin);
        EXPECT_LE(ns_of(shown["dur"]), stamped.end - stamped.begin);
      }
    }
    EXPECT_EQ(next, slices.size());
  }
}

}  // namespace
}  // namespace graphline
