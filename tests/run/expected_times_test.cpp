// Expected times of stages, which the warm-up measures for policies that need them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/run/execute/session.hpp"
#include "tests/run/decided_pipelines.hpp"
#include "tests/run/test_kinds.hpp"
#include "tests/run/watched_device.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Writes 1 from frame 3 on, and 0 before.
struct flag_from_frame_3 final : cpu_stage {
  void run(const cpu_call& call) override {
    *call.outputs[0].as<std::int64_t>() = call.frame >= 3 ? 1 : 0;
  }
};

TEST(expected_times, are_missing_with_a_warning_for_stages_that_the_warm_up_did_not_run) {
  using namespace testing_decisions;
  auto registry = make_host_registry();
  stage_kind kind = *registry.find("cpu_number");
  kind.name = "flag";
  kind.prepare = [before = kind.prepare](const auto& given, auto inputs, auto& out) {
    prepared_stage result = before(given, inputs, out);
    result.make_cpu = [](const stage_config&) { return std::make_unique<flag_from_frame_3>(); };
    return result;
  };
  registry.add(std::move(kind));
  const auto warnings = [&](const std::string& policy, std::int64_t warmup) {
    pipeline_spec spec;
    spec.name = {"rare"};
    spec.inputs.push_back({.name = {"x"}, .type = {{most_rows, columns}, dtype::int64}});
    add_stage(spec, "flag", "flag", {}, 1);
    add_stage(spec, "usual", "cpu_table", {"x"}, 1);
    add_stage(spec, "rare", "cpu_table", {"x"}, 1).when = {"flag"};
    add_stage(spec, "after", "cpu_table", {"rare"}, 1);
    spec.run.strategy = strategy::overlap;
    spec.run.policy = policy;
    spec.run.warmup = warmup;
    spec.run.frames = 5;
    const auto host = open_host_device(1);
    session s(plan_for_host(spec, registry), *host);
    return whole_run(s).warnings;
  };
  EXPECT_THAT(warnings("critical_path", 3),
              ElementsAre("the policy's expected times are 0 for stages that did not run in the "
                          "warm-up: 'rare', 'after'; a longer warm-up may run them"));
  EXPECT_THAT(warnings("critical_path", 4), IsEmpty());
  EXPECT_THAT(warnings("fifo", 3), IsEmpty());
}

/// Device stages that are issued and not complete.
struct issued_stages {
  std::atomic<int> open = 0;
  std::atomic<int> most = 0;
};

class counted_work final : public device_work, public host_operation {
 public:
  explicit counted_work(issued_stages& all) : all_(all) {}

  void enqueue(stream& s) override {
    const int open = ++all_.open;
    int most = all_.most;
    while (most < open && !all_.most.compare_exchange_weak(most, open)) {
    }
    host_enqueue(s, *this);
  }
  std::string_view name() const noexcept override { return "counted"; }
  void run() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --all_.open;
  }

 private:
  issued_stages& all_;
};

struct counted_stage final : device_stage {
  explicit counted_stage(issued_stages& to) : all(to) {}
  std::unique_ptr<device_work> bind(const stage_tensors&) override {
    return std::make_unique<counted_work>(all);
  }
  issued_stages& all;
};

TEST(expected_times, of_a_device_that_reports_no_busy_time_are_those_of_one_stage_at_a_time) {
  issued_stages issued;
  auto registry = make_registry();
  stage_kind kind = *registry.find("device_mix");
  kind.name = "counted";
  make_on(kind, "host",
          [&](device&, const stage_config&) { return std::make_unique<counted_stage>(issued); });
  registry.add(std::move(kind));
  pipeline_spec spec =
      pipeline_of({make_stage("a", "cpu_mix", {}), make_stage("b", "counted", {"a"}),
                   make_stage("c", "counted", {}), make_stage("d", "counted", {})},
                  5, 4);
  way{strategy::overlap, 2, graph_mode::off}.set(spec.run);
  watched_device on(open_host_device(1));
  /// Returns how many were issued at a time in the warm-up and in measured frames, at most.
  const auto at_a_time = [&](const std::string& policy, bool reports_busy_time) {
    on.stated.reports_busy_time = reports_busy_time;
    spec.run.policy = policy;
    session s(plan_for_host(spec, registry), on);
    issued.most = 0;
    int in_warmup = 0;
    whole_run(s, {.before_frames = [&] { in_warmup = issued.most.exchange(0); }});
    return std::pair(in_warmup, issued.most.load());
  };
  const auto alone = at_a_time("critical_path", false);
  EXPECT_EQ(alone.first, 1);
  EXPECT_GT(alone.second, 1);
  EXPECT_GT(at_a_time("critical_path", true).first, 1);
  EXPECT_GT(at_a_time("fifo", false).first, 1);
}

}  // namespace
}  // namespace graphline
