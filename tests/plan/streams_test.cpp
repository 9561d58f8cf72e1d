#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "framework/spec/settings_table.hpp"
#include "tests/plan/random_plans.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int drawn = 200;

bool computes(const planned_stage& s) {
  return s.on == side::device && !s.kind->moves;
}

/// Compute stages by stream, in planned order.
std::map<std::size_t, std::vector<std::size_t>> compute_streams(const plan& p) {
  std::map<std::size_t, std::vector<std::size_t>> streams;
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    if (computes(p.stages[s])) streams[p.stages[s].stream].push_back(s);
  }
  return streams;
}

plan plan_with(pipeline_spec spec, const stream_choice& streams) {
  spec.run.streams = streams;
  return plan_of(spec);
}

/// Declared priorities of compute stages, highest first.
std::set<priority> priorities_of(const plan& p) {
  std::set<priority> used;
  for (const planned_stage& s : p.stages) {
    if (computes(s)) used.insert(s.priority);
  }
  return used;
}

TEST(streams_setting, gives_all_stages_one_stream_or_each_its_own) {
  random_source random(21);
  for (int round = 0; round < drawn; ++round) {
    const pipeline_spec spec = random_spec(random, 40);
    const plan apart = plan_with(spec, {stream_rule::per_stage});
    for (const auto& [stream, stages] : compute_streams(apart)) {
      ASSERT_EQ(stages.size(), 1U);
      ASSERT_EQ(apart.streams[stream].priority, apart.stages[stages[0]].priority);
    }
    const plan one = plan_with(spec, {stream_rule::one});
    const auto streams = compute_streams(one);
    ASSERT_LE(streams.size(), 1U);
    if (streams.empty()) continue;
    ASSERT_EQ(one.streams[streams.begin()->first].priority, *priorities_of(one).begin());
  }
}

TEST(streams_setting, of_branches_puts_only_chains_on_a_stream_and_has_no_limit) {
  random_source random(22);
  std::size_t most = 0;
  for (int round = 0; round < drawn; ++round) {
    const plan p = plan_with(random_spec(random, 60), {stream_rule::per_branch});
    const auto streams = compute_streams(p);
    most = std::max(most, streams.size());
    for (const auto& [stream, stages] : streams) {
      for (std::size_t i = 1; i < stages.size(); ++i) {
        const auto& waits = p.stages[stages[i]].waits;
        ASSERT_TRUE(std::ranges::count(waits, stages[i - 1], &dependency::stage) == 1)
            << p.stages[stages[i]].name;
        ASSERT_EQ(p.stages[stages[i]].priority, p.streams[stream].priority);
      }
    }
  }
  EXPECT_GT(most, 8U);
}

TEST(streams_setting, with_a_number_uses_that_many_streams_where_branches_need_them) {
  random_source random(23);
  for (int round = 0; round < drawn; ++round) {
    const pipeline_spec spec = random_spec(random, 60);
    const plan branches = plan_with(spec, {stream_rule::per_branch});
    const std::size_t wanted = compute_streams(branches).size();
    const auto used = priorities_of(branches);
    for (const std::int64_t limit : {1, 2, 3, 5, 64}) {
      const plan p = plan_with(spec, {.at_most = limit});
      const auto streams = compute_streams(p);
      ASSERT_EQ(streams.size(), std::min(wanted, static_cast<std::size_t>(limit)));
      std::set<priority> apart(used.begin(), used.end());
      while (apart.size() > static_cast<std::size_t>(limit)) apart.erase(std::prev(apart.end()));
      for (const auto& [stream, stages] : streams) {
        for (const std::size_t s : stages) {
          const priority own = p.stages[s].priority;
          // The lowest of the priorities that have a stream takes all that are lower.
          ASSERT_EQ(p.streams[stream].priority, apart.contains(own) ? own : *apart.rbegin());
        }
      }
    }
  }
}

TEST(streams_setting, leaves_copies_on_a_stream_for_each_direction) {
  random_source random(24);
  for (int round = 0; round < drawn; ++round) {
    const pipeline_spec spec = random_spec(random, 30);
    const plan usual = plan_with(spec, {});
    for (const stream_choice& streams : every_choice) {
      const plan p = plan_with(spec, streams);
      ASSERT_EQ(p.stages.size(), usual.stages.size());
      for (std::size_t s = 0; s < p.stages.size(); ++s) {
        if (p.stages[s].on == side::cpu || computes(p.stages[s])) continue;
        const planned_stream& stream = p.streams[p.stages[s].stream];
        const planned_stream& as_usual = usual.streams[usual.stages[s].stream];
        ASSERT_EQ(stream.name, as_usual.name);
        ASSERT_EQ(stream.priority, as_usual.priority);
        ASSERT_TRUE(stream.copies);
      }
    }
  }
}

TEST(streams_setting, lets_a_stage_wait_by_an_event_for_those_on_other_streams) {
  random_source random(25);
  for (int round = 0; round < drawn; ++round) {
    const pipeline_spec spec = random_spec(random, 40);
    for (const stream_choice& streams : every_choice) {
      const plan p = plan_with(spec, streams);
      for (const planned_stage& stage : p.stages) {
        for (const dependency& wait : stage.waits) {
          const planned_stage& earlier = p.stages[wait.stage];
          if (stage.on == side::cpu || earlier.on == side::cpu) continue;
          if (stage.stream == earlier.stream) {
            ASSERT_EQ(wait.how, satisfied_by::stream_order);
          } else {
            ASSERT_EQ(wait.how, satisfied_by::event_wait);
            ASSERT_TRUE(earlier.signals);
          }
        }
      }
    }
  }
}

std::vector<std::string> warnings_of(const spec_builder& b) {
  diagnostics out;
  make_plan(b.spec, lasting_registry(), {}, out);
  EXPECT_FALSE(out.has_errors()) << out.render();
  return messages(out, severity::warning);
}

TEST(streams_setting, warns_where_it_has_no_effect_or_mixes_priorities) {
  spec_builder b;
  b.input("x", {4}, side::cpu).stage("a", "gpu", {"x"}).stage("back", "copy", {"a"});
  EXPECT_THAT(warnings_of(b), IsEmpty());
  b.spec.run.streams = {stream_rule::per_stage};
  EXPECT_THAT(warnings_of(b),
              ElementsAre("streams: per_stage has no effect on fewer than two device stages, apart "
                          "from copies; omit streams"));
  b.stage("b", "gpu", {"x"}).priority(priority::high).stage("c", "gpu", {"x"});
  b.priority(priority::low);
  EXPECT_THAT(warnings_of(b), IsEmpty());
  b.spec.run.streams = {.at_most = 2};
  const std::string mixed =
      "streams: 2 gives stage 'c' of priority low a stream of priority normal, because there are "
      "fewer streams than priorities; allow more streams, or set priorities: off";
  EXPECT_THAT(warnings_of(b), ElementsAre(mixed));
  b.spec.run.priorities = false;
  EXPECT_THAT(warnings_of(b), IsEmpty());
  b.spec.run.priorities = true;
  b.spec.run.streams.at_most = 3;
  EXPECT_THAT(warnings_of(b), IsEmpty());
}

TEST(streams_setting, is_named_in_results_only_if_it_was_changed) {
  std::set<std::string> named;
  const auto note = [&](const settings& run) {
    named.clear();
    each_setting([&](auto member, const setting_entry& of) {
      if (applies(member, of, run)) named.insert(of.key);
    });
  };
  settings run;
  note(run);
  EXPECT_FALSE(named.contains("streams") || named.contains("realtime"));
  EXPECT_TRUE(named.contains("in_flight"));
  run.streams = {.at_most = 8};
  run.realtime = 1;
  note(run);
  EXPECT_TRUE(named.contains("streams") && named.contains("realtime"));
  EXPECT_FALSE(named.contains("workers"));
  run.strategy = strategy::overlap;
  run.workers = 1;
  note(run);
  EXPECT_TRUE(named.contains("workers"));
}

std::vector<std::string> polling_warnings(strategy how, wait_mode wait, bool scheduled,
                                          const cpu_set& cpus, std::size_t plans = 1) {
  spec_builder b;
  b.input("x", {4}).stage("a", "gpu", {"x"});
  b.spec.run.strategy = how;
  b.spec.run.wait = wait;
  b.spec.run.realtime = 5;
  if (scheduled) b.spec.run.arrival = arrival::constant, b.spec.run.rate = 30;
  const plan p = plan_of(b);
  diagnostics out;
  warn_of_polling(std::vector(plans, &p), cpus, {}, out);
  return messages(out, severity::warning);
}

TEST(realtime, warns_where_threads_that_poll_may_take_every_core) {
  using enum strategy;
  using enum wait_mode;
  EXPECT_THAT(polling_warnings(async, spin, false, {3}),
              ElementsAre("realtime: 5 with wait: spin can starve other threads, such as those of "
                          "the host device: real-time threads may poll on all cores that this "
                          "process may use (3); use wait: block"));
  EXPECT_EQ(polling_warnings(serial, yield, true, {3}).size(), 1U);
  EXPECT_THAT(polling_warnings(async, block, true, {3}), IsEmpty());
  EXPECT_THAT(polling_warnings(async, spin, true, {2, 3}), IsEmpty());
  EXPECT_THAT(polling_warnings(async, spin, true, {}), IsEmpty());  // unknown
  // The driver waits for due times, and a watcher for the device.
  EXPECT_EQ(polling_warnings(overlap, spin, true, {2, 3}).size(), 1U);
  EXPECT_THAT(polling_warnings(overlap, spin, false, {2, 3}), IsEmpty());
  EXPECT_EQ(polling_warnings(async, spin, false, {2, 3}, 2).size(), 1U);
}

}  // namespace
}  // namespace graphline::plan_testing
