// What a record says of how a run was carried out, beside its samples.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

run_record run_of(const pipeline_spec& spec) {
  host_session s(spec);
  return s.run();
}

/// By name, the thread of each frame.
std::vector<std::string> threads_of(const run_record& record, std::size_t stage) {
  std::vector<std::string> names;
  for (const auto thread : record.stages.at(stage).threads) {
    names.push_back(record.threads.at(thread));
  }
  return names;
}

TEST(recording, says_that_one_thread_does_it_all_under_async) {
  auto spec = chain();
  spec.run.strategy = strategy::async;
  for (const auto method : {timing_method::host, timing_method::sync, timing_method::event}) {
    spec.run.timing = method;
    const auto record = run_of(spec);
    EXPECT_THAT(record.threads, ElementsAre("main"));
    for (std::size_t s = 0; s < record.stages.size(); ++s) {
      EXPECT_EQ(threads_of(record, s).size(), 6U);
    }
  }
}

TEST(recording, has_the_time_that_the_device_was_at_work_within_each_span) {
  auto spec = chain();
  for (const auto method : {timing_method::event, timing_method::layers}) {
    for (const auto graphs : {graph_mode::off, graph_mode::stage, graph_mode::frame}) {
      spec.run.timing = method;
      spec.run.graphs = graphs;
      const auto record = run_of(spec);
      EXPECT_TRUE(record.device.one_at_a_time);
      EXPECT_GE(record.cpu_cores, 1);
      for (const auto& stage : record.stages) {
        ASSERT_EQ(stage.busy.size(), stage.device.size());
        for (std::size_t f = 0; f < stage.busy.size(); ++f) {
          EXPECT_GT(stage.busy[f], 0);
          EXPECT_LE(stage.busy[f], stage.device[f].length());
        }
      }
    }
  }
  spec.run.timing = timing_method::sync;
  spec.run.graphs = graph_mode::stage;
  for (const auto& stage : run_of(spec).stages) EXPECT_THAT(stage.busy, IsEmpty());
}

TEST(recording, names_no_threads_where_nothing_is_timed) {
  auto spec = chain();
  spec.run.timing = timing_method::none;
  const auto record = run_of(spec);
  for (const auto& stage : record.stages) EXPECT_THAT(stage.threads, IsEmpty());
  EXPECT_THAT(record.launches, IsEmpty());
}

TEST(recording, says_which_workers_ran_cpu_stages_under_overlap) {
  auto spec = chain();
  spec.run.strategy = strategy::overlap;
  const auto record = run_of(spec);
  const auto cpu = std::ranges::find(record.stages, "b", &stage_record::name);
  const auto names = threads_of(record, static_cast<std::size_t>(cpu - record.stages.begin()));
  EXPECT_EQ(names.size(), 6U);
  EXPECT_THAT(names, Each(::testing::AnyOf(StartsWith("worker "), StartsWith("thread "))));
}

TEST(recording, has_the_launch_of_each_frames_graph_and_no_launches_of_stages) {
  auto spec = chain();
  spec.run.graphs = graph_mode::frame;
  const auto record = run_of(spec);
  ASSERT_EQ(record.launches.size(), record.frames.size());
  for (std::size_t f = 0; f < record.frames.size(); ++f) {
    EXPECT_EQ(record.launches[f].begin, record.frames[f].begin);
    EXPECT_GE(record.launches[f].end, record.launches[f].begin);
    EXPECT_LE(record.launches[f].end, record.frames[f].end);
  }
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    const bool cpu = record.stages[s].on == side::cpu;
    EXPECT_EQ(record.stages[s].threads.size(), cpu ? 6U : 0U);
    EXPECT_THAT(threads_of(record, s), Each("host functions"));
  }
}

TEST(recording, says_what_each_stage_waits_for_and_what_hands_over_what) {
  const auto record = run_of(chain());
  ASSERT_EQ(record.stages.size(), 3U) << "the planner puts a copy in";
  EXPECT_THAT(record.stages[0].waits, IsEmpty());
  EXPECT_THAT(record.stages[1].waits, ElementsAre(wait_record{0, record.stages[1].waits[0].how}));
  EXPECT_THAT(record.stages[2].waits, ElementsAre(wait_record{1, satisfied_by::completion}));
  EXPECT_TRUE(record.stages[1].copy);

  ASSERT_GE(record.tensors.size(), 3U);
  for (const auto& tensor : record.tensors) {
    if (tensor.writer) {
      for (const auto reader : tensor.readers) EXPECT_LT(*tensor.writer, reader);
    }
  }
  const auto input = std::ranges::find(record.tensors, "x", &tensor_record::name);
  ASSERT_NE(input, record.tensors.end());
  EXPECT_EQ(input->writer, std::nullopt);
  EXPECT_THAT(input->readers, ElementsAre(0U));
  EXPECT_EQ(input->type.shape, shape({64}));
  EXPECT_EQ(record.source, std::nullopt) << "the pipeline was made in C++";
}

TEST(recording, keeps_the_text_of_the_file) {
  auto spec = chain();
  spec.source = std::make_shared<source_text>("chain.yaml", "pipeline: chain\n");
  EXPECT_EQ(run_of(spec).source, (source_record{"chain.yaml", "pipeline: chain\n"}));
}

}  // namespace
}  // namespace graphline
