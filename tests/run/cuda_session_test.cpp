// Sessions on the `cuda` device, over the fake of the CUDA runtime: what a capture refuses there
// and host CPUs would not, such as a stream that was not joined.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/concurrent_runs.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/run/cuda_session.hpp"
#include "tests/run/test_kinds.hpp"
#include "tests/run/watched_device.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

TEST_F(cuda_session, computes_what_the_host_device_does_in_every_graph_mode) {
  const auto registry = kinds();
  const auto host = open_host_device(1);
  const auto spec = forked(graph_mode::off, strategy::async, 1);
  const auto expected = checksums(session(plan_for(spec, registry, "host"), *host).run());
  ASSERT_EQ(expected.size(), 2U);
  const auto cuda = open_cuda_device(0);
  for (const auto& [word, graphs] : graph_mode_words) {
    for (const auto how : {strategy::async, strategy::overlap}) {
      for (const std::int64_t in_flight : {1, 2}) {
        session s(plan_for(forked(graphs, how, in_flight), registry, "cuda"), *cuda);
        for (const auto method : s.timing_methods()) {
          const run_record record = whole_run(s, {.timing = method});
          EXPECT_EQ(checksums(record), expected)
              << "graphs " << word << ", " << to_word(how) << ", " << in_flight
              << " in flight, timing " << to_word(method);
        }
      }
    }
  }
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// The last outputs of a shorter run are those of a frame in the middle of a longer one.
TEST_F(cuda_session, writes_the_outputs_of_each_frame) {
  const temporary_folder files;
  for (const auto& [word, graphs] : graph_mode_words) {
    const auto folder = files.path() / word;
    const auto shorter = folder / "shorter";
    fake_session s(forked(graphs, strategy::overlap, 3));
    whole_run(s, {.frame_outputs = folder.string()});
    std::set<std::string> joined;
    for (int frame = 0; frame < 9; ++frame) {
      whole_run(s, {.frames = frame + 1});
      s.save_tensors(shorter.string());
      const auto written = folder / ("frame." + std::to_string(frame));
      for (const auto* const output : {"output.alone.npy", "output.join.npy"}) {
        EXPECT_EQ(bytes_of(written / output), bytes_of(shorter / output)) << written;
      }
      joined.insert(bytes_of(written / "output.join.npy"));
    }
    EXPECT_EQ(joined.size(), 9U);  // no two frames have the same outputs
    EXPECT_FALSE(std::filesystem::exists(folder / "frame.9"));
  }
}

TEST_F(cuda_session, gives_the_device_time_to_raise_its_clocks) {
  const auto registry = kinds();
  const auto cuda = open_cuda_device(0);
  const nanoseconds before = now();
  const session s(plan_for(forked(graph_mode::off, strategy::async, 1), registry, "cuda"), *cuda);
  EXPECT_GE(now() - before, cuda->properties().warm_up);
  EXPECT_GT(cuda->properties().warm_up, 0);
  // One pass runs four stages of two kernels each.
  EXPECT_GT(fake_cuda::call_count("cudaDeviceSynchronize"), 2U * 4U);
}

// The events of a stage do not show how long the device worked on it.
TEST_F(cuda_session, waits_for_the_device_before_each_stage_of_a_warm_up_that_measures_times) {
  const auto waits_of = [](const std::string& policy) {
    auto spec = forked(graph_mode::stage, strategy::overlap, 2);
    spec.run.policy = policy;
    fake_session s(spec);
    const std::size_t before = fake_cuda::call_count("cudaDeviceSynchronize");
    std::size_t in_warmup = 0;
    whole_run(s, {.before_frames = [&] {
                in_warmup = fake_cuda::call_count("cudaDeviceSynchronize") - before;
              }});
    const auto stages = std::ranges::count(s.planned().stages, side::device, &planned_stage::on);
    return std::pair(in_warmup, static_cast<std::size_t>(stages * spec.run.warmup));
  };
  const auto [without, issued] = waits_of("fifo");
  EXPECT_EQ(waits_of("critical_path").first, without + issued);
}

TEST_F(cuda_session, computes_beside_another_what_it_does_alone_in_every_graph_mode) {
  const auto registry = kinds();
  const auto cuda = open_cuda_device(0);
  for (const auto& [word, graphs] : graph_mode_words) {
    SCOPED_TRACE(word);
    session leading(plan_for(forked(graphs, strategy::async, 2), registry, "cuda"), *cuda);
    session other(plan_for(forked(graphs, strategy::overlap, 1), registry, "cuda"), *cuda);
    const auto expected = checksums(leading.run());
    const auto records = run_at_once({{.name = "leading", .session = &leading, .foreground = true},
                                      {.name = "other", .session = &other, .frames = 10'000}},
                                     nullptr);
    for (const auto& r : records) ASSERT_FALSE(r.failure) << *r.failure;
    EXPECT_EQ(records[0].frames.size(), 9U);
    EXPECT_EQ(checksums(records[0]), expected);
    EXPECT_EQ(checksums(records[1]), checksums(other.run({.frames = records[1].run.frames})));
    EXPECT_EQ(records[0].clock_error, records[1].clock_error);
    EXPECT_GT(records[0].clock_error, 0);
    EXPECT_EQ(records[0].clock_drift, records[1].clock_drift);
  }
}

/// A clock that is twice as fast stands for one that is off by as much in the course of hours.
TEST_F(cuda_session, puts_the_stamps_of_a_clock_that_drifts_where_they_belong) {
  fake_cuda::set_clock_speed(2);
  const auto registry = kinds();
  const auto cuda = open_cuda_device(0);
  session first(plan_for(forked(graph_mode::stage, strategy::async, 2), registry, "cuda"), *cuda);
  session second(plan_for(forked(graph_mode::stage, strategy::overlap, 1), registry, "cuda"),
                 *cuda);
  auto records =
      run_at_once({{.name = "first", .session = &first, .foreground = true, .frames = 40},
                   {.name = "second", .session = &second, .foreground = true, .frames = 40}},
                  nullptr);
  records.push_back(first.run({.frames = 40}));
  for (const auto& record : records) {
    ASSERT_FALSE(record.failure) << *record.failure;
    ASSERT_FALSE(record.frames.empty());
    // Known as well as the two checks that it lies between.
    EXPECT_GE(record.clock_drift + 2 * record.clock_error,
              record.frames.back().end - record.frames.front().begin);
    for (const auto& stage : record.stages) {
      if (stage.on == side::cpu) continue;
      for (std::size_t f = 0; f < record.frames.size(); ++f) {
        ASSERT_GE(stage.device[f].begin, stage.enqueued[f].begin - record.clock_error)
            << stage.name << ", frame " << f;
        ASSERT_LE(stage.device[f].end, record.frames[f].end + record.clock_error)
            << stage.name << ", frame " << f;
      }
    }
  }
}

TEST_F(cuda_session, sleeps_on_events_made_for_it_and_makes_none_of_these_where_it_polls) {
  for (const auto& [word, graphs] : graph_mode_words) {
    for (const auto strategy : {strategy::serial, strategy::async, strategy::overlap}) {
      if (graphs == graph_mode::frame && strategy != strategy::overlap) continue;
      for (const auto how : {wait_mode::spin, wait_mode::yield, wait_mode::block}) {
        SCOPED_TRACE(testing::Message()
                     << word << ", " << to_word(strategy) << ", " << to_word(how));
        auto spec = forked(graphs, strategy, 1);
        spec.run.wait = how;
        fake_session s(spec);
        const run_record record = whole_run(s);
        EXPECT_EQ(fake_cuda::events_to_sleep_on() > 0, how == wait_mode::block);
        EXPECT_EQ(fake_cuda::busy_waits(), 0U);
      }
    }
  }
}

TEST_F(cuda_session, keeps_the_stages_of_a_frame_in_order_however_long_ago_its_clock_was_checked) {
  auto spec = pipeline_of(
      {make_stage("first", "kernels", {}, 3), make_stage("second", "kernels", {"first"}, 5),
       make_stage("third", "kernels", {"second"}, 7)},
      20);
  fake_session s(spec);
  run_options options;
  options.timing = timing_method::event;
  // CUDA tells times of a quarter of an hour in steps of 62.5 us. It is no drift: the checks agree.
  constexpr nanoseconds quarter_of_an_hour = 900'000'000'000;
  options.before_frames = [] { fake_cuda::put_clocks_forward(quarter_of_an_hour); };
  options.after_frames = [] { fake_cuda::put_clocks_forward(-quarter_of_an_hour); };
  const run_record record = whole_run(s, options);
  for (std::size_t frame = 0; frame < record.frames.size(); ++frame) {
    for (std::size_t stage = 1; stage < record.stages.size(); ++stage) {
      const nanoseconds gap =
          record.stages[stage].device[frame].begin - record.stages[stage - 1].device[frame].end;
      EXPECT_GE(gap, -500) << record.stages[stage].name << ", frame " << frame;
    }
  }
}

TEST_F(cuda_session, captures_a_frame_with_its_calls_and_copies) {
  fake_session s(forked(graph_mode::frame, strategy::overlap, 1));
  const run_record record = s.run();
  ASSERT_EQ(record.graphs.size(), 1U);
  EXPECT_EQ(record.graphs[0].operations, 8U);  // two of each device stage
  EXPECT_EQ(record.graphs[0].nodes.size(),
            8U + 3U + 4U);  // with calls, copies to the device and back
}

TEST_F(cuda_session, names_the_cpu_stage_that_failed_in_a_frames_graph) {
  const hook at_frame = [](const std::string& stage, std::int64_t frame) {
    if (stage == "aside" && frame == 6) throw std::runtime_error("no more film");
  };
  fake_session s(forked(graph_mode::frame, strategy::async, 2), at_frame);
  const run_record record = s.run();
  EXPECT_EQ(record.failure, "stage 'aside' (cpu_mix), frame 6: no more film");
  EXPECT_EQ(record.frames.size(), 4U);  // 6 less 2 of warm-up
}

TEST_F(cuda_session, keeps_what_was_measured_before_the_device_failed) {
  // A CPU stage of frame 6 makes the device's next kernel fail as a bad address would.
  const hook at_frame = [](const std::string& stage, std::int64_t frame) {
    if (stage == "read" && frame == 6) next_kernel_ends = cudaErrorIllegalAddress;
  };
  for (const auto how : {strategy::serial, strategy::async, strategy::overlap}) {
    SCOPED_TRACE(to_word(how));
    fake_cuda::reset();
    fake_session s(forked(graph_mode::stage, how, 1), at_frame);
    const run_record record = s.run();
    ASSERT_TRUE(record.failure);
    EXPECT_THAT(*record.failure, testing::HasSubstr("frame 6"));
    EXPECT_THAT(*record.failure, testing::HasSubstr("cudaErrorIllegalAddress (700)"));
    EXPECT_THAT(*record.failure, testing::HasSubstr("the device cannot be used any more"));
    EXPECT_EQ(record.frames.size(), 4U);  // 6 less 2 of warm-up
  }
}

TEST_F(cuda_session, keeps_what_was_measured_when_the_device_fails_after_the_last_frame) {
  // The first call is for checking the clock once more, the second for reading an output back.
  for (const char* call : {"cudaEventCreateWithFlags", "cudaHostAlloc"}) {
    SCOPED_TRACE(call);
    const hook at_frame = [call](const std::string& stage, std::int64_t frame) {
      if (stage == "join" && frame == 10) fake_cuda::fail_call(call, 1, cudaErrorIllegalAddress);
    };
    fake_cuda::reset();
    fake_session s(forked(graph_mode::stage, strategy::async, 1), at_frame);
    const run_record record = s.run();
    ASSERT_TRUE(record.failure);
    EXPECT_THAT(*record.failure, testing::StartsWith("after the last frame: "));
    EXPECT_THAT(*record.failure, testing::HasSubstr(call));
    EXPECT_EQ(record.frames.size(), 9U);
  }
}

TEST_F(cuda_session, asks_for_no_memory_while_frames_run) {
  // Frame 3 is past the warm-up; nothing may be asked for from there on.
  std::size_t before = 0;
  const hook at_frame = [&before](const std::string& stage, std::int64_t frame) {
    if (stage == "read" && frame == 3) before = fake_cuda::allocation_calls();
  };
  for (const auto& [word, graphs] : graph_mode_words) {
    SCOPED_TRACE(word);
    fake_cuda::reset();
    fake_session s(forked(graphs, strategy::async, 2), at_frame);
    const run_record record = whole_run(s);
    EXPECT_GT(before, 0U);
    // Reading an output back takes a staging block each, once the frames are done.
    EXPECT_LE(fake_cuda::allocation_calls() - before, record.outputs.size());
  }
}

TEST_F(cuda_session, traces_stages_without_their_graphs) {
  const auto registry = kinds();
  watched_device device(open_cuda_device(0));
  device.notes_no_operation = true;
  for (const auto& [word, graphs] : graph_mode_words) {
    session s(plan_for(forked(graphs, strategy::async, 1), registry, "cuda"), device);
    run_record record = s.run();
    const std::size_t launches = fake_cuda::call_count("cudaGraphLaunch");
    const std::size_t kernels = fake_cuda::call_count("cudaLaunchKernel");
    s.trace_operations(record);
    EXPECT_THAT(record.warnings, testing::IsEmpty()) << word;
    EXPECT_EQ(fake_cuda::call_count("cudaGraphLaunch"), launches) << word;
    // Two kernels in each of the four stages, in ten runs after a first one.
    EXPECT_EQ(fake_cuda::call_count("cudaLaunchKernel"), kernels + 4 * 11 * 2) << word;
  }
}

}  // namespace
}  // namespace graphline
