// Every frame of a session on the `cuda` device, in any order that its waits allow.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "framework/device/cuda/cuda_device.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/run/cuda_session.hpp"
#include "tests/run/decided_pipelines.hpp"
#include "tests/run/random_pipeline.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

/// Keeps what reaches it in every frame, by frame.
class keeping_stage final : public cpu_stage {
 public:
  using kept = std::map<std::int64_t, std::vector<std::int64_t>>;

  explicit keeping_stage(kept& into) : into_(into) {}
  void run(const cpu_call& call) override {
    auto& values = into_[call.frame];
    for (const auto& input : call.inputs) {
      const auto* const data = input.as<std::int64_t>();
      values.insert(values.end(), data, data + input.type.bytes() / sizeof *data);
      std::copy_n(data, call.outputs[0].type.bytes() / sizeof *data,
                  call.outputs[0].as<std::int64_t>());
    }
  }

 private:
  kept& into_;
};

/// The kinds, and `keep`, whose stages keep what they read in every frame.
struct keeping {
  stage_registry registry = kinds();
  keeping_stage::kept seen;

  keeping() {
    stage_kind kind = *registry.find("cpu_mix");
    kind.name = "keep";
    make_on_cpu(kind, [this](const auto&) { return std::make_unique<keeping_stage>(seen); });
    registry.add(std::move(kind));
  }

  /// Appends stages to a forked pipeline, so that streams of equal urgency meet, which the order of
  /// enqueueing alone would keep right.
  static pipeline_spec extended(pipeline_spec spec) {
    spec.stages.push_back(make_stage("beside", "kernels", {"aside"}, 23));
    spec.stages.push_back(make_stage("meet", "kernels", {"left", "beside"}, 29));
    spec.stages.push_back(make_stage("keep", "keep", {"join", "meet", "right", "alone"}));
    spec.run.warmup = 0;
    return spec;
  }

  keeping_stage::kept seen_by_one(const pipeline_spec& spec) {
    const auto cuda = open_cuda_device(0);
    return seen_by(plan_for(spec, registry, "cuda"), *cuda);
  }

  keeping_stage::kept seen_by(plan p, const device_group& on) {
    seen.clear();
    const run_record record = session(std::move(p), on).run();
    EXPECT_FALSE(record.failure) << *record.failure;
    return seen;
  }
};

using cuda_order = cuda_session;

/// A wait that is missing shows in a frame whose successor put other data in its place too early,
/// or whose predecessor's were still there; the last frame alone, whose outputs are kept, tells
/// little.
TEST_F(cuda_order, computes_every_frame_as_the_host_device_does_in_any_order_the_waits_allow) {
  keeping kept;
  stream_choice streams;
  const auto seen_by = [&](pipeline_spec spec, const std::string& backend, device& on) {
    spec = keeping::extended(std::move(spec));
    spec.run.streams = streams;
    return kept.seen_by(plan_for(spec, kept.registry, backend), on);
  };
  const auto host = open_host_device(1);
  const auto expected = seen_by(forked(graph_mode::off, strategy::serial, 1), "host", *host);
  ASSERT_EQ(expected.size(), 9U);
  const std::uint64_t first = fake_cuda::seed().value_or(1);
  for (std::uint64_t seed = first; seed < first + 3; ++seed) {
    int round = static_cast<int>(seed);
    for (const way& w : every_way({1, 3, 1, 3, 1, 3})) {
      streams = streams_in(round++);
      fake_cuda::reset();
      fake_cuda::shuffle(seed);
      const auto cuda = open_cuda_device(0);
      EXPECT_EQ(seen_by(forked(w.graphs, w.how, w.in_flight), "cuda", *cuda), expected)
          << name_of(w) << ", seed " << seed << ", round " << round;
    }
  }
}

/// Puts the device stages of the extended pipeline on one of two GPUs, by chance.
pipeline_spec on_two(pipeline_spec spec, std::mt19937& random) {
  for (stage_spec& stage : spec.stages) {
    if (stage.kind.text == "kernels") stage.on.text = random() % 2 == 0 ? "a" : "b";
  }
  return spec;
}

TEST_F(cuda_order, computes_every_frame_on_two_gpus_as_on_one_in_any_order_the_waits_allow) {
  keeping kept;
  const auto expected =
      kept.seen_by_one(keeping::extended(forked(graph_mode::off, strategy::serial, 1)));
  ASSERT_EQ(expected.size(), 9U);
  const std::uint64_t first = fake_cuda::seed().value_or(1);
  std::size_t copies = 0;
  for (std::uint64_t seed = first; seed < first + 6; ++seed) {
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    for (const way& w : every_way({1, 3})) {
      if (w.graphs == graph_mode::frame) continue;
      fake_cuda::reset();
      fake_cuda::shuffle(random());
      const two_gpus on;
      auto spec = on_two(keeping::extended(forked(w.graphs, w.how, w.in_flight)), random);
      spec.run.streams = streams_in(static_cast<int>(seed));
      if (random() % 4 == 0) fake_cuda::refuse_peer_access(1, 0);
      plan p = two_gpus::plan_for(spec, kept.registry);
      for (const planned_stage& stage : p.stages) copies += copies_from_peer(p, stage) ? 1 : 0;
      EXPECT_EQ(kept.seen_by(std::move(p), on.group()), expected)
          << name_of(w) << ", seed " << seed;
    }
  }
  EXPECT_GT(copies, 60U);
}

TEST_F(cuda_order, without_the_waits_between_gpus_some_order_shows_it) {
  keeping kept;
  const auto expected =
      kept.seen_by_one(keeping::extended(forked(graph_mode::off, strategy::serial, 1)));
  pipeline_spec spec = keeping::extended(forked(graph_mode::off, strategy::async, 3));
  for (stage_spec& stage : spec.stages) {
    if (stage.kind.text == "kernels") stage.on.text = stage.name.text == "trunk" ? "a" : "b";
  }
  std::size_t wrong = 0;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    fake_cuda::reset();
    fake_cuda::shuffle(seed);
    const two_gpus on;
    plan p = two_gpus::plan_for(spec, kept.registry);
    for (planned_stage& stage : p.stages) {
      if (!copies_from_peer(p, stage)) continue;
      ASSERT_EQ(stage.waits.front().how, satisfied_by::event_wait);
      stage.waits.front().how = satisfied_by::stream_order;
    }
    kept.seen.clear();
    const run_record record =
        session(std::move(p), on.group()).run({.timing = timing_method::none});
    wrong += record.failure || kept.seen != expected ? 1 : 0;
  }
  EXPECT_GT(wrong, 0U);
}

TEST_F(cuda_order, captures_no_copy_between_gpus_and_waits_without_the_host) {
  const two_gpus on;
  auto spec = pipeline_of(
      {make_stage("first", "kernels", {}, 3), make_stage("second", "kernels", {"first"}, 5),
       make_stage("last", "cpu_mix", {"second"}, 7)},
      4, 0);
  spec.stages[0].on.text = "a";
  spec.stages[1].on.text = "b";
  spec.run.graphs = graph_mode::stage;
  const auto registry = kinds();
  plan p = two_gpus::plan_for(spec, registry);
  ASSERT_EQ(p.stages[1].name, "copy:first@b");
  EXPECT_EQ(p.stages[1].waits.front().how, satisfied_by::event_wait);
  EXPECT_FALSE(p.stages[0].host_waits);
  session s(std::move(p), on.group());
  const run_record record = whole_run(s);
  std::vector<std::string> captured;
  for (const auto& graph : record.graphs) captured.push_back(graph.name);
  EXPECT_EQ(captured, (std::vector<std::string>{"first", "second", "copy:second@cpu"}));
}

TEST_F(cuda_order, of_gpus_that_have_no_peer_access_goes_through_the_host) {
  fake_cuda::refuse_peer_access(0, 1);
  const auto registry = kinds();
  auto spec = pipeline_of(
      {make_stage("first", "kernels", {}, 3), make_stage("second", "kernels", {"first"}, 5)}, 3, 0);
  spec.stages[1].on.text = "b";
  const two_gpus on;
  session s(two_gpus::plan_for(spec, registry), on.group());
  const auto expected = hex_checksum(mixed(5, {mixed(3, {}, 0)}, 0));
  EXPECT_EQ(whole_run(s).outputs.front().checksum, expected);
  EXPECT_EQ(fake_cuda::call_count("cudaDeviceEnablePeerAccess"), 0U);
}

TEST_F(cuda_order, ends_on_two_gpus_when_one_fails) {
  for (const strategy how : {strategy::serial, strategy::async, strategy::overlap}) {
    fake_cuda::reset();
    const two_gpus on;
    auto spec = pipeline_of(
        {make_stage("first", "kernels", {}, 3), make_stage("second", "kernels", {"first"}, 5),
         make_stage("last", "cpu_mix", {"second"}, 7)},
        20, 0);
    spec.stages[1].on.text = "b";
    spec.run.strategy = how;
    spec.run.in_flight = how == strategy::serial ? 1 : 3;
    std::int64_t reached = 0;
    const auto registry = kinds([&](const std::string&, std::int64_t frame) {
      reached = frame;
      if (frame == 5) next_kernel_ends = cudaErrorIllegalAddress;
    });
    session s(two_gpus::plan_for(spec, registry), on.group());
    const run_record record = s.run();
    next_kernel_ends = cudaSuccess;
    ASSERT_TRUE(record.failure);
    EXPECT_NE(record.failure->find("cudaErrorIllegalAddress"), std::string::npos)
        << *record.failure;
    EXPECT_LT(reached, 10);
  }
}

TEST_F(cuda_order, decides_as_an_interpreter_does_in_any_order_the_waits_allow) {
  const auto launch = [](stream& s, host_operation& work,
                         const std::vector<const void*>& operands) {
    const auto carry_out = [&work] {
      work.run();
      return cudaSuccess;
    };
    const auto handle = static_cast<cudaStream_t>(s.native());
    if (fake_cuda::launch_kernel(handle, "mix", carry_out, operands) != cudaSuccess) {
      throw run_error("the kernel was not launched");
    }
  };
  const auto registry = testing_decisions::make_registry("cuda", launch);
  const auto first = static_cast<std::uint32_t>(fake_cuda::seed().value_or(1));
  std::mt19937 random(first);
  for (int round = 0; round < 12; ++round) {
    pipeline_spec spec = testing_decisions::draw(random);
    for (const way& w : every_way({1, 3})) {
      w.set(spec.run);
      spec.run.warmup = 0;  // the device is warmed up for a third of a second otherwise
      spec.run.frames = 9;
      spec.run.streams = streams_in(round);
      fake_cuda::reset();
      fake_cuda::shuffle(random());
      const auto cuda = open_cuda_device(0);
      const run_record record = session(plan_for(spec, registry, "cuda"), *cuda).run();
      testing_decisions::expect_as_interpreted(record, testing_decisions::interpret(spec, 9));
      ASSERT_FALSE(HasFailure()) << name_of(w) << ", seed " << first << "\n"
                                 << testing_decisions::lines_of(spec);
    }
  }
}

}  // namespace
}  // namespace graphline
