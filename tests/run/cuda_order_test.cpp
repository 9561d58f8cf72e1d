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

using cuda_order = cuda_session;

/// A wait that is missing shows in a frame whose successor put other data in its place too early,
/// or whose predecessor's were still there; the last frame alone, whose outputs are kept, tells
/// little.
TEST_F(cuda_order, computes_every_frame_as_the_host_device_does_in_any_order_the_waits_allow) {
  keeping_stage::kept seen;
  auto registry = kinds();
  stage_kind kind = *registry.find("cpu_mix");
  kind.name = "keep";
  make_on_cpu(kind, [&seen](const stage_config&) { return std::make_unique<keeping_stage>(seen); });
  registry.add(std::move(kind));
  stream_choice streams;
  const auto seen_by = [&](pipeline_spec spec, const std::string& backend, device& on) {
    // Streams of equal urgency that meet, which the order of enqueueing alone would keep right.
    spec.stages.push_back(make_stage("beside", "kernels", {"aside"}, 23));
    spec.stages.push_back(make_stage("meet", "kernels", {"left", "beside"}, 29));
    spec.stages.push_back(make_stage("keep", "keep", {"join", "meet", "right", "alone"}));
    spec.run.warmup = 0;
    spec.run.streams = streams;
    seen.clear();
    const run_record record = session(plan_for(spec, registry, backend), on).run();
    EXPECT_FALSE(record.failure) << *record.failure;
    return seen;
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
