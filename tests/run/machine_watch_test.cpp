#include "framework/run/execute/machine_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/concurrent_runs.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"
#include "tests/run/watched_device.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_kinds::watched_device;
using namespace testing_kinds;
using ::testing::Optional;

machine_state state_at(nanoseconds at, nanoseconds own, nanoseconds busy, nanoseconds steal) {
  machine_state state;
  state.at = at;
  state.own = own;
  state.cores = 2;
  state.used = core_times{busy, steal};
  return state;
}

TEST(conditions, are_differences_between_two_looks) {
  auto before = state_at(1000, 300, 5000, 70);
  auto after = state_at(4000, 1300, 7500, 95);
  before.load = 0.5;
  after.clock = 2445;
  const auto found = conditions_between(before, after);
  EXPECT_EQ(found.lasted, 3000);
  EXPECT_EQ(found.cores, 2);
  EXPECT_THAT(found.others, Optional(1500));  // 2500 busy, 1000 of them the process's own
  EXPECT_THAT(found.steal, Optional(25));
  EXPECT_THAT(found.load_before, Optional(0.5));
  EXPECT_EQ(found.load_after, std::nullopt);
  EXPECT_THAT(found.clock_after, Optional(2445.0));
}

TEST(conditions, have_no_less_than_nothing_taken_by_others) {
  // The cores' time is counted in ticks, the process's own is exact.
  EXPECT_THAT(conditions_between(state_at(0, 0, 0, 0), state_at(9, 8, 0, 0)).others, Optional(0));
}

TEST(conditions, do_not_compare_other_cores) {
  const auto before = state_at(0, 0, 100, 5);
  auto after = state_at(10, 0, 900, 9);
  after.cores = 4;
  EXPECT_EQ(conditions_between(before, after).others, std::nullopt);
  EXPECT_EQ(conditions_between(before, after).steal, std::nullopt);
  after.cores = 2;
  after.used.reset();
  EXPECT_EQ(conditions_between(before, after).others, std::nullopt);
}

TEST(session, looks_at_the_machine_outside_the_measured_frames) {
  const stage_registry registry = make_registry();
  const auto d = open_host_device(1);
  auto spec = pipeline_of({make_stage("c", "cpu_mix", {})}, 3, 1);
  session s(plan_for_host(spec, registry), *d);

  std::vector<nanoseconds> looks;
  std::vector<std::string> order;
  run_options options;
  options.at_machine = [&] {
    looks.push_back(now());
    order.emplace_back("look");
    return state_at(now(), 0, 7 * static_cast<nanoseconds>(looks.size()), 0);
  };
  options.before_frames = [&] { order.emplace_back("frames"); };
  options.after_frames = [&] { order.emplace_back("after"); };
  options.common_epoch = 0;  // stamps are of the host's clock
  const auto record = s.run(options);
  EXPECT_THAT(order, ElementsAre("look", "frames", "after", "look"));
  ASSERT_EQ(record.frames.size(), 3U);
  EXPECT_LE(looks.front(), record.frames.front().begin);
  EXPECT_GE(looks.back(), record.frames.back().end);
  ASSERT_TRUE(record.conditions);
  EXPECT_THAT(record.conditions->others, Optional(7));
}

TEST(thread_times, reads_what_the_scheduler_writes) {
  thread_time t;
  EXPECT_TRUE(parse_schedstat("123762 2917021 2", t));
  EXPECT_EQ(t.on_cpu, 123'762);
  EXPECT_EQ(t.waited, 2'917'021);
  for (const char* text :
       {"", "12", "12 ", "a b c", "12 x", "-1 2 3", "99999999999999999999 1 1"}) {
    EXPECT_FALSE(parse_schedstat(text, t)) << text;
  }
}

TEST(thread_times, are_those_between_two_readings_by_name) {
  const thread_clocks before = {{1, {"main", 100, 10}}, {2, {"worker 1", 50, 5}}};
  const thread_clocks after = {{1, {"main", 100, 10}},
                               {2, {"worker 1", 80, 45}},
                               {3, {"host device", 7, 1}},
                               {4, {"host device", 20, 2}}};
  const auto times = between(before, after);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].thread, "worker 1");
  EXPECT_EQ(times[0].on_cpu, 30);
  EXPECT_EQ(times[0].waited, 40);
  EXPECT_EQ(times[1].thread, "host device");
  EXPECT_EQ(times[1].on_cpu, 27);
  EXPECT_EQ(times[1].waited, 3);
}

TEST(thread_times, of_a_thread_that_works_are_no_longer_than_the_time_it_had) {
  const auto before = read_thread_clocks();
  if (before.empty()) GTEST_SKIP() << "the system does not say how long threads wait for a CPU";
  const nanoseconds begin = now();
  while (now() < begin + 20'000'000) {
  }
  const auto times = between(before, read_thread_clocks());
  const nanoseconds passed = now() - begin;
  const auto main = std::ranges::find(times, "main", &thread_time::thread);
  ASSERT_NE(main, times.end());
  // The scheduler brings its figures up to date now and then: a tick is missing at most.
  EXPECT_GE(main->on_cpu + main->waited, 10'000'000);
  EXPECT_LE(main->on_cpu, passed + 10'000'000);
}

constexpr nanoseconds epoch = 5'000;

/// As they were read, ns since the epoch.
run_record read_stamps() {
  run_record record;
  stage_record stage;
  stage.device = {{0, 100}, {500'000, 500'100}, {1'001'000, 1'501'500}};
  stage.enqueued = {{500'000, 500'100}};
  stage.cpu = {{500'000, 500'100}};
  stage.parts.push_back({.name = "part", .choice = "", .device = {{1'000'900, 1'001'000}}});
  record.stages.push_back(stage);
  return record;
}

class clock_watch_of_a_device : public testing::Test {
 protected:
  run_record settled(nanoseconds drift) {
    device_.clock_checks = 0;
    device_.first_check = {.at = epoch, .error = 10, .drift = 77'000};
    device_.later_check = {.at = epoch + 1'000'000, .error = 20, .drift = drift};
    clock_watch watch(device_);
    watch.end();
    run_record record = read_stamps();
    watch.settle(record, epoch);
    return record;
  }

  static auto stamps(nanoseconds begin, nanoseconds end) {
    return testing::AllOf(Field("begin", &stamp_pair::begin, begin),
                          Field("end", &stamp_pair::end, end));
  }

  watched_device device_{open_host_device(1)};
};

TEST_F(clock_watch_of_a_device, takes_as_much_drift_out_of_each_stamp_as_had_come_up) {
  const run_record record = settled(1'000);
  // At the last check it read 1'001'000 where 1'000'000 was right; beyond it goes on so.
  EXPECT_THAT(record.stages[0].device,
              ElementsAre(stamps(0, 100), stamps(499'500, 499'600), stamps(1'000'000, 1'500'000)));
  EXPECT_THAT(record.stages[0].parts[0].device, ElementsAre(stamps(999'900, 1'000'000)));
  EXPECT_EQ(record.clock_drift, 1'000);
  EXPECT_EQ(record.clock_error, 20);
  EXPECT_THAT(record.stages[0].cpu, ElementsAre(stamps(500'000, 500'100))) << "by the host";
  EXPECT_THAT(settled(-500'000).stages[0].device[1], stamps(1'000'000, 1'000'200)) << "slow";
}

TEST_F(clock_watch_of_a_device, leaves_stamps_as_they_are_where_no_drift_can_be_told) {
  const auto as_read =
      ElementsAre(stamps(0, 100), stamps(500'000, 500'100), stamps(1'001'000, 1'501'500));
  EXPECT_THAT(settled(0).stages[0].device, as_read);
  EXPECT_THAT(settled(-1'000'000).stages[0].device, as_read) << "it stood still";
  const clock_watch not_ended(device_);
  run_record record = read_stamps();
  not_ended.settle(record, epoch);
  EXPECT_THAT(record.stages[0].device, as_read);
  EXPECT_EQ(record.clock_drift, 0);
  EXPECT_THAT(record.warnings, IsEmpty());
}

TEST_F(clock_watch_of_a_device, warns_where_the_clock_cannot_be_checked) {
  device_.clock_problem = "the counter is gone";
  clock_watch watch(device_);
  watch.end();
  run_record record = read_stamps();
  watch.settle(record, epoch);
  EXPECT_THAT(record.warnings,
              ElementsAre(HasSubstr("clock before the frames"), HasSubstr("clock after")));
  EXPECT_EQ(record.clock_error, 0);
}

using testing::Contains;
using testing::ElementsAreArray;
using testing::Not;

/// Device stage `d`, then CPU stage `c`, with a copy between them.
pipeline_spec pair() {
  auto spec =
      pipeline_of({make_stage("d", "device_parts", {}), make_stage("c", "cpu_mix", {"d"})}, 2, 0);
  return spec;
}

class watched_session : public testing::Test {
 protected:
  run_record run(const pipeline_spec& spec) {
    session s(plan_for_host(spec, registry_), device_);
    device_.take_log();
    return s.run();
  }

  stage_registry registry_ = make_registry();
  watched_device device_{open_host_device(1)};
};

TEST_F(watched_session, checks_the_clock_around_the_measured_frames_and_profiles_no_others) {
  auto spec = pair();
  spec.run.frames = 1;
  spec.run.warmup = 1;
  ASSERT_FALSE(run(spec).failure);
  const std::vector<std::string> one_frame = {"frame", "d", "end", "copy:d",
                                              "end",   "c", "end", "end"};
  std::vector<std::string> expected = {"check"};
  expected.insert(expected.end(), one_frame.begin(), one_frame.end());
  expected.emplace_back("profile");
  expected.insert(expected.end(), one_frame.begin(), one_frame.end());
  expected.insert(expected.end(), {"no profile", "check"});
  EXPECT_THAT(device_.take_log(), ElementsAreArray(expected));
}

TEST_F(watched_session, goes_on_profiling_until_those_that_run_at_once_have_done_their_frames) {
  session s(plan_for_host(pair(), registry_), device_);
  run_options options;
  std::vector<std::string> before;
  options.after_frames = [&] { before = device_.take_log(); };
  ASSERT_FALSE(s.run(options).failure);
  EXPECT_THAT(before, Contains("profile"));
  EXPECT_THAT(before, Not(Contains("no profile")));
  EXPECT_THAT(device_.take_log(), ElementsAre("no profile", "check"));
}

TEST_F(watched_session, shows_ranges_of_frames_and_stages_and_ends_each) {
  for (const auto graphs : {graph_mode::stage, graph_mode::frame}) {
    for (const auto how : {strategy::async, strategy::overlap}) {
      auto spec = pair();
      spec.run.graphs = graphs;
      spec.run.strategy = how;
      ASSERT_FALSE(run(spec).failure);
      const auto log = device_.take_log();
      const auto times = [&log](const char* what) {
        return std::count(log.begin(), log.end(), what);
      };
      EXPECT_EQ(times("frame"), 2);
      EXPECT_EQ(times("c"), 2);
      // In a frame's graph the host does nothing of its own for a device stage.
      EXPECT_EQ(times("d"), graphs == graph_mode::frame ? 0 : 2);
      EXPECT_EQ(times("end"), times("frame") + times("c") + times("d") + times("copy:d"));
    }
  }
}

TEST_F(watched_session, checks_the_clock_of_runs_at_once_around_all_of_them) {
  device_.first_check = {.error = 700};
  device_.later_check = {.error = 900, .drift = -200};
  session one(plan_for_host(pair(), registry_), device_);
  session other(plan_for_host(pair(), registry_), device_);
  const auto records = run_at_once({{.name = "one", .session = &one, .foreground = true},
                                    {.name = "other", .session = &other, .foreground = true}},
                                   nullptr);
  EXPECT_EQ(device_.clock_checks, 2);
  for (const auto& record : records) {
    EXPECT_EQ(record.clock_error, 900);
    EXPECT_EQ(record.clock_drift, -200);
  }
}

TEST_F(watched_session, traces_the_operations_of_each_device_stage_alone) {
  for (const auto& [word, graphs] : graph_mode_words) {
    auto spec = pair();
    spec.run.graphs = graphs;
    session s(plan_for_host(spec, registry_), device_);
    run_record record = s.run();
    s.trace_operations(record);
    EXPECT_THAT(record.warnings, IsEmpty());
    for (const auto& stage : record.stages) {
      std::vector<std::string> names;
      for (const auto& operation : stage.operations) {
        names.push_back(operation.name);
        EXPECT_EQ(operation.calls.size(), 10U) << word;
        EXPECT_EQ(operation.together, operation.calls) << word;  // it is called once in a run
      }
      EXPECT_EQ(stage.traced_runs, stage.on == side::device ? 10 : 0);
      if (stage.name == "d") {
        EXPECT_THAT(names, ElementsAre("mix", "settle"));
        EXPECT_EQ(stage.operations.at(0).part, "0.mix");
        EXPECT_EQ(stage.operations.at(1).part, "1.settle");
      }
      if (stage.copy) {
        EXPECT_EQ(stage.operations.at(0).part, "");
      }
      if (stage.on == side::cpu) {
        EXPECT_THAT(names, IsEmpty());
      }
    }
    // The session is as good as before.
    EXPECT_EQ(s.run().outputs.at(0).checksum.size(), 16U);
  }
}

/// Two operations of one name in its first part, one in its second, and one that is of no part.
class alike final : public device_stage, public device_work, public host_operation {
 public:
  std::vector<stage_part> parts() const override { return {{"first", ""}, {"second", ""}}; }
  std::unique_ptr<device_work> bind(const stage_tensors&) override {
    return std::make_unique<alike>();
  }
  void enqueue(stream& s) override {
    for (int i = 0; i < 4; ++i) host_enqueue(s, *this);
  }
  void enqueue_in_parts(stream& s, part_marker& marker) override {
    for (int i = 0; i < 4; ++i) {
      host_enqueue(s, *this);
      if (i == 1 || i == 2) marker.part_enqueued(s);
    }
  }
  std::string_view name() const noexcept override { return "same"; }
  void run() override {}
};

TEST_F(watched_session, tells_operations_of_one_name_apart_by_their_parts) {
  stage_kind kind = *registry_.find("device_mix");
  kind.name = "alike";
  make_on(kind, "host", [](device&, const stage_config&) { return std::make_unique<alike>(); });
  registry_.add(std::move(kind));
  session s(plan_for_host(pipeline_of({make_stage("d", "alike", {})}, 1, 0), registry_), device_);
  run_record record = s.run();
  s.trace_operations(record);
  const auto& seen = record.stages.at(0).operations;
  ASSERT_EQ(seen.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(seen[i].part, (std::array{"first", "second", ""})[i]);
    EXPECT_EQ(seen[i].calls.size(), i == 0 ? 20U : 10U);
    EXPECT_EQ(seen[i].together.size(), 10U);
  }
  EXPECT_EQ(seen[0].together[0], seen[0].calls[0] + seen[0].calls[1]);
}

TEST_F(watched_session, says_why_operations_could_not_be_traced) {
  device_.trace_problem = "the profiling library is missing; install it";
  session s(plan_for_host(pair(), registry_), device_);
  run_record record = s.run();
  s.trace_operations(record);
  EXPECT_FALSE(record.failure);
  EXPECT_THAT(record.warnings,
              ElementsAre("operations were not traced: the profiling library is missing; install "
                          "it"));
}

TEST_F(watched_session, traces_no_further_stage_when_asked_to_stop) {
  session s(plan_for_host(pair(), registry_), device_);
  run_record record = s.run();
  stop_request stop;
  stop.raise();
  s.trace_operations(record, &stop);
  EXPECT_THAT(record.warnings, ElementsAre(HasSubstr("before the operations of stage 'd'")));
}

}  // namespace
}  // namespace graphline
