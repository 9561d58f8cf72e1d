#include "framework/analysis/run/lower_bound.hpp"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A stage as work for a resource.
struct job {
  nanoseconds ready = 0;  ///< earliest start
  nanoseconds work = 0;
  nanoseconds after = 0;  ///< minimum time from the stage's end to the frame's end
};

/// Stages that share a resource, each ready at `ready` or later and followed by at least `after`.
struct shared_set {
  nanoseconds ready = 0;
  nanoseconds own = 0;  ///< time on the resource
  nanoseconds after = 0;
  nanoseconds time() const noexcept { return ready + own + after; }
};

/// Returns a lower bound of the time at which all jobs are complete, given their ready times.
nanoseconds all_done(std::vector<job>& jobs, std::size_t cores) {
  std::sort(jobs.begin(), jobs.end(), [](const job& a, const job& b) { return a.ready > b.ready; });
  nanoseconds latest = 0;
  nanoseconds sum = 0;
  for (const job& j : jobs) {
    sum += j.work;
    latest = std::max(latest, j.ready + sum / static_cast<nanoseconds>(cores));
  }
  return latest;
}

/// Stages of one frame with their times and order constraints.
class frame_stages {
 public:
  frame_stages(const run_record& record, const std::vector<schedule_step>& steps, std::size_t pass,
               schedules of)
      : record_(record),
        steps_(steps),
        pass_(pass),
        one_launch_(properties_of(record.run).one_launch),
        stages_(record.stages.size()) {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      constexpr nanoseconds longest = nanoseconds{1} << 50;  // 13 days; keeps sums from overflowing
      auto stamps = work_stamps(record.stages[s], pass).value_or(stamp_pair{});
      stamps.begin = std::max(stamps.begin, stamps.end - longest);
      stages_[s].stamps = stamps;
      stages_[s].before.resize(stages_.size());
    }
    order_ = of == schedules::this_one ? order_of_schedule() : as_planned();
    follow_edges();
    if (of == schedules::this_one) follow_schedule();
    add_resources(of);
  }

  lower_bound bound() {
    find_ready_times();
    find_what_follows();
    lower_bound result = critical_path();
    const nanoseconds longest_path = result.time;
    for (const auto& r : resources_) {
      each_set(r, [&](const shared_set& set) { result.time = std::max(result.time, set.time()); });
    }
    for (const auto& stage : stages_) {
      result.time = std::max(result.time, stage.ready + stage.work() + stage.after);
    }
    const auto noticeable = result.time / 50;
    if (result.time - longest_path > noticeable) name_limit(result);
    return result;
  }

 private:
  struct stage_of_frame {
    stamp_pair stamps;
    nanoseconds ready = 0;
    nanoseconds after = 0;
    std::vector<std::size_t> earlier;
    boost::dynamic_bitset<> before;  ///< all predecessors, direct and indirect
    nanoseconds work() const noexcept { return stamps.length(); }
  };
  struct resource {
    limited_by what = limited_by::device;
    std::size_t cores = 1;
    std::vector<std::size_t> stages;
  };

  std::vector<std::size_t> as_planned() const {
    std::vector<std::size_t> result(stages_.size());
    std::iota(result.begin(), result.end(), std::size_t{0});
    return result;
  }

  /// Returns the order of stages on streams, from the host thread's steps or, if stages start when
  /// ready, from their begin stamps. No stage precedes a stage that it waits for.
  std::vector<std::size_t> order_of_schedule() const {
    if (!steps_.empty()) {
      std::vector<std::size_t> order;
      for (const schedule_step& step : steps_) {
        if (step.what != schedule_step::action::await) order.push_back(step.stage);
      }
      return order;
    }
    auto planned = as_planned();
    if (one_launch_) return planned;
    std::stable_sort(planned.begin(), planned.end(), [this](std::size_t a, std::size_t b) {
      return stages_[a].stamps.begin < stages_[b].stamps.begin;
    });
    std::vector<std::size_t> result;
    std::vector<bool> placed(planned.size(), false);
    const auto can_follow = [&](std::size_t s) {
      return std::ranges::none_of(record_.stages[s].waits, [&](const wait_record& wait) {
        return wait.stage < s && !placed[wait.stage];
      });
    };
    while (!planned.empty()) {
      const auto next = std::ranges::find_if(planned, can_follow);
      result.push_back(*next);
      placed[*next] = true;
      planned.erase(next);
    }
    return result;
  }

  void add_edge(std::size_t earlier, std::size_t later) {
    stages_[later].earlier.push_back(earlier);
  }

  void follow_edges() {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (const auto& wait : record_.stages[s].waits) {
        if (wait.stage < s) add_edge(wait.stage, s);
      }
    }
  }

  /// Adds edges for the order on each stream, and for the stages that the host thread awaits.
  void follow_schedule() {
    std::vector<std::pair<std::string_view, std::size_t>> streams;  // stream, its last stage so far
    for (const std::size_t s : order_) {
      const auto& stage = record_.stages[s];
      if (stage.on == side::cpu || !ran(stage, pass_)) continue;
      const auto known = std::find_if(streams.begin(), streams.end(),
                                      [&](const auto& of) { return of.first == stage.stream; });
      if (known == streams.end()) {
        streams.emplace_back(stage.stream, s);
      } else {
        add_edge(std::exchange(known->second, s), s);
      }
    }
    std::vector<std::size_t> held_by;  // last CPU stage of the thread, and stages it awaited since
    for (const schedule_step& step : steps_) {
      if (step.what == schedule_step::action::await) {
        held_by.push_back(step.stage);
        continue;
      }
      for (const std::size_t earlier : held_by) add_edge(earlier, step.stage);
      if (step.what == schedule_step::action::run) held_by = {step.stage};
    }
  }

  void add_resources(schedules of) {
    // Host nodes of a graph run one at a time.
    const bool one_call = of == schedules::this_one && one_launch_;
    const int cores = one_call ? 1 : record_.cpu_cores;
    resource cpu{limited_by::cpu_cores, static_cast<std::size_t>(std::max(cores, 1)), {}};
    std::map<std::size_t, resource> devices;  // that execute one operation at a time
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const stage_record& stage = record_.stages[s];
      if (stage.on == side::cpu) {
        cpu.stages.push_back(s);
      } else if (device_of(record_, stage).one_at_a_time) {
        devices.try_emplace(stage.device_index, resource{limited_by::device, 1, {}})
            .first->second.stages.push_back(s);
      }
    }
    if (cores > 0) resources_.push_back(std::move(cpu));
    // Spans between events include waits for other stages, so they do not add up.
    const auto is_told = [](const stage_record& s) { return !s.busy.empty(); };
    const bool apart = record_.run.timing == timing_method::sync ||
                       std::any_of(record_.stages.begin(), record_.stages.end(), is_told);
    for (auto& [index, device] : devices) {
      if (apart) resources_.push_back(std::move(device));
    }
  }

  void find_ready_times() {
    for (const std::size_t s : order_) {
      auto& stage = stages_[s];
      for (const std::size_t earlier : stage.earlier) {
        stage.before |= stages_[earlier].before;
        stage.before.set(earlier);
        stage.ready = std::max(stage.ready, stages_[earlier].ready + stages_[earlier].work());
      }
      for (const auto& r : resources_) {
        std::vector<job> jobs;
        for (const std::size_t e : r.stages) {
          if (stage.before[e]) jobs.push_back({stages_[e].ready, stages_[e].work()});
        }
        stage.ready = std::max(stage.ready, all_done(jobs, r.cores));
      }
    }
  }

  void find_what_follows() {
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      auto& stage = stages_[*at];
      for (const auto& r : resources_) {
        std::vector<job> jobs;
        for (const std::size_t l : r.stages) {
          if (stages_[l].before[*at]) jobs.push_back({stages_[l].after, stages_[l].work()});
        }
        stage.after = std::max(stage.after, all_done(jobs, r.cores));
      }
      for (const std::size_t earlier : stage.earlier) {
        auto& before = stages_[earlier];
        before.after = std::max(before.after, stage.work() + stage.after);
      }
    }
  }

  lower_bound critical_path() const {
    std::vector<nanoseconds> end(stages_.size(), 0);
    std::vector<std::size_t> after(stages_.size(), none);
    std::size_t last = none;
    for (const std::size_t s : order_) {
      for (const std::size_t earlier : stages_[s].earlier) {
        if (after[s] == none || end[earlier] > end[after[s]]) after[s] = earlier;
      }
      end[s] = stages_[s].work() + (after[s] == none ? 0 : end[after[s]]);
      if (last == none || end[s] > end[last]) last = s;
    }
    lower_bound result;
    if (last != none) result.time = end[last];
    for (; last != none; last = after[last]) result.stages.push_back(last);
    std::reverse(result.stages.begin(), result.stages.end());
    return result;
  }

  /// For each ready time, calls `visit` with the set of stages that gives the largest bound.
  /// Prefers larger sets among equal bounds.
  template <typename Visit>
  void each_set(const resource& r, Visit visit) const {
    std::vector<job> jobs;
    for (const std::size_t s : r.stages) {
      jobs.push_back({stages_[s].ready, stages_[s].work(), stages_[s].after});
    }
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const job& a, const job& b) { return a.after > b.after; });
    for (const job& first : jobs) {
      nanoseconds sum = 0;
      shared_set longest;
      for (const job& j : jobs) {
        if (j.ready < first.ready) continue;
        sum += j.work;
        const shared_set set{first.ready, sum / static_cast<nanoseconds>(r.cores), j.after};
        if (set.time() >= longest.time()) longest = set;
      }
      visit(longest);
    }
  }

  std::vector<std::size_t> members(const resource& r, const shared_set& set) const {
    std::vector<std::size_t> result;
    for (const std::size_t s : r.stages) {
      if (stages_[s].ready >= set.ready && stages_[s].after >= set.after) result.push_back(s);
    }
    return result;
  }

  /// Returns the length of the longest path within `stages`.
  /// @pre `stages` ascends.
  nanoseconds longest_path_of(const std::vector<std::size_t>& stages) const {
    std::vector<std::pair<std::size_t, nanoseconds>> ends;
    nanoseconds longest = 0;
    for (const std::size_t s : order_) {
      if (!std::binary_search(stages.begin(), stages.end(), s)) continue;
      nanoseconds begin = 0;
      for (const auto& earlier : ends) {
        if (stages_[s].before[earlier.first]) begin = std::max(begin, earlier.second);
      }
      ends.emplace_back(s, begin + stages_[s].work());
      longest = std::max(longest, ends.back().second);
    }
    return longest;
  }

  /// Returns the time of the longest stage outside `stages`.
  /// @pre `stages` ascends.
  nanoseconds longest_beside(const std::vector<std::size_t>& stages) const {
    nanoseconds longest = 0;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (std::binary_search(stages.begin(), stages.end(), s)) continue;
      longest = std::max(longest, stages_[s].work());
    }
    return longest;
  }

  /// Names what determines a bound above the critical path. Among the sets that attain the bound,
  /// selects the set with the most work. Skips sets that take no longer than their longest path,
  /// because sharing does not delay them, and sets that take no longer than a single other stage.
  void name_limit(lower_bound& bound) const {
    // Each division by the number of cores rounds down by less than 1 ns.
    const bool divided = std::any_of(resources_.begin(), resources_.end(),
                                     [](const resource& r) { return r.cores > 1; });
    const auto rounding = divided ? static_cast<nanoseconds>(stages_.size()) : nanoseconds{0};
    nanoseconds most = 0;
    for (const auto& r : resources_) {
      each_set(r, [&](const shared_set& set) {
        if (set.own <= most || set.time() + rounding < bound.time) return;
        auto stages = members(r, set);
        if (set.own <= std::max(longest_path_of(stages), longest_beside(stages))) return;
        most = set.own;
        bound.by = r.what;
        bound.stages = std::move(stages);
      });
    }
  }

  const run_record& record_;
  const std::vector<schedule_step>& steps_;
  std::size_t pass_;
  bool one_launch_;
  std::vector<stage_of_frame> stages_;
  std::vector<std::size_t> order_;  ///< topological order
  std::vector<resource> resources_;
};

}  // namespace

lower_bounds::lower_bounds(const run_record& record) : record_(record) {
  plan planned;
  planned.run = record.run;
  planned.run.window = 0;  // changes no step, and needs kinds of stages
  planned.stages.resize(record.stages.size());
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    planned.stages[s].on = record.stages[s].on;
    for (const auto& wait : record.stages[s].waits) {
      if (wait.stage < s) planned.stages[s].waits.push_back({wait.stage, wait.how, {}});
    }
  }
  steps_ = planning::make_schedule(planned).steps;
}

lower_bound lower_bounds::of(std::size_t pass, schedules of) const {
  return frame_stages(record_, steps_, pass, of).bound();
}

}  // namespace graphline
