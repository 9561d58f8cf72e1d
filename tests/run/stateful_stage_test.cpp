// What a CPU stage that keeps something from frame to frame may rely on: it sees every frame, in
// order, one at a time, and what it wrote in one frame in the next.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

std::int64_t folded(std::int64_t sum, std::int64_t frame) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) * 31U +
                                   static_cast<std::uint64_t>(frame));
}

/// The state of one stage, without a lock: only the contract protects it. The flag is relaxed, so
/// that it orders nothing and a thread sanitizer sees what is left unordered.
struct stage_state {
  std::atomic<bool> inside{false};
  std::mt19937 delays;
  std::int64_t next = 0;
  std::int64_t sum = 0;
  std::int64_t out_of_order = 0;
  std::int64_t overlapped = 0;
};

/// Runs in each CPU stage: reads the state, dawdles, and writes it, which loses what another frame
/// wrote meanwhile.
class dawdler {
 public:
  explicit dawdler(std::uint32_t seed) {
    for (stage_state& state : states_) state.delays.seed(seed++);
  }

  void operator()(const std::string& stage, std::int64_t frame) {
    stage_state& state = of(stage);
    if (state.inside.exchange(true, std::memory_order_relaxed)) ++state.overlapped;
    if (frame != state.next) ++state.out_of_order;
    state.next = frame + 1;
    const std::int64_t before = state.sum;
    // Mostly nothing, at times far longer than the other stages take.
    const auto draw = state.delays() % 8;
    if (draw < 3) std::this_thread::sleep_for(std::chrono::microseconds(draw == 0 ? 600 : 50));
    state.sum = folded(before, frame);
    state.inside.store(false, std::memory_order_relaxed);
  }

  static constexpr std::array names = {"b", "c", "d", "f"};
  stage_state& of(const std::string& stage) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (stage == names[i]) return states_[i];
    }
    throw std::logic_error("no such stage");
  }

 private:
  std::array<stage_state, names.size()> states_;
};

/// CPU stages behind the device, beside it, behind both and after another device stage.
pipeline_spec diamond() {
  auto spec =
      pipeline_of({make_stage("a", "device_mix", {"x"}), make_stage("b", "cpu_mix", {"a"}),
                   make_stage("c", "cpu_mix", {}), make_stage("d", "cpu_mix", {"b", "c"}),
                   make_stage("e", "device_parts", {"d"}), make_stage("f", "cpu_mix", {"e"})});
  spec.inputs.push_back({.name = {"x"}, .type = {shape{64}, dtype::int64}});
  return spec;
}

class stateful_stage : public testing::TestWithParam<way> {};

TEST_P(stateful_stage, sees_every_frame_in_order_and_one_at_a_time) {
  constexpr std::int64_t warmup = 3;
  constexpr std::int64_t frames = 60;
  std::int64_t expected = 0;
  for (std::int64_t frame = 0; frame < warmup + frames; ++frame) expected = folded(expected, frame);

  for (std::uint32_t round = 0; round < 3; ++round) {
    dawdler watched(17 * round + 1);
    const hook at_frame = std::ref(watched);
    pipeline_spec spec = diamond();
    GetParam().set(spec.run);
    spec.run.warmup = warmup;
    spec.run.frames = frames;
    {
      host_session s(spec, at_frame);
      const run_record record = whole_run(s);
    }
    for (const char* name : dawdler::names) {
      const stage_state& state = watched.of(name);
      EXPECT_EQ(state.next, warmup + frames) << name;
      EXPECT_EQ(state.out_of_order, 0) << name;
      EXPECT_EQ(state.overlapped, 0) << name;
      EXPECT_EQ(state.sum, expected) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(run, stateful_stage, testing::ValuesIn(every_way({1, 2, 4})),
                         [](const auto& tested) { return name_of(tested.param); });

}  // namespace
}  // namespace graphline
