// Stages whose rows, or whether they run, depend on the frame.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "framework/run/execute/session.hpp"
#include "tests/run/decided_pipelines.hpp"
#include "tests/run/test_kinds.hpp"
#include "tests/run/watched_device.hpp"

namespace graphline {
namespace {

using namespace testing_decisions;
using testing_kinds::plan_for_host;
using testing_kinds::way;

/// What the stages of `cpu_number` wrote, by stage and frame.
class number_log {
 public:
  observer seen() {
    return [this](const std::string& stage, std::int64_t frame, std::int64_t number) {
      const std::lock_guard lock(mutex_);
      numbers_[stage][frame] = number;
    };
  }

  void expect(const interpretation& expected) const {
    for (const auto& [stage, numbers] : expected.numbers) {
      const auto found = numbers_.find(stage);
      for (std::size_t f = 0; f < numbers.size(); ++f) {
        const bool ran =
            found != numbers_.end() && found->second.contains(static_cast<std::int64_t>(f));
        const std::int64_t number =
            ran ? found->second.at(static_cast<std::int64_t>(f)) : std::int64_t{skipped};
        ASSERT_EQ(number, numbers[f]) << stage << " in frame " << f;
      }
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::map<std::int64_t, std::int64_t>> numbers_;
};

class decisions : public testing::TestWithParam<way> {};

TEST_P(decisions, are_those_of_an_interpreter_on_random_pipelines) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, round);
    pipeline_spec spec = draw(random);
    GetParam().set(spec.run);
    spec.run.streams = testing_kinds::streams_in(round);
    spec.run.warmup = 2;
    spec.run.frames = 24;
    const interpretation expected = interpret(spec, spec.run.warmup + spec.run.frames);
    number_log log;
    const auto registry = make_host_registry(log.seen());
    const auto host = open_host_device(1);
    session s(plan_for_host(spec, registry), *host);
    const auto methods = s.timing_methods();
    const timing_method method = methods[static_cast<std::size_t>(round) % methods.size()];
    const run_record record = s.run({.timing = method});
    expect_as_interpreted(record, expected);
    expect_no_time_where_skipped(record);
    log.expect(expected);
    if (HasFailure()) FAIL() << to_word(method) << "\n" << lines_of(spec);
  }
}

INSTANTIATE_TEST_SUITE_P(run, decisions, testing::ValuesIn(testing_kinds::every_way({1, 2, 3})),
                         [](const auto& tested) { return name_of(tested.param); });

/// Writes 3 - frame.
class falling_count final : public cpu_stage {
 public:
  void run(const cpu_call& call) override { *call.outputs[0].as<std::int64_t>() = 3 - call.frame; }
};

TEST(decisions, need_switches_in_the_graph_of_a_frame_for_a_device_stage) {
  const auto registry = make_host_registry();
  testing_kinds::watched_device without(open_host_device(1));
  without.stated.selects = false;
  const auto failure_of = [&](const char* reader, graph_mode graphs) -> std::string {
    pipeline_spec spec;
    spec.name = {"choosing"};
    spec.inputs.push_back({.name = {"x"}, .type = {{most_rows, columns}, dtype::int64}});
    add_stage(spec, "count", "cpu_number", {}, 1);
    add_stage(spec, "some", reader, {"x"}, 1).rows = {"count"};
    spec.run.graphs = graphs;
    try {
      session(plan_for_host(spec, registry), without).run();
    } catch (const input_error& refused) {
      return refused.what();
    }
    return "none";
  };
  EXPECT_THAT(failure_of("table", graph_mode::frame),
              testing::StartsWith("stage 'some' depends on the frame"));
  EXPECT_EQ(failure_of("table", graph_mode::stage), "none");
  EXPECT_EQ(failure_of("cpu_table", graph_mode::frame), "none");
}

TEST(decisions, end_the_run_at_a_negative_number_of_rows) {
  auto registry = make_host_registry();
  stage_kind kind = *registry.find("cpu_number");
  kind.name = "falling";
  kind.prepare = [before = kind.prepare](const auto& given, auto inputs, auto& out) {
    prepared_stage result = before(given, inputs, out);
    result.make_cpu = [](const stage_config&) { return std::make_unique<falling_count>(); };
    return result;
  };
  registry.add(std::move(kind));
  for (const strategy how : {strategy::serial, strategy::async, strategy::overlap}) {
    for (const char* reader : {"table", "cpu_table"}) {
      pipeline_spec spec;
      spec.name = {"falling"};
      spec.inputs.push_back({.name = {"x"}, .type = {{most_rows, columns}, dtype::int64}});
      add_stage(spec, "count", "falling", {}, 1);
      add_stage(spec, "some", reader, {"x"}, 1).rows = {"count"};
      spec.run.strategy = how;
      spec.run.warmup = 1;
      const auto host = open_host_device(1);
      session s(plan_for_host(spec, registry), *host);
      const run_record record = s.run();
      ASSERT_TRUE(record.failure);
      EXPECT_THAT(*record.failure, testing::HasSubstr("some"));
      EXPECT_THAT(*record.failure, testing::HasSubstr("frame 4"));
      EXPECT_THAT(*record.failure, testing::HasSubstr("rows in 'count' is -1"));
      EXPECT_EQ(record.frames.size(), 3U);
    }
  }
}

}  // namespace
}  // namespace graphline
