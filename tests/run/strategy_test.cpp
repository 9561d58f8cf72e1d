#include <gtest/gtest.h>

#include <random>
#include <string>

#include "framework/run/execute/session.hpp"
#include "tests/run/random_pipeline.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

class every_strategy : public testing::TestWithParam<way> {
 protected:
  static void set(settings& run, std::int64_t frames) {
    GetParam().set(run);
    run.frames = frames;
    run.warmup = 0;
    run.timing = timing_method::event;
  }
};

TEST_P(every_strategy, computes_what_the_pipeline_says_on_random_graphs) {
  std::mt19937 generator(7);
  for (int round = 0; round < 16; ++round) {
    constexpr std::int64_t frames = 20;
    auto pipeline = make_random(generator, frames + 2 - 1);
    set(pipeline.spec.run, frames);
    pipeline.spec.run.warmup = 2;
    pipeline.spec.run.streams = streams_in(round);
    host_session s(pipeline.spec);
    const auto methods = s.timing_methods();
    const run_record record =
        whole_run(s, {.timing = methods[static_cast<std::size_t>(round) % methods.size()]});
    ASSERT_EQ(record.frames.size(), static_cast<std::size_t>(frames));
    expect_outputs(record, pipeline, "round " + std::to_string(round));
  }
}

TEST_P(every_strategy, begins_and_ends_frames_in_order_and_stages_within_their_frame) {
  std::mt19937 generator(11);
  for (int round = 0; round < 10; ++round) {
    auto pipeline = make_random(generator, 0);
    set(pipeline.spec.run, 30);
    host_session s(pipeline.spec);
    expect_frames_in_order_and_stages_within(s.run());
  }
}

TEST_P(every_strategy, ends_a_frame_after_a_slow_last_stage_that_all_others_overtake) {
  auto spec =
      pipeline_of({make_stage("slow", "device_slow", {}, 5), make_stage("quick", "device_mix", {}),
                   make_stage("cpu", "cpu_mix", {})});
  spec.stages[0].priority = level_of(priority::low);
  spec.stages[1].priority = level_of(priority::high);
  set(spec.run, 4);
  host_session s(spec);
  expect_frames_in_order_and_stages_within(s.run());
}

INSTANTIATE_TEST_SUITE_P(
    run, every_strategy,
    testing::Values(way{strategy::serial, 1, graph_mode::stage, wait_mode::block},
                    way{strategy::serial, 1, graph_mode::off, wait_mode::spin},
                    way{strategy::async, 1, graph_mode::stage, wait_mode::block},
                    way{strategy::async, 1, graph_mode::off, wait_mode::yield},
                    way{strategy::async, 3, graph_mode::stage, wait_mode::spin},
                    way{strategy::overlap, 1, graph_mode::stage, wait_mode::block},
                    way{strategy::overlap, 1, graph_mode::off, wait_mode::spin},
                    way{strategy::overlap, 2, graph_mode::stage, wait_mode::block},
                    way{strategy::overlap, 3, graph_mode::off, wait_mode::yield},
                    way{strategy::async, 1, graph_mode::frame, wait_mode::block},
                    way{strategy::async, 3, graph_mode::frame, wait_mode::spin},
                    way{strategy::overlap, 1, graph_mode::frame, wait_mode::yield},
                    way{strategy::overlap, 2, graph_mode::frame, wait_mode::block}),
    [](const auto& tested) { return name_of(tested.param); });

}  // namespace
}  // namespace graphline
