// Cores and scheduling classes of the threads that run stages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "framework/base/machine.hpp"
#include "framework/base/realtime.hpp"
#include "framework/run/execute/concurrent_runs.hpp"
#include "tests/run/together_testing.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;

class placed_stages : public testing::TestWithParam<way> {
 protected:
  /// Device and CPU stages in turn, and a CPU stage beside them.
  static pipeline_spec mixed_stages() {
    pipeline_spec spec =
        pipeline_of({make_stage("a", "cpu_mix", {}), make_stage("b", "device_mix", {"a"}),
                     make_stage("c", "cpu_mix", {"b"}), make_stage("d", "cpu_mix", {})},
                    20, 2);
    GetParam().set(spec.run);
    return spec;
  }
};

TEST_P(placed_stages, keeps_a_cpu_stage_on_its_cores_and_others_where_they_were) {
  const cpu_set usable = affinity_cpus();
  if (usable.size() < 2) GTEST_SKIP() << "the program may use one CPU only";
  std::mutex lock;
  std::map<std::string, std::set<cpu_set>> seen;
  std::set<int> ran_on;
  const auto look = [&](const std::string& stage, std::int64_t) {
    const std::lock_guard locked(lock);
    seen[stage].insert(affinity_cpus());
    if (stage == "c") ran_on.insert(::sched_getcpu());
  };
  pipeline_spec spec = mixed_stages();
  const run_record usual = whole_run(*std::make_unique<host_session>(spec, look));
  const auto former = seen;
  for (const int core : {usable.front(), usable.back()}) {
    seen.clear();
    ran_on.clear();
    spec.stages[2].cores.cpus = {core};
    const run_record placed = whole_run(*std::make_unique<host_session>(spec, look));
    EXPECT_THAT(seen["c"], ElementsAre(cpu_set{core}));
    EXPECT_THAT(ran_on, ElementsAre(core));
    EXPECT_EQ(seen["a"], former.at("a"));
    EXPECT_EQ(seen["d"], former.at("d"));
    EXPECT_EQ(checksums(placed), checksums(usual));
    EXPECT_EQ(affinity_cpus(), usable);
  }
}

TEST_P(placed_stages, ends_the_run_where_the_system_refuses_the_cores) {
  pipeline_spec spec = mixed_stages();
  spec.stages[2].cores.cpus = {CPU_SETSIZE - 1};
  if (affinity_cpus().back() == CPU_SETSIZE - 1) GTEST_SKIP() << "the program may use this core";
  host_session s(spec);
  const run_record record = s.run();
  ASSERT_TRUE(record.failure);
  EXPECT_THAT(*record.failure, ::testing::StartsWith("stage 'c' (cpu_mix), frame "));
  EXPECT_THAT(*record.failure, ::testing::EndsWith(": the system does not let it run on cores "
                                                   "1023; change 'cores'"));
}

/// Class and priority of the calling thread, from the system: `pthread_getschedparam` returns what
/// it found when it was called first.
std::pair<int, int> own_scheduling() {
  ::sched_param parameters{};
  ::sched_getparam(0, &parameters);
  return {::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, parameters.sched_priority};
}

/// Classes of this process's threads whose name begins so.
std::set<int> policies_of(const std::string& name) {
  std::set<int> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string named;
    std::getline(std::ifstream(task.path() / "comm"), named);
    const int number = std::stoi(task.path().filename());
    if (named.starts_with(name)) found.insert(::sched_getscheduler(number) & ~SCHED_RESET_ON_FORK);
  }
  return found;
}

TEST_P(placed_stages, gives_the_threads_of_a_run_a_real_time_priority_and_takes_it_back) {
  if (scoped_realtime(7).refused()) GTEST_SKIP() << realtime_refusal(7);
  using scheduling = std::pair<int, int>;
  const scheduling fifo{SCHED_FIFO, 7};
  const scheduling before = own_scheduling();
  std::mutex lock;
  std::set<scheduling> in_stages;
  std::set<int> made_by_stages;
  std::set<int> watchers;
  std::set<int> device_threads;
  pipeline_spec spec = mixed_stages();
  spec.run.realtime = 7;
  host_session s(spec, [&](const std::string&, std::int64_t frame) {
    const std::lock_guard locked(lock);
    in_stages.insert(own_scheduling());
    if (frame != 3) return;
    std::thread([&] { made_by_stages.insert(own_scheduling().first); }).join();
    watchers.merge(policies_of("watcher"));
    device_threads.merge(policies_of("host device"));
  });
  EXPECT_EQ(own_scheduling(), before);
  scheduling driver;
  run_options options;
  options.before_frames = [&] { driver = own_scheduling(); };
  const run_record record = whole_run(s, options);
  EXPECT_EQ(driver, fifo);
  EXPECT_EQ(own_scheduling(), before);
  EXPECT_THAT(made_by_stages, ElementsAre(SCHED_OTHER));
  EXPECT_THAT(device_threads, Not(Contains(SCHED_FIFO)));
  EXPECT_THAT(record.environment, Contains(std::pair<std::string, std::string>(
                                      "scheduling", "SCHED_FIFO, priority 7")));
  // The device calls the CPU stages of a frame's graph.
  if (GetParam().graphs == graph_mode::frame) return;
  EXPECT_THAT(in_stages, ElementsAre(fifo));
  EXPECT_THAT(watchers, Each(SCHED_FIFO));
  EXPECT_EQ(watchers.empty(), GetParam().how != strategy::overlap);
}

INSTANTIATE_TEST_SUITE_P(run, placed_stages,
                         testing::Values(way{strategy::serial, 1},
                                         way{strategy::async, 2, graph_mode::off, wait_mode::yield},
                                         way{strategy::overlap, 2},
                                         way{strategy::overlap, 1, graph_mode::off,
                                             wait_mode::yield},
                                         way{strategy::async, 2, graph_mode::frame},
                                         way{strategy::overlap, 1, graph_mode::frame}),
                         [](const auto& tested) { return name_of(tested.param); });

TEST(realtime, holds_for_each_of_the_pipelines_that_run_together) {
  if (scoped_realtime(9).refused()) GTEST_SKIP() << realtime_refusal(9);
  std::mutex lock;
  std::map<std::string, std::set<int>> priorities;
  const auto registry = make_registry([&](const std::string& stage, std::int64_t) {
    const std::lock_guard locked(lock);
    priorities[stage].insert(own_scheduling().second);
  });
  const auto on = open_host_device(1);
  std::vector<std::unique_ptr<session>> sessions;
  std::vector<concurrent_run> runs;
  for (const auto& [name, priority] : {std::pair{"camera", 9}, {"batch", 4}, {"plain", 0}}) {
    auto spec = small_pipeline(name, strategy::overlap, graph_mode::stage);
    spec.run.realtime = priority;
    sessions.push_back(std::make_unique<session>(plan_for_host(spec, registry), *on, nullptr));
    runs.push_back({.name = name, .session = sessions.back().get(), .foreground = true});
  }
  for (const auto& record : run_at_once(runs, nullptr)) EXPECT_FALSE(record.failure);
  EXPECT_THAT(priorities["camera in"], ElementsAre(9));
  EXPECT_THAT(priorities["batch out"], ElementsAre(4));
  EXPECT_THAT(priorities["plain in"], ElementsAre(0));
}

/// Holds the first stage of each frame back for a millisecond.
struct holding final : scheduling_policy {
  policy_rank rank(const ready_job&) const override { return {}; }
  nanoseconds hold_until(const ready_job& job, nanoseconds) const override {
    return job.stage.position == 0 ? job.due + 1'000'000 : 0;
  }
};

TEST(realtime, holds_for_the_thread_that_starts_stages_that_were_held_back) {
  if (scoped_realtime(7).refused()) GTEST_SKIP() << realtime_refusal(7);
  std::set<int> seen;
  const auto registry = make_registry([&](const std::string&, std::int64_t frame) {
    if (frame > 0) seen.merge(policies_of("timer"));
  });
  policy_kind kind{.name = "holding", .holds = true};
  kind.make = [](const arguments&, std::span<const policy_stage>, std::uint64_t) {
    return std::make_unique<holding>();
  };
  pipeline_spec spec = pipeline_of({make_stage("a", "cpu_mix", {})}, 3, 1);
  way{strategy::overlap}.set(spec.run);
  spec.run.realtime = 7;
  plan p = plan_for_host(spec, registry);
  p.policy = {&kind, {}};
  const auto on = open_host_device(1);
  session s(std::move(p), *on);
  whole_run(s);
  EXPECT_THAT(seen, ElementsAre(SCHED_FIFO));
}

TEST(realtime, is_refused_before_the_run_with_what_grants_it) {
  const auto refused = [] {
    const ::rlimit none{0, 0};
    if (::setrlimit(RLIMIT_RTPRIO, &none) != 0) std::_Exit(70);
    if (::geteuid() == 0 && ::setuid(65534) != 0) std::_Exit(71);
    pipeline_spec spec = chain();
    spec.run.realtime = 7;
    try {
      const host_session s(spec);
    } catch (const error& e) {
      std::fputs(e.what(), stderr);
      std::_Exit(static_cast<int>(e.status()));
    }
    std::_Exit(72);
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(static_cast<int>(exit_status::run_failed)),
              "realtime: 7 is not permitted.*ulimit -r.*limits.conf.*CAP_SYS_NICE");
}

}  // namespace
}  // namespace graphline
