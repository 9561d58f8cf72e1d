#include "tests/plan/random_plans.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <set>

namespace graphline::plan_testing {
namespace {

constexpr int pipelines = 400;

/// The stages that must be complete before each starts, from the spec and the tensors, without the
/// plan's own edges.
std::vector<std::set<std::size_t>> true_dependencies(const pipeline_spec& spec, const plan& p) {
  std::vector<std::set<std::size_t>> before(p.stages.size());
  std::map<std::string, std::size_t> at;
  for (std::size_t s = 0; s < p.stages.size(); ++s) at[p.stages[s].name] = s;
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    for (const std::size_t t : p.stages[s].reads) {
      if (!p.tensors[t].input) before[s].insert(p.tensors[t].producer);
    }
  }
  for (const stage_spec& s : spec.stages) {
    for (const named& a : s.after) before[at.at(s.name.text)].insert(at.at(a.text));
  }
  return before;
}

TEST(random_plans, hold_every_stage_once_in_an_order_that_satisfies_every_edge) {
  random_source random(1);
  for (int round = 0; round < pipelines; ++round) {
    const pipeline_spec spec = random_spec(random, 30);
    const plan p = plan_of(spec);
    std::multiset<std::string> declared;
    for (const stage_spec& s : spec.stages) declared.insert(s.name.text);
    std::multiset<std::string> planned;
    for (const planned_stage& s : p.stages) {
      if (!s.inserted) planned.insert(s.name);
    }
    ASSERT_EQ(declared, planned);
    const auto before = true_dependencies(spec, p);
    for (std::size_t s = 0; s < p.stages.size(); ++s) {
      std::set<std::size_t> waits;
      for (const dependency& w : p.stages[s].waits) {
        ASSERT_LT(w.stage, s);
        ASSERT_TRUE(waits.insert(w.stage).second);
        ASSERT_TRUE(p.reach[w.stage][s]);
      }
      ASSERT_EQ(waits, before[s]);
    }
  }
}

TEST(random_plans, copy_exactly_what_is_read_on_the_other_side) {
  random_source random(2);
  for (int round = 0; round < pipelines; ++round) {
    const pipeline_spec spec = random_spec(random, 30);
    const plan p = plan_of(spec);
    std::map<std::string, const planned_stage*> stages;
    for (const planned_stage& s : p.stages) stages[s.name] = &s;
    std::set<std::string> needed;
    for (const stage_spec& declared : spec.stages) {
      const planned_stage& s = *stages.at(declared.name.text);
      for (std::size_t r = 0; r < s.reads.size(); ++r) {
        const std::string& wanted = declared.reads[r].text;
        const planned_tensor& read = p.tensors[s.reads[r]];
        if (!s.kind->moves) {
          ASSERT_EQ(read.on, s.on);
        }
        if (read.name == wanted) continue;
        ASSERT_EQ(read.name, wanted + (read.on == side::cpu ? "@cpu" : "@device"));
        ASSERT_NE(tensor_of(p, wanted).on, read.on);
        needed.insert("copy:" + wanted);
      }
    }
    std::set<std::string> inserted;
    for (const planned_stage& s : p.stages) {
      if (s.inserted) {
        ASSERT_TRUE(inserted.insert(s.name).second);
      }
    }
    ASSERT_EQ(inserted, needed);
  }
}

/// Executes a plan in random order, using only the plan: the host enqueues or starts what its waits
/// allow, and streams run in order and honor event waits.
class simulation {
 public:
  simulation(const plan& p, random_source& random)
      : plan_(p),
        random_(random),
        state_(p.stages.size(), state::idle),
        queues_(p.streams.size()) {}

  /// Calls `on_start(stage, complete)` at each start. @return false on deadlock
  template <class F>
  bool run(F on_start) {
    for (std::size_t left = plan_.stages.size(); left > 0;) {
      std::vector<std::size_t> steps;
      for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
        if (can_step(s)) steps.push_back(s);
      }
      if (steps.empty()) return false;
      const std::size_t s = steps[below(random_, steps.size())];
      if (state_[s] == state::idle && plan_.stages[s].on == side::device) {
        queues_[plan_.stages[s].stream].push_back(s);
        state_[s] = state::enqueued;
      } else if (state_[s] == state::running) {
        state_[s] = state::complete;
        if (plan_.stages[s].on == side::device) queues_[plan_.stages[s].stream].pop_front();
        --left;
      } else {
        on_start(s, [&](std::size_t other) { return state_[other] == state::complete; });
        state_[s] = state::running;
      }
    }
    return true;
  }

 private:
  enum class state { idle, enqueued, running, complete };

  bool can_step(std::size_t s) const {
    const planned_stage& stage = plan_.stages[s];
    switch (state_[s]) {
      case state::idle:
        return std::all_of(stage.waits.begin(), stage.waits.end(), [&](const dependency& w) {
          switch (w.how) {
            case satisfied_by::stream_order:
            case satisfied_by::event_wait:
              return state_[w.stage] != state::idle;
            case satisfied_by::completion:
              return plan_.stages[w.stage].host_waits && plan_.stages[w.stage].signals &&
                     state_[w.stage] == state::complete;
            case satisfied_by::cpu_return:
              return state_[w.stage] == state::complete;
          }
          return false;
        });
      case state::enqueued:
        return queues_[stage.stream].front() == s &&
               std::all_of(stage.waits.begin(), stage.waits.end(), [&](const dependency& w) {
                 return w.how != satisfied_by::event_wait ||
                        (plan_.stages[w.stage].signals && state_[w.stage] == state::complete);
               });
      case state::running:
        return true;
      case state::complete:
        return false;
    }
    return false;
  }

  const plan& plan_;
  random_source& random_;
  std::vector<state> state_;
  std::vector<std::deque<std::size_t>> queues_;
};

TEST(random_plans, start_no_stage_before_what_it_needs_is_complete_and_never_get_stuck) {
  random_source random(3);
  for (int round = 0; round < pipelines; ++round) {
    pipeline_spec spec = random_spec(random, 40);
    spec.run.streams = every_choice[static_cast<std::size_t>(round) % every_choice.size()];
    const plan p = plan_of(spec);
    const auto before = true_dependencies(spec, p);
    for (int run = 0; run < 3; ++run) {
      const bool finished = simulation(p, random).run([&](std::size_t s, auto complete) {
        for (const std::size_t b : before[s]) {
          ASSERT_TRUE(complete(b)) << p.stages[s].name << " before " << p.stages[b].name;
        }
      });
      ASSERT_TRUE(finished);
    }
  }
}

TEST(random_plans, let_the_host_see_the_end_of_every_frame) {
  random_source random(4);
  for (int round = 0; round < pipelines; ++round) {
    const plan p = plan_of(random_spec(random, 30));
    for (const planned_stage& s : p.stages) {
      if (s.on == side::cpu || !s.followers.empty()) continue;
      ASSERT_TRUE(s.signals && s.host_waits) << s.name;
    }
  }
}

TEST(random_plans, use_at_most_eight_streams_each_of_one_priority) {
  random_source random(5);
  for (int round = 0; round < pipelines; ++round) {
    const plan p = plan_of(random_spec(random, 60));
    ASSERT_LE(p.streams.size(), 8u);
    for (const planned_stage& s : p.stages) {
      if (s.on == side::cpu) continue;
      const planned_stream& stream = p.streams[s.stream];
      ASSERT_EQ(stream.copies, s.kind->moves) << s.name;
      if (!stream.copies) {
        ASSERT_EQ(stream.priority, s.priority) << s.name;
      }
    }
  }
}

}  // namespace
}  // namespace graphline::plan_testing
