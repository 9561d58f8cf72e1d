#include "framework/plan/policies/policies.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/run/contention.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "tests/run/list_scheduling.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline {
namespace {

using namespace testing_plans;
using rank_pair = std::pair<nanoseconds, nanoseconds>;

constexpr nanoseconds ms = 1'000'000;

const policy_kind& policy_named(std::string_view name) {
  return *std::ranges::find(builtin_policies(), name, &policy_kind::name);
}

/// Longest path from the start of a stage to the end of its frame, by recursion.
nanoseconds path_of(const drawn_run& run, std::size_t stage) {
  nanoseconds longest = 0;
  for (const std::size_t f : run.planned.stages[stage].followers) {
    longest = std::max(longest, path_of(run, f));
  }
  return run.expected[stage] + longest;
}

/// Earliest of the deadlines of a stage and all after it, each less the time that is left to it.
nanoseconds latest_start_of(const drawn_run& run, std::size_t stage) {
  const planned_stage& of = run.planned.stages[stage];
  nanoseconds end = of.deadline.value_or(*run.planned.run.deadline);
  for (const std::size_t f : of.followers) end = std::min(end, latest_start_of(run, f));
  return end - run.expected[stage];
}

/// A random run with priorities, deadlines and expected times, in which no two stages have equal
/// ranks by chance of the draw.
drawn_run drawn(std::uint64_t seed, std::size_t in_flight) {
  drawn_run run = draw(seed, strategy::overlap, in_flight);
  random_source random(seed + 1'000'000);
  run.planned.run.deadline = 5'000'000;
  for (planned_stage& stage : run.planned.stages) {
    stage.level = static_cast<int>(below(random, 7)) - 3;
    if (below(random, 2) == 0) {
      stage.deadline = static_cast<nanoseconds>(below(random, 5'000'000));
    }
    run.expected.push_back(1 + static_cast<nanoseconds>(below(random, 1'000'000)));
  }
  return run;
}

/// What each policy's definition says, apart from its implementation.
rank_pair defined_rank(const std::string& policy, const drawn_run& run, std::size_t frame,
                       std::size_t stage, nanoseconds due) {
  const planned_stage& of = run.planned.stages[stage];
  if (policy == "oldest_frame") return {static_cast<nanoseconds>(frame), 0};
  if (policy == "declared") return {static_cast<nanoseconds>(stage), 0};
  if (policy == "fixed_priority") return {-of.level, 0};
  if (policy == "deadline") return {due + of.deadline.value_or(*run.planned.run.deadline), 0};
  if (policy == "least_slack") return {due + latest_start_of(run, stage), 0};
  if (policy == "critical_path") return {due, -path_of(run, stage)};
  return {run.expected[stage], 0};  // shortest_first
}

TEST(policies, order_ready_stages_as_their_definitions_say_to_the_nanosecond) {
  for (const policy_kind& kind : builtin_policies()) {
    if (kind.name == "fifo" || kind.name == "random") continue;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      for (const std::size_t in_flight : {1, 3}) {
        drawn_run run = drawn(seed, in_flight);
        run.planned.policy = {&kind, {}};
        run.rank = [&](std::size_t frame, std::size_t stage, nanoseconds due) {
          return defined_rank(kind.name, run, frame, stage, due);
        };
        SCOPED_TRACE(kind.name);
        expect_same<ready_executor>(run, seed);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(policies, a_window_limits_what_is_issued_and_not_complete) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    drawn_run run = drawn(seed, 1 + seed % 3);
    run.planned.run.window = 1 + static_cast<std::int64_t>(seed % 2);
    // A stage in the window is awaited by the host.
    for (planned_stage& stage : run.planned.stages) {
      stage.inserted = stage.on == side::device && stage.level == 3;
      if (stage.on == side::device && !stage.inserted) stage.signals = stage.host_waits = true;
    }
    if (seed % 2 == 0) {
      run.planned.policy = {&policy_named("shortest_first"), {}};
      run.rank = [&](std::size_t /*frame*/, std::size_t stage, nanoseconds /*due*/) {
        return rank_pair{run.expected[stage], 0};
      };
    }
    expect_same<ready_executor>(run, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(policies, fixed_priorities_keep_the_bound_of_blocking) {
  std::size_t blocked[] = {0, 0};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    drawn_run run = drawn(seed, 1 + seed % 3);
    run.planned.run.window = 1 + static_cast<std::int64_t>(seed % 4);
    for (planned_stage& stage : run.planned.stages) {
      if (stage.on == side::device) stage.signals = stage.host_waits = true;
    }
    run.planned.policy = {&policy_named("fixed_priority"), {}};
    run_record record = run_in_virtual_time<ready_executor>(run).record;
    record.run.policy = "fixed_priority";
    for (const contention& waits : contention_of(record)) {
      if (!waits.behind) continue;
      // In a larger window, the device can run first what was issued last.
      if (waits.on == side::cpu || run.planned.run.window == 1) {
        EXPECT_EQ(waits.behind->inversions, 0U) << "seed " << seed << " stage " << waits.name;
      }
      EXPECT_LE(waits.behind->longest_blocked, waits.behind->bound) << "seed " << seed;
      blocked[waits.on == side::device ? 1 : 0] += waits.behind->blocked;
    }
  }
  EXPECT_GT(blocked[0], 100U);
  EXPECT_GT(blocked[1], 100U);
}

/// CPU stages of given times and edges, one frame, under a policy whose expected times are exact.
nanoseconds makespan(const std::vector<nanoseconds>& times, const std::vector<edge>& edges,
                     std::size_t workers, std::string_view policy) {
  drawn_run run;
  run.planned = plan_of(std::vector(times.size(), side::cpu), edges, streams);
  run.times = {times};
  run.expected = times;
  run.workers = workers;
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  run.planned.policy = {&policy_named(policy), {}};
  return executed<ready_executor>(run).frames[0].end;
}

// Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17 (1969): nine tasks,
// T1 before T9 and T4 before T5 to T8, in the list T1 to T9.
const std::vector<nanoseconds> graham_times = {3, 2, 2, 2, 4, 4, 4, 4, 9};
const std::vector<nanoseconds> graham_shorter = {2, 1, 1, 1, 3, 3, 3, 3, 8};
// The same in thousandths, with T4 ending just before T1, so that the list decides.
const std::vector<nanoseconds> graham_thousandths = {2000, 1000, 1000, 999, 3000,
                                                     3000, 3000, 3000, 8000};
const std::vector<edge> graham_edges = {{0, 8}, {3, 4}, {3, 5}, {3, 6}, {3, 7}};

TEST(policies, declared_order_has_the_anomalies_that_graham_published) {
  EXPECT_EQ(makespan(graham_times, graham_edges, 3, "declared"), 12);
  EXPECT_EQ(makespan(graham_times, graham_edges, 4, "declared"), 15);
  EXPECT_EQ(makespan(graham_thousandths, graham_edges, 3, "declared"), 12'999);
  EXPECT_EQ(makespan(graham_times, {{0, 8}, {3, 6}, {3, 7}}, 3, "declared"), 16);
}

TEST(policies, critical_path_reaches_published_makespans) {
  // The optimal ones of Graham's examples.
  EXPECT_EQ(makespan(graham_times, graham_edges, 3, "critical_path"), 12);
  EXPECT_EQ(makespan(graham_times, graham_edges, 4, "critical_path"), 12);
  EXPECT_EQ(makespan(graham_shorter, graham_edges, 3, "critical_path"), 10);
  // Of independent tasks, levels are times: the largest processing time first. The same paper's
  // example 2m - 1, 2m - 1, 2m - 2, 2m - 2, ..., m + 1, m + 1, m, m, m takes 4m - 1.
  for (const nanoseconds m : {2, 3, 4, 5}) {
    std::vector<nanoseconds> times = {m};
    for (nanoseconds time = m; time < 2 * m; ++time) times.insert(times.end(), {time, time});
    EXPECT_EQ(makespan(times, {}, static_cast<std::size_t>(m), "critical_path"), 4 * m - 1);
  }
}

// Hu, Parallel Sequencing and Assembly Line Problems, Oper. Res. 9 (1961): of unit tasks whose
// edges form a tree towards one task, the highest level first is optimal. The optimum is the
// largest of g + ceil(tasks of levels above g / m) over g.
TEST(policies, critical_path_is_optimal_for_unit_tasks_in_a_tree) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    random_source random(seed);
    const std::size_t count = 2 + below(random, 30);
    const std::size_t workers = 1 + below(random, 4);
    std::vector<edge> edges;
    std::vector<std::size_t> level(count, 1);
    for (std::size_t s = count - 1; s-- > 0;) {
      const std::size_t to = s + 1 + below(random, count - s - 1);
      edges.push_back({s, to});
      level[s] = level[to] + 1;
    }
    std::size_t optimum = 0;
    for (std::size_t g = 0; g <= count; ++g) {
      const auto above = static_cast<std::size_t>(
          std::ranges::count_if(level, [g](std::size_t l) { return l > g; }));
      if (above > 0) optimum = std::max(optimum, g + (above + workers - 1) / workers);
    }
    const std::vector<nanoseconds> times(count, 1);
    EXPECT_EQ(makespan(times, edges, workers, "critical_path"), static_cast<nanoseconds>(optimum))
        << "seed " << seed;
  }
}

TEST(policies, fifo_takes_what_became_ready_first) {
  // Stage 1 becomes ready with the end of stage 0, after stages 2 and 3.
  drawn_run run;
  run.planned = plan_of(std::vector(4, side::cpu), {{0, 1}}, streams);
  run.times = {{10, 10, 10, 10}};
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  EXPECT_EQ(executed<ready_executor>(run).stages[0][1].begin, 10);
  run.planned.policy = {&policy_named("fifo"), {}};
  EXPECT_EQ(executed<ready_executor>(run).stages[0][1].begin, 30);
}

TEST(policies, random_order_depends_on_its_seed_only) {
  drawn_run run = drawn(3, 2);
  const policy_kind& kind = policy_named("random");
  const auto with_seed = [&](std::int64_t seed) {
    run.planned.policy = {&kind, {}};
    run.planned.policy.arguments.set("seed", seed, {});
    std::vector<nanoseconds> ends;
    for (const auto& frame : executed<ready_executor>(run).stages) {
      for (const span& stage : frame) ends.push_back(stage.end);
    }
    return ends;
  };
  std::vector<std::vector<nanoseconds>> seen;
  for (const std::int64_t seed : {1, 2, 3, 4, 5}) {
    EXPECT_EQ(with_seed(seed), with_seed(seed));
    seen.push_back(with_seed(seed));
  }
  std::ranges::sort(seen);
  EXPECT_GT(std::unique(seen.begin(), seen.end()) - seen.begin(), 1);
}

/// Longest path from the start of a stage, as a policy of one's own can compute it in `make`.
nanoseconds level_of(const policy_stage& stage) {
  const policy_stage* const pipeline = &stage - stage.position;
  nanoseconds longest = 0;
  for (const std::size_t f : stage.followers) longest = std::max(longest, level_of(pipeline[f]));
  return stage.expected + longest;
}

TEST(policies, can_follow_the_edges_of_each_pipeline) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<drawn_run> runs = {drawn(seed, 1), drawn(seed + 50, 1)};
    policy_kind kind{.name = "levels"};
    std::vector<nanoseconds> levels;
    kind.make = [&](const arguments&, std::span<const policy_stage> stages, std::uint64_t) {
      for (const policy_stage& stage : stages) levels.push_back(level_of(stage));
      return builtin_policies().front().make({}, stages, 0);
    };
    std::vector<scheduled_pipeline> scheduled;
    std::vector<nanoseconds> expected;
    for (const drawn_run& run : runs) {
      scheduled.push_back({&run.planned, run.expected});
      for (std::size_t s = 0; s < run.expected.size(); ++s) expected.push_back(path_of(run, s));
    }
    const run_policy all({&kind, {}}, 1, scheduled);
    EXPECT_EQ(levels, expected) << "seed " << seed;
  }
}

TEST(policies, the_record_says_what_would_have_gone_first) {
  drawn_run run;
  run.planned = plan_of(std::vector(3, side::cpu), {}, streams);
  run.times = {{30, 20, 10}};
  run.expected = run.times[0];
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  run.planned.policy = {&policy_named("shortest_first"), {}};
  const auto& stages = run_in_virtual_time<ready_executor>(run).record.stages;
  EXPECT_EQ(stages[2].preferred, std::vector{1});  // to stage 0
  EXPECT_EQ(stages[1].preferred, std::vector{1});
  EXPECT_EQ(stages[0].preferred, std::vector{0});
}

TEST(ready_stages, are_compared_with_the_oldest_only_where_that_is_noted) {
  const ready_stage old{0, 1, 0, 0};
  const ready_stage urgent{1, 0, 0, 1};
  const ready_stage unset{-1, 0, 0, 0};
  for (const bool notes : {false, true}) {
    ready_queue queue;
    device_window window(1);
    queue.begin();
    window.begin();
    if (notes) queue.note_oldest();
    if (notes) window.note_oldest();
    for (const ordered_stage& s : {ordered_stage{{2}, 10, old}, ordered_stage{{1}, 20, urgent}}) {
      queue.push(s);
      window.push(s);
    }
    ready_stage oldest = unset;
    EXPECT_EQ(queue.pop(oldest), urgent);
    EXPECT_EQ(oldest, notes ? old : unset);
    ready_stage first = unset;
    oldest = unset;
    EXPECT_TRUE(window.take(first, oldest));
    EXPECT_EQ(first, urgent);
    EXPECT_EQ(oldest, notes ? old : unset);
  }
}

/// Holds stage 0 of each frame until a given time after the frame was due.
struct holding final : scheduling_policy {
  explicit holding(nanoseconds given) : after(given) {}
  policy_rank rank(const ready_job& job) const override {
    if (job.frame == 3) throw std::runtime_error("it lost its way");
    return {};
  }
  nanoseconds hold_until(const ready_job& job, nanoseconds /*now*/) const override {
    return job.stage.position == 0 ? job.due + after : 0;
  }
  nanoseconds after;
};

policy_kind held_for(nanoseconds after) {
  policy_kind kind{.name = "holding"};
  kind.holds = true;
  kind.make = [after](const arguments&, std::span<const policy_stage>, std::uint64_t) {
    return std::make_unique<holding>(after);
  };
  return kind;
}

/// A CPU or device stage, then one that reads it.
drawn_run two_stages(side first, std::size_t frames) {
  drawn_run run;
  run.planned = plan_of({first, side::cpu}, {{0, 1}}, streams);
  run.times.assign(frames, {10, 10});
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  return run;
}

TEST(policies, hold_stages_back_until_their_time) {
  const policy_kind kind = held_for(100);
  for (const side first : {side::cpu, side::device}) {
    drawn_run run = two_stages(first, 3);
    run.planned.policy = {&kind, {}};
    const outcome seen = executed<ready_executor>(run);
    for (std::size_t f = 0; f < 3; ++f) {
      EXPECT_EQ(seen.stages[f][0].end - seen.frames[f].begin, 110);
      EXPECT_EQ(seen.frames[f].end - seen.frames[f].begin, 120);
    }
  }
}

TEST(policies, that_fail_or_hold_for_too_long_end_the_run) {
  const auto failure_of = [](const policy_kind& kind, side first) {
    drawn_run run = two_stages(first, 5);
    run.planned.policy = {&kind, {}};
    return run_in_virtual_time<ready_executor>(run).result.failure.value_or("none");
  };
  for (const side first : {side::cpu, side::device}) {
    EXPECT_THAT(failure_of(held_for(10), first),
                testing::MatchesRegex("stage '0' .*, frame 3: policy 'holding': it lost its way"));
    EXPECT_THAT(
        failure_of(held_for(1'000'000'001), first),
        testing::MatchesRegex("stage '0' .*, frame 0: policy 'holding' holds the stage back "
                              "for 1.00 s; the limit is 1.00 s"));
  }
}

/// Holds stage 0 until each of these times, in turn, if it is taken before.
struct repeating final : scheduling_policy {
  explicit repeating(std::vector<nanoseconds> given) : until(std::move(given)) {}
  policy_rank rank(const ready_job&) const override { return {}; }
  nanoseconds hold_until(const ready_job& job, nanoseconds now) const override {
    if (job.stage.position != 0) return now;
    if (until.empty()) return now + 1;
    const auto next = std::ranges::upper_bound(until, now);
    return next == until.end() ? now : *next;
  }
  std::vector<nanoseconds> until;
};

/// A stage that is held, and one of 1.2 s. Both take one worker.
virtual_run held_beside_another(const std::vector<nanoseconds>& until) {
  policy_kind kind{.name = "repeating"};
  kind.holds = true;
  kind.make = [&](const arguments&, std::span<const policy_stage>, std::uint64_t) {
    return std::make_unique<repeating>(until);
  };
  drawn_run run;
  run.planned = plan_of({side::cpu, side::cpu}, {}, streams);
  run.times = {{10, 1'200 * ms}};
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  run.planned.policy = {&kind, {}};
  return run_in_virtual_time<ready_executor>(run);
}

TEST(policies, may_hold_a_stage_for_a_second_in_all_apart_from_its_waits) {
  // Taken at 0 and held, then ready at 1 us, taken at 1200 ms and held again.
  const virtual_run made = held_beside_another({1'000, 1'300 * ms});
  EXPECT_EQ(made.result.failure, std::nullopt);
  EXPECT_EQ(made.record.stages[0].cpu[0].begin, 1'300 * ms);
  EXPECT_EQ(made.record.stages[0].preferred, std::vector{choice::held_back});
  EXPECT_EQ(made.record.stages[1].preferred, std::vector{0});
  // Held for 500, 100 and 401 ms.
  const auto sum = held_beside_another({500 * ms, 1'300 * ms, 1'701 * ms}).result.failure;
  EXPECT_THAT(sum.value_or("none"), testing::HasSubstr("'repeating' holds the stage back for 1.00 "
                                                       "s; the limit is 1.00 s"));
  EXPECT_EQ(held_beside_another({500 * ms, 1'300 * ms, 1'700 * ms}).result.failure, std::nullopt);
  const auto short_holds = held_beside_another({}).result.failure;
  EXPECT_THAT(short_holds.value_or("none"), testing::HasSubstr("'repeating' holds the stage back"));
}

/// Loads the policy of examples/policy_plugin.
const policy_kind& reservation_kind() {
  static const stage_registry registry = [] {
    stage_registry with;
    load_plugin(GRAPHLINE_PLUGIN_DIR "/reservation.so", with);
    return with;
  }();
  return registry.policies().at("my.reservation");
}

/// Four frames of examples/policy_plugin/reservation.yaml, in its order of stages.
drawn_run reserving(nanoseconds time_of_map, const std::vector<node>& background) {
  drawn_run run;
  run.planned =
      plan_of({side::cpu, side::cpu, side::device, side::cpu}, {{0, 1}, {0, 2}, {2, 3}}, streams);
  run.expected = {2 * ms, 2 * ms, 10 * ms, time_of_map};
  run.times.assign(4, run.expected);
  finish(run.planned, strategy::overlap, graph_mode::stage, 3);
  run.planned.run.arrival = arrival::constant;
  run.planned.run.rate = 50;
  run.planned.run.deadline = 60 * ms;
  run.planned.stages[0].deadline = 3 * ms;
  run.planned.stages[1].deadline = 6 * ms;
  run.planned.policy = {&reservation_kind(), {}};
  run.planned.policy.arguments.set("background", node::sequence(background), {});
  run.planned.policy.arguments.set("reserve", 5 * ms, {});
  return run;
}

TEST(example_policy, keeps_background_stages_out_of_the_way_of_the_next_frame) {
  const outcome plain = executed<ready_executor>(reserving(9 * ms, {}));
  const outcome reserved = executed<ready_executor>(reserving(9 * ms, {"3"}));
  const outcome shorter = executed<ready_executor>(reserving(8 * ms, {"3"}));
  // `map` is ready 12 ms after its frame was due, and then delays the next frame by 1 ms.
  EXPECT_EQ(plain.stages[0][3].begin, 12 * ms);
  EXPECT_EQ(plain.stages[1][1].end, 25 * ms);
  for (std::size_t f = 0; f < reserved.stages.size(); ++f) {
    const nanoseconds due = static_cast<nanoseconds>(f) * 20 * ms;
    EXPECT_EQ(reserved.stages[f][1].end, due + 4 * ms) << f;
    EXPECT_EQ(reserved.stages[f][3].begin, due + 25 * ms) << f;
    EXPECT_EQ(shorter.stages[f][3].begin, due + 12 * ms) << f << ": it ends as the next is due";
  }
}

TEST(example_policy, starts_after_the_reserve_what_never_fits) {
  const outcome reserved = executed<ready_executor>(reserving(16 * ms, {"3"}));
  EXPECT_EQ(reserved.stages[0][3].begin, 12 * ms);
  // Ready at 40 ms, as the stage before it ends and the next frame is due.
  EXPECT_EQ(reserved.stages[1][3].begin, 45 * ms);
}

TEST(example_policy, refuses_stages_and_arrivals_that_it_cannot_plan_for) {
  const auto reason_of = [](const drawn_run& run) -> std::string {
    try {
      run_in_virtual_time<ready_executor>(run);
      return "none";
    } catch (const run_error& e) {
      return e.what();
    }
  };
  drawn_run run = reserving(9 * ms, {"9"});
  EXPECT_THAT(reason_of(run), testing::MatchesRegex("policy 'my.reservation' of plug-in "
                                                    "/.*/reservation.so: no stage is named 9"));
  run = reserving(9 * ms, {"3"});
  run.planned.run.arrival = arrival::closed;
  run.planned.run.rate.reset();
  EXPECT_THAT(reason_of(run), testing::HasSubstr("reservation.so: it needs arrival: constant"));
}

}  // namespace
}  // namespace graphline
