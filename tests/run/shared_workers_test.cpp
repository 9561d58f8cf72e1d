#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/run/contention.hpp"
#include "framework/campaign/capacity/capacity_search.hpp"
#include "framework/device/model/model_device.hpp"
#include "framework/plan/policies/policies.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "framework/run/execute/virtual_host.hpp"
#include "tests/run/virtual_drivers.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline {
namespace {

using namespace testing_plans;

/// A periodic task of whole time units: a chain of CPU stages of one unit, so that it is preempted
/// at unit boundaries. Its deadline is the end of its period.
struct task {
  nanoseconds time;
  nanoseconds period;
};

constexpr nanoseconds unit = 1'000'000;

drawn_run run_of(const task& t, int level, nanoseconds horizon) {
  drawn_run run;
  std::vector<edge> chain;
  for (nanoseconds s = 1; s < t.time; ++s) {
    chain.push_back({static_cast<std::size_t>(s - 1), static_cast<std::size_t>(s)});
  }
  const auto stages = static_cast<std::size_t>(t.time);
  run.planned = plan_of(std::vector(stages, side::cpu), chain, streams);
  run.times.assign(static_cast<std::size_t>(horizon / t.period), std::vector(stages, unit));
  run.expected.assign(stages, unit);
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  run.planned.run.arrival = arrival::constant;
  run.planned.run.rate = 1e9 / static_cast<double>(t.period * unit);
  run.planned.run.deadline = t.period * unit;
  for (planned_stage& stage : run.planned.stages) stage.level = level;
  return run;
}

/// Runs pipelines that share one worker, or a window of one device stage, or both.
std::vector<run_record> shared_records(std::deque<drawn_run> runs, std::string_view policy,
                                       sharing shared = sharing::cpu) {
  virtual_clock clock;
  virtual_drivers drivers(clock);
  const auto on = open_model_device(clock, {});
  const auto& kind = *std::ranges::find(builtin_policies(), policy, &policy_kind::name);
  for (drawn_run& run : runs) run.planned.policy = {&kind, {}};
  const auto resources =
      std::make_shared<ready_resources<virtual_host>>(shared == sharing::cpu ? 0 : 1);
  std::deque<drawn_kinds> kinds;
  std::deque<prepared_pipeline> pipelines;
  std::deque<ready_executor<virtual_host>> executors;
  std::deque<recording> kept;
  std::vector<scheduled_pipeline> scheduled;
  for (const drawn_run& run : runs) {
    kinds.emplace_back(run);
    pipelines.emplace_back(kinds.back().planned(), *on, nullptr);
    kinds.back().begin();
    const auto time = [&run](std::size_t stage, const frame_position& frame) {
      return run.times[static_cast<std::size_t>(frame.number)][stage];
    };
    virtual_world world{clock, 1, time};
    world.wait_until = [&drivers](nanoseconds when) { drivers.wait_until(when); };
    world.wait_for_call = [&drivers] { drivers.wait_for_call(); };
    world.issue_time = [&kind = kinds.back()](std::size_t, const frame_position& frame) {
      kind.issued(frame);
      return nanoseconds{0};
    };
    const shared_resources<virtual_host> share{shared != sharing::device ? resources : nullptr,
                                               shared != sharing::cpu ? resources : nullptr,
                                               static_cast<std::uint16_t>(executors.size())};
    executors.emplace_back(pipelines.back(), share, world);
    kept.emplace_back(pipelines.back().planned(), pipelines.back().parts(), *on,
                      timing_method::event, std::ssize(run.times), 0);
    scheduled.push_back({&pipelines.back().planned(), run.expected});
  }
  const run_policy all({&kind, {}}, 1, scheduled);
  std::vector<std::function<void()>> functions;
  std::vector<run_record> records(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    functions.emplace_back([&, i] {
      const settings& how = runs[i].planned.run;
      const auto frames = std::ssize(runs[i].times);
      settings load = how;
      load.frames = frames;
      frame_schedule due(arrival_times(load, 0, nullptr), frames, queue_policy::block, {},
                         give_up_time(how));
      phase measured;
      measured.frames = frames;
      measured.into = &kept[i];
      measured.schedule = &due;
      measured.policy = &all.of(i);
      const phase_result result = executors[i].run(measured);
      EXPECT_EQ(result.failure, std::nullopt);
      records[i].load = due.end(0, clock.now(), result.completed);
      std::move(kept[i]).move_into(records[i], result.completed);
      records[i].run = how;
      records[i].run.policy = policy;
      records[i].policy.emplace().order = kind.order;
      records[i].cpu_cores = 1;
    });
  }
  drivers.run(functions);
  return records;
}

/// Returns the times from the due time of each frame to its end.
std::vector<std::vector<nanoseconds>> shared_responses(const std::deque<drawn_run>& runs,
                                                       std::string_view policy) {
  std::vector<std::vector<nanoseconds>> seen;
  for (const run_record& record : shared_records(runs, policy)) {
    seen.emplace_back();
    for (const frame_record& f : record.frames) seen.back().push_back(f.end - f.due);
  }
  return seen;
}

/// Runs tasks on one worker that they share; the first is the most urgent. Returns the response
/// times of each task's jobs.
std::vector<std::vector<nanoseconds>> responses(const std::vector<task>& tasks,
                                                std::string_view policy, nanoseconds horizon) {
  std::deque<drawn_run> runs;
  for (const task& t : tasks) {
    runs.push_back(run_of(t, -static_cast<int>(runs.size()), horizon));
  }
  return shared_responses(runs, policy);
}

bool all_in_time(const std::vector<task>& tasks, std::string_view policy, nanoseconds horizon) {
  const auto seen = responses(tasks, policy, horizon);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    EXPECT_EQ(std::ssize(seen[t]), horizon / tasks[t].period);
    if (std::ranges::any_of(seen[t], [&](nanoseconds r) { return r > tasks[t].period * unit; })) {
      return false;
    }
  }
  return true;
}

// Liu and Layland, Scheduling Algorithms for Multiprogramming in a Hard-Real-Time Environment, JACM
// 20 (1973): EDF meets all deadlines up to utilization 1; rate-monotonic priorities may not.
TEST(shared_workers, deadlines_are_met_at_full_utilization_where_fixed_priorities_miss_them) {
  const std::vector<std::vector<task>> sets = {
      {{2, 5}, {4, 7}},           // 34/35, Buttazzo, Hard Real-Time Computing Systems
      {{1, 2}, {2, 5}, {1, 10}},  // 1
      {{2, 4}, {3, 6}},           // 1
      {{3, 6}, {2, 8}, {3, 12}},  // 1
  };
  std::size_t missed = 0;
  for (const auto& tasks : sets) {
    nanoseconds horizon = 1;
    for (const task& t : tasks) horizon = std::lcm(horizon, t.period);
    horizon *= 3;
    EXPECT_TRUE(all_in_time(tasks, "deadline", horizon)) << tasks.size();
    EXPECT_TRUE(all_in_time(tasks, "least_slack", horizon)) << tasks.size();
    if (!all_in_time(tasks, "fixed_priority", horizon)) ++missed;
  }
  EXPECT_GE(missed, 2U);
}

/// Joseph and Pandya, Finding Response Times in a Real-Time System, Computer J. 29 (1986): the
/// longest response time of a task below others, all released together; empty beyond its period.
std::optional<nanoseconds> worst_response(const std::vector<task>& tasks, std::size_t of) {
  nanoseconds response = tasks[of].time;
  while (response <= tasks[of].period) {
    nanoseconds next = tasks[of].time;
    for (std::size_t above = 0; above < of; ++above) {
      next += (response + tasks[above].period - 1) / tasks[above].period * tasks[above].time;
    }
    if (next == response) return response;
    response = next;
  }
  return std::nullopt;
}

TEST(shared_workers, fixed_priorities_agree_with_response_time_analysis) {
  std::size_t schedulable = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    random_source random(seed);
    std::vector<task> tasks(2 + below(random, 4));
    for (task& t : tasks) {
      t.period = 3 + static_cast<nanoseconds>(below(random, 18));
      t.time = 1 + static_cast<nanoseconds>(below(random, static_cast<std::size_t>(t.period) / 3));
    }
    std::vector<nanoseconds> expected;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (const auto r = worst_response(tasks, t)) expected.push_back(*r * unit);
    }
    if (expected.size() < tasks.size()) continue;
    ++schedulable;
    // The first jobs, released together, are the worst ones.
    const auto seen = responses(tasks, "fixed_priority", 60);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      EXPECT_EQ(std::ranges::max(seen[t]), expected[t]) << "seed " << seed << " task " << t;
    }
  }
  EXPECT_GT(schedulable, 50U);
}

TEST(shared_workers, the_record_says_where_a_stage_of_another_pipeline_would_have_gone_first) {
  const std::deque<drawn_run> runs = {run_of({3, 10}, 1, 30), run_of({4, 15}, 0, 30)};
  const auto records = shared_records(runs, "fixed_priority");
  // At 0, both are due. The first keeps the worker, although the second is earlier in its plan.
  using column = std::vector<std::int32_t>;
  EXPECT_EQ(records[0].stages[0].preferred, (column{0, 0, 0}));
  EXPECT_EQ(records[0].stages[1].preferred, (column{-1, 0, 0}));
  EXPECT_EQ(records[0].stages[2].preferred, (column{-1, 0, 0}));
  for (const auto& stage : records[1].stages) EXPECT_EQ(stage.preferred, (column{0, 0}));
}

TEST(shared_workers, without_a_policy_the_frame_that_was_due_first_goes_first) {
  const auto seen = responses({{3, 10}, {4, 15}}, "oldest_frame", 30);
  // At 0 both are due and take turns, because their stages have equal positions. Later jobs do not
  // overlap.
  EXPECT_EQ(seen[0], (std::vector<nanoseconds>{5 * unit, 3 * unit, 3 * unit}));
  EXPECT_EQ(seen[1], (std::vector<nanoseconds>{7 * unit, 4 * unit}));
}

// ---- Who held whom up ---------------------------------------------------------------------------

/// A task whose stages take any time; its due times begin at `phase`.
struct chain {
  std::vector<nanoseconds> stages;
  nanoseconds period;
  nanoseconds phase;
};

drawn_run run_of(const chain& c, int level, std::size_t frames) {
  drawn_run run = run_of(task{std::ssize(c.stages), c.period}, level, c.period);
  run.times.assign(frames, c.stages);
  run.planned.run.rate = 1e9 / static_cast<double>(c.period);
  run.planned.run.deadline = c.period;
  run.planned.run.phase = c.phase;
  return run;
}

/// What `contention` counts for one of two or more chains.
struct counted_waits {
  std::vector<double> held_by = {};
  double longest_wait = 0;
  std::size_t blocked = 0;
  nanoseconds longest_blocked = 0;
  std::size_t inversions = 0;
  nanoseconds longest_inversion = 0;
};

/// Runs chains on one worker by the definition of list scheduling and counts their waits. The
/// first is the most urgent.
/// @param due_first Schedules by due time instead of by urgency.
std::vector<counted_waits> waits_by_definition(const std::vector<chain>& chains, std::size_t frames,
                                               bool due_first) {
  struct state {
    std::size_t frame = 0;
    std::size_t stage = 0;
    nanoseconds ready = 0;
    double waited = 0;  ///< in the frame
    bool blocked = false;
    nanoseconds inverted = 0;
  };
  std::vector<state> states(chains.size());
  std::vector<counted_waits> counts(chains.size());
  const auto due = [&](std::size_t c, std::size_t frame) {
    return chains[c].phase + static_cast<nanoseconds>(frame) * chains[c].period;
  };
  for (std::size_t c = 0; c < chains.size(); ++c) {
    states[c].ready = due(c, 0);
    counts[c].held_by.resize(chains.size());
  }
  const auto over = [&](std::size_t c) { return states[c].frame == frames; };
  for (nanoseconds now = 0;;) {
    std::optional<std::size_t> next;
    std::optional<nanoseconds> soonest;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      if (over(c)) continue;
      soonest = std::min(soonest.value_or(states[c].ready), states[c].ready);
      if (states[c].ready > now) continue;
      if (!next || (due_first && due(c, states[c].frame) < due(*next, states[*next].frame)))
        next = c;
    }
    if (!soonest) return counts;
    if (!next) {
      now = *soonest;
      continue;
    }
    state& running = states[*next];
    counted_waits& own = counts[*next];
    own.blocked += running.blocked ? 1 : 0;
    own.inversions += running.inverted > 0 ? 1 : 0;
    own.longest_inversion = std::max(own.longest_inversion, running.inverted);
    running.blocked = false;
    running.inverted = 0;
    const nanoseconds end = now + chains[*next].stages[running.stage];
    for (std::size_t c = 0; c < chains.size(); ++c) {
      if (c == *next || over(c) || states[c].ready >= end) continue;
      const nanoseconds time = end - std::max(now, states[c].ready);
      counts[c].held_by[*next] += static_cast<double>(time);
      states[c].waited += static_cast<double>(time);
      if (*next < c) continue;  // more urgent
      // A driver begins a frame after the worker that ended the one before has taken a stage.
      if (states[c].ready < now || (states[c].ready == now && states[c].stage > 0)) {
        states[c].inverted += time;
      } else {
        states[c].blocked = true;
        counts[c].longest_blocked = std::max(counts[c].longest_blocked, time);
      }
    }
    now = end;
    running.ready = end;
    if (++running.stage < chains[*next].stages.size()) continue;
    own.longest_wait = std::max(own.longest_wait, running.waited);
    ++running.frame;
    running = {running.frame, 0, std::max(end, due(*next, running.frame))};
  }
}

TEST(shared_workers, waits_blocking_and_inversions_agree_with_list_scheduling) {
  std::size_t inversions = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    random_source random(seed);
    std::vector<chain> chains(2 + below(random, 3));
    std::deque<drawn_run> runs;
    constexpr std::size_t frames = 20;
    for (chain& c : chains) {
      c.period = 2'000'000 + static_cast<nanoseconds>(below(random, 5'000'000));
      c.phase = 1 + static_cast<nanoseconds>(below(random, 1'000'000));
      c.stages.resize(1 + below(random, 4));
      for (nanoseconds& t : c.stages) t = 1 + static_cast<nanoseconds>(below(random, 700'000));
      runs.push_back(run_of(c, -static_cast<int>(runs.size()), frames));
    }
    std::vector<std::string> names;
    for (const chain& c : chains) names.push_back(fmt::format("{}", &c - chains.data()));
    for (const char* policy : {"fixed_priority", "oldest_frame"}) {
      SCOPED_TRACE(fmt::format("{}, seed {}", policy, seed));
      const bool due_first = policy == default_policy;
      const auto records = shared_records(runs, policy);
      std::vector<const run_record*> trial;
      for (const run_record& record : records) trial.push_back(&record);
      const auto found = contention_of({trial}, sharing::cpu, names);
      const auto expected = waits_by_definition(chains, frames, due_first);
      for (std::size_t c = 0; c < chains.size(); ++c) {
        const auto waits = std::ranges::find(found, names[c], &contention::name);
        if (waits == found.end()) {  // it never waited and nothing is less urgent
          EXPECT_THAT(expected[c].held_by, testing::Each(0.0));
          continue;
        }
        EXPECT_EQ(waits->frames, frames);
        double sum = 0;
        for (std::size_t by = 0; by < chains.size(); ++by) {
          EXPECT_NEAR(waits->held_by[by].sum, expected[c].held_by[by], 1e-3) << c << by;
          sum += expected[c].held_by[by];
        }
        EXPECT_NEAR(waits->wait.sum, sum, 1e-3);
        EXPECT_NEAR(waits->wait.longest, expected[c].longest_wait, 1e-3);
        if (c + 1 == chains.size()) {
          EXPECT_EQ(waits->behind, std::nullopt);
          continue;
        }
        ASSERT_TRUE(waits->behind);
        const lower_rank_waits& behind = *waits->behind;
        EXPECT_EQ(behind.blocked, expected[c].blocked);
        EXPECT_EQ(behind.longest_blocked, expected[c].longest_blocked);
        EXPECT_EQ(behind.inversions, expected[c].inversions);
        EXPECT_EQ(behind.longest_inversion, expected[c].longest_inversion);
        nanoseconds bound = 0;
        for (std::size_t low = c + 1; low < chains.size(); ++low) {
          bound = std::max(bound, std::ranges::max(chains[low].stages));
        }
        EXPECT_EQ(behind.bound, bound);
        if (due_first) {
          inversions += behind.inversions;
        } else {
          EXPECT_EQ(behind.inversions, 0);
          EXPECT_LE(behind.longest_blocked, bound);
        }
      }
    }
  }
  EXPECT_GT(inversions, 100U);
}

TEST(shared_workers, earliest_deadlines_have_no_inversions) {
  const std::deque<drawn_run> runs = {run_of({2, 5}, 0, 35), run_of({4, 7}, 0, 35)};
  for (const bool by_deadline : {true, false}) {
    auto records = shared_records(runs, by_deadline ? "deadline" : "fifo");
    for (run_record& record : records) record.policy->order = urgency::deadline;
    const auto found = contention_of({{&records[0], &records[1]}}, sharing::cpu, {"a", "b"});
    ASSERT_EQ(found.size(), 2U);
    std::size_t inversions = 0;
    for (const contention& waits : found) {
      EXPECT_EQ(waits.behind->kept, urgency::deadline);
      EXPECT_EQ(waits.behind->bound, unit);
      inversions += waits.behind->inversions;
    }
    EXPECT_EQ(inversions == 0, by_deadline);
  }
}

// ---- Late frames
// ---------------------------------------------------------------------------------

TEST(shared_workers, drop_and_cut_short_late_frames_whatever_is_shared) {
  using column = std::vector<nanoseconds>;
  const auto column_of = [](const run_record& record, nanoseconds frame_record::*time) {
    column times;
    for (const frame_record& frame : record.frames) times.push_back(frame.*time);
    return times;
  };
  for (const auto& [on, share] :
       {std::pair{side::cpu, sharing::cpu}, std::pair{side::cpu, sharing::both},
        std::pair{side::device, sharing::device}, std::pair{side::device, sharing::both}}) {
    const auto records = [&, on = on, share = share](late_rule late) {
      std::deque<drawn_run> runs = {run_of(chain{{600}, 1000, 50}, 1, 3),
                                    run_of(chain{{100, 90}, 400, 0}, 0, 7)};
      runs[1].planned.run.deadline = 350;
      runs[1].planned.run.late = late;
      for (drawn_run& run : runs) {
        run.planned.run.window = share == sharing::cpu ? 0 : 1;
        for (planned_stage& stage : run.planned.stages) {
          stage.on = on;
          stage.signals = stage.host_waits = on == side::device;
        }
      }
      return shared_records(runs, "fixed_priority", share);
    };
    // The urgent frames are due at 50, 1050 and 2050 and take 600. A frame of the other pipeline
    // takes 100 + 90, and is late 350 after it is due.
    //
    // drop: frame 0 runs from 0 to 100 and, behind the urgent frame, from 700 to 790. Frame 1, due
    // at 400, is then late. Frame 2 runs from 800; 3 and 4 follow the urgent frame at 1650, 5 is
    // held by the next one between its stages, and so 6, due at 2400, is late at 2820.
    const auto drop = records(late_rule::drop);
    EXPECT_EQ(column_of(drop[0], &frame_record::end), (column{700, 1650, 2730}));
    EXPECT_EQ(column_of(drop[1], &frame_record::due), (column{0, 800, 1200, 1600, 2000}));
    EXPECT_EQ(column_of(drop[1], &frame_record::end), (column{790, 990, 1840, 2030, 2820}));
    EXPECT_EQ(drop[1].load.dropped, (column{400, 2400}));
    EXPECT_EQ(drop[1].load.cut_short, 0);
    // skip_rest: at 700, the second stage of frame 0 does not start, so frame 1 begins, and is late
    // at 800 after its first stage. Frame 3 waits from 1200 to 1650 and never starts a stage. Frame
    // 5 is late at 2700 behind the urgent frame, frame 6 at 2800 after its first stage.
    const auto skip = records(late_rule::skip_rest);
    EXPECT_EQ(column_of(skip[0], &frame_record::end), (column{700, 1650, 2700}));
    EXPECT_EQ(column_of(skip[1], &frame_record::due), (column{800, 1600}));
    EXPECT_EQ(column_of(skip[1], &frame_record::end), (column{990, 1840}));
    EXPECT_EQ(skip[1].load.dropped, (column{0, 400, 1200, 2000, 2400}));
    EXPECT_EQ(skip[1].load.cut_short, 5);
  }
}

// ---- Capacity -----------------------------------------------------------------------------------

/// Searches for the highest factor on the rates of tasks, whose deadlines stay.
capacity_estimate factor_of(const std::vector<task>& tasks, std::string_view policy) {
  const auto probe = [&](const probe_request& request) {
    std::deque<drawn_run> runs;
    nanoseconds longest = 0;
    for (const task& t : tasks) longest = std::max(longest, t.period);
    for (const task& t : tasks) {
      runs.push_back(run_of(t, -static_cast<int>(runs.size()), t.period));
      runs.back().times.resize(static_cast<std::size_t>(request.frames * longest / t.period),
                               runs.back().times.front());
      *runs.back().planned.run.rate *= *request.rate;
    }
    capacity_run made;
    made.members = shared_records(runs, policy);
    for (std::size_t m = 0; m < tasks.size(); ++m) {
      made.members[m].run.frames = std::ssize(runs[m].times);
    }
    return made;
  };
  capacity_options options;
  options.set = capacity_set{"tasks", "", std::vector<std::string>(tasks.size()), sharing::cpu};
  capacity_settings how;
  how.frames = 50;
  how.within = 0.05;
  return summarize(find_capacity(how, probe, options)).estimate;
}

/// Yao, Buttazzo and Bertogna, Feasibility Analysis under Fixed Priority Scheduling with Limited
/// Preemptions, Real-Time Systems 47 (2011): returns whether each task meets its deadline, up to
/// its period, when its last unit of work is not preempted and one of a lower task may run first.
bool fixed_priorities_meet(const std::vector<task>& tasks, double factor) {
  for (std::size_t of = 0; of < tasks.size(); ++of) {
    const double blocking = of + 1 < tasks.size() ? 1 : 0;
    double start = 0;
    for (double next = blocking + static_cast<double>(tasks[of].time - 1); start != next;) {
      start = next;
      next = blocking + static_cast<double>(tasks[of].time - 1);
      for (std::size_t above = 0; above < of; ++above) {
        const double period = static_cast<double>(tasks[above].period) / factor;
        next += (std::floor(start / period) + 1) * static_cast<double>(tasks[above].time);
      }
      if (start > static_cast<double>(tasks[of].period)) return false;
    }
    if (start + 1 > static_cast<double>(tasks[of].period)) return false;
  }
  return true;
}

TEST(shared_workers, have_the_capacity_that_scheduling_theory_says) {
  for (const std::vector<task>& tasks :
       {std::vector<task>{{4, 10}, {8, 14}}, {{5, 15}, {6, 21}, {12, 35}}}) {
    double load = 0;
    for (const task& t : tasks) {
      load += static_cast<double>(t.time) / static_cast<double>(t.period);
    }
    const auto edf = factor_of(tasks, "deadline");
    ASSERT_TRUE(edf.rate && edf.low && edf.high);
    EXPECT_LE(*edf.low, 1.001 / load);
    EXPECT_GE(*edf.high, 0.999 / load);
    EXPECT_LE(*edf.width(), 0.05);
    double most = 0.1;  // deadlines are within periods up to a factor of 1
    while (most < 1 && fixed_priorities_meet(tasks, most + 0.001)) most += 0.001;
    const auto fixed = factor_of(tasks, "fixed_priority");
    ASSERT_TRUE(fixed.rate && fixed.low && fixed.high);
    EXPECT_LE(*fixed.low, most + 0.001);
    EXPECT_GE(*fixed.high, most - 0.001);
    EXPECT_LT(most, 0.97 / load) << "the policies differ";
  }
}

}  // namespace
}  // namespace graphline
