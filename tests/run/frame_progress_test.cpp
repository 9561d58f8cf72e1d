#include "framework/run/execute/frame_progress.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/run/drawn_plan.hpp"

namespace graphline {
namespace {

using cause = ready_cause::kind;
using testing_plans::below;
using testing_plans::edge;
using testing_plans::plan_of;
using testing_plans::random_plan;
using testing_plans::random_source;

/// The world around `frame_progress`: starts what is ready, lets it return and complete, in
/// whatever order is asked for, and knows from the plan alone what may start when.
class world {
 public:
  world(const plan& p, std::size_t slots, std::int64_t frames)
      : plan_(p), slots_(slots), frames_(frames), progress_(p, slots) {
    for (std::size_t slot = 0; slot < slots_; ++slot) begin_next(slot);
  }

  /// How many events could come next.
  std::size_t choices() const { return events_.size(); }

  /// The one of them comes.
  void take(std::size_t choice) {
    const event next = events_[choice];
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(choice));
    const auto slot = static_cast<std::uint32_t>(static_cast<std::size_t>(next.frame) % slots_);
    const auto stage = static_cast<std::uint32_t>(next.stage);
    const auto ready = [&](std::uint32_t in, std::uint32_t s, ready_cause why) {
      see_ready(in == slot ? next.frame : next.frame + 1, s, why);
    };
    const bool on_device = plan_.stages[next.stage].on == side::device;
    if (next.what == event::kind::issues) {
      issue(next.frame, next.stage);
      events_.push_back({event::kind::returns, next.frame, next.stage});
    } else if (next.what == event::kind::returns) {
      returned_.insert({next.frame, next.stage});
      const bool ended = progress_.returned(slot, stage, ready);
      if (on_device) {
        // Its completion may have been seen before the call that issued it returned.
        ASSERT_FALSE(ended);
      } else {
        check_end(next.frame, ended);
      }
    } else {
      completed_.insert({next.frame, next.stage});
      auto& queue = streams_[plan_.stages[next.stage].stream];
      queue.erase(queue.begin());
      if (!queue.empty()) completes(queue.front());
      // The host looks at it only where something waits for that.
      const bool seen = plan_.stages[next.stage].host_waits;
      if (seen) check_end(next.frame, progress_.completed(slot, stage, ready));
    }
  }

  /// Nothing is left to come: all frames must have ended, each stage once in each.
  void check_all_done() const {
    const auto all = static_cast<std::size_t>(frames_) * plan_.stages.size();
    ASSERT_EQ(returned_.size(), all);
    ASSERT_EQ(ended_, frames_);
  }

 private:
  using stage_of_frame = std::pair<std::int64_t, std::size_t>;
  struct event {
    enum class kind { issues, returns, completes };
    kind what;
    std::int64_t frame;
    std::size_t stage;
  };

  void begin_next(std::size_t slot) {
    const std::int64_t frame = begun_[slot]++ * static_cast<std::int64_t>(slots_) +  //
                               static_cast<std::int64_t>(slot);
    if (frame >= frames_) return;
    progress_.begun(static_cast<std::uint32_t>(slot),
                    [&](std::uint32_t in, std::uint32_t s, ready_cause why) {
                      EXPECT_EQ(in, slot);
                      see_ready(frame, s, why);
                    });
    live_.insert(frame);
  }

  /// What the plan demands of the moment in which a stage starts.
  void see_ready(std::int64_t frame, std::uint32_t s, ready_cause why) {
    ASSERT_LT(frame, frames_);
    ASSERT_TRUE(started_.insert({frame, s}).second) << "frame " << frame << " stage " << s;
    bool named = false;
    for (const dependency& wait : plan_.stages[s].waits) {
      const bool by_completion = wait.how == satisfied_by::completion;
      const auto& done = by_completion ? completed_ : returned_;
      ASSERT_TRUE(done.contains({frame, wait.stage})) << "stage " << s << " before " << wait.stage;
      named = named || (why.stage == wait.stage &&
                        why.what == (by_completion ? cause::completed : cause::returned));
    }
    if (slots_ > 1 && frame > 0) {
      ASSERT_TRUE(returned_.contains({frame - 1, s})) << "overlaps itself";
      named = named || (why.what == cause::previous_frame && why.stage == s);
    }
    named = named || (why.what == cause::frame_begun && plan_.stages[s].waits.empty());
    EXPECT_TRUE(named) << "stage " << s << " names a cause that it does not wait for";
    const bool on_device = plan_.stages[s].on == side::device;
    events_.push_back({on_device ? event::kind::issues : event::kind::returns, frame, s});
  }

  void issue(std::int64_t frame, std::size_t stage) {
    auto& queue = streams_[plan_.stages[stage].stream];
    queue.push_back({frame, stage});
    if (queue.size() == 1) completes(queue.front());
  }

  void completes(const stage_of_frame& s) {
    events_.push_back({event::kind::completes, s.first, s.second});
  }

  void check_end(std::int64_t frame, bool ended) {
    bool all = true;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const planned_stage& stage = plan_.stages[s];
      const auto& done = stage.on == side::cpu ? returned_ : completed_;
      const bool holds = stage.followers.empty() || stage.host_waits;
      all = all && (!holds || done.contains({frame, s}));
    }
    ASSERT_EQ(ended, all) << "frame " << frame;
    if (!ended) return;
    ASSERT_EQ(frame, ended_) << "frames end in order";
    ++ended_;
    live_.erase(frame);
    ASSERT_LE(live_.size(), slots_);
    begin_next(static_cast<std::size_t>(frame) % slots_);
  }

  const plan& plan_;
  std::size_t slots_;
  std::int64_t frames_;
  frame_progress progress_;
  std::vector<event> events_;  ///< that could come next
  std::map<std::size_t, std::vector<stage_of_frame>> streams_;
  std::map<std::size_t, std::int64_t> begun_;  ///< frames, by slot
  std::set<std::int64_t> live_;
  std::set<stage_of_frame> started_, returned_, completed_;
  std::int64_t ended_ = 0;
};

/// The plan with a window, for which the host waits for each device stage.
plan with_window(plan p) {
  for (planned_stage& stage : p.stages) stage.host_waits = stage.on == side::device;
  return p;
}

/// Each order in which events can come, from the last choice on; frames restart from the beginning,
/// since a state machine of counters cannot be copied. Returns how many there are.
std::size_t check_every_order(const plan& p, std::size_t slots, std::int64_t frames,
                              std::size_t most) {
  std::vector<std::pair<std::size_t, std::size_t>> path;  // chosen, of how many
  std::size_t orders = 0;
  do {
    world w(p, slots, frames);
    for (std::size_t step = 0; w.choices() > 0; ++step) {
      if (step == path.size()) path.push_back({0, w.choices()});
      w.take(path[step].first);
      if (testing::Test::HasFatalFailure()) return orders;
    }
    w.check_all_done();
    if (testing::Test::HasFatalFailure()) return orders;
    ++orders;
    while (!path.empty() && path.back().first + 1 == path.back().second) path.pop_back();
    if (!path.empty()) ++path.back().first;
  } while (!path.empty() && orders < most);
  return orders;
}

TEST(frame_progress, holds_in_every_order_of_events_of_small_plans) {
  using enum side;
  const std::vector<std::pair<std::vector<side>, std::vector<edge>>> plans = {
      {{cpu}, {}},
      {{device}, {}},
      {{cpu, cpu}, {}},
      {{device, device}, {{0, 1}}},
      {{cpu, device, cpu}, {{0, 1}, {1, 2}}},
      {{device, device, cpu}, {{0, 2}, {1, 2}}},
      {{device, cpu, cpu, device}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}},
      {{cpu, device, device, cpu}, {{0, 1}, {0, 2}, {1, 3}}},
  };
  for (const auto& [sides, edges] : plans) {
    const plan p = plan_of(sides, edges);
    for (const std::size_t slots : {1, 2, 3}) {
      check_every_order(p, slots, 3, 20'000);
      check_every_order(with_window(p), slots, 3, 20'000);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST(frame_progress, holds_in_random_orders_of_events_of_large_plans) {
  random_source random(7);
  for (int walk = 0; walk < 35'000; ++walk) {
    const plan drawn = random_plan(random, 14);
    const plan p = walk % 2 == 0 ? drawn : with_window(drawn);
    for (const std::size_t slots : {1, 2, 4}) {
      world w(p, slots, 5);
      while (w.choices() > 0) {
        w.take(below(random, w.choices()));
        if (HasFatalFailure()) FAIL() << "walk " << walk;
      }
      w.check_all_done();
      if (HasFatalFailure()) FAIL() << "walk " << walk;
    }
  }
}

TEST(frame_progress, begins_again_after_a_reset) {
  const plan p = plan_of({side::cpu, side::cpu}, {{0, 1}});
  frame_progress progress(p, 2);
  const auto ignore = [](std::uint32_t, std::uint32_t, ready_cause) {};
  for (int i = 0; i < 2; ++i) {
    progress.reset();
    std::vector<std::uint32_t> ready;
    const auto keep = [&](std::uint32_t slot, std::uint32_t stage, ready_cause) {
      EXPECT_EQ(slot, 0u);
      ready.push_back(stage);
    };
    progress.begun(0, keep);
    EXPECT_FALSE(progress.returned(0, 0, keep));
    EXPECT_THAT(ready, testing::ElementsAre(0u, 1u));
    progress.begun(1, ignore);  // left under way
  }
}

}  // namespace
}  // namespace graphline
