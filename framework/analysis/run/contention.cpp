#include "framework/analysis/run/contention.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/ready_times.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {

namespace {

/// An execution of a stage, which holds a worker or a place in the window.
struct execution {
  std::size_t run = 0;
  std::size_t stage = 0;
  std::size_t pass = 0;
  nanoseconds ready = 0;
  nanoseconds taken = 0;  ///< by a worker or into the window
  nanoseconds begin = 0;  ///< of its work
  nanoseconds end = 0;    ///< of its work
  nanoseconds free = 0;   ///< when the worker or the place in the window is free again
  nanoseconds rank = 0;   ///< lower goes first
};

/// Finds the waits of one trial for workers or for the windows of a device.
class contention_search {
 public:
  contention_search(const std::vector<const run_record*>& runs, side on, bool shared, bool by_stage)
      : runs_(runs), on_(on), shared_(shared), by_stage_(by_stage) {
    for (const run_record* run : runs) {
      if (run->policy) kept_ = std::max(kept_, run->policy->order);
      most_ = std::max(most_, places_of(*run));
      longest_.emplace_back(run->stages.size(), 0);
      passes_.emplace_back(*run);
    }
    for (std::size_t r = 0; r < runs.size(); ++r) add_executions(r);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      auto& bounds = bounds_.emplace_back();
      for (std::size_t s = 0; s < runs[r]->stages.size(); ++s) bounds.push_back(bound_of(r, s));
    }
    std::ranges::sort(executions_, {}, &execution::taken);
    for (const execution& one : executions_) {
      free_.push_back(std::max(free_.empty() ? one.free : free_.back(), one.free));
    }
  }

  /// Adds the waits to those of earlier trials. `to` has one entry for each pipeline or stage.
  void add_to(std::vector<contention>& to) {
    held_.resize(to.size());
    std::vector<const execution*> waiting;
    for (const execution& one : executions_) waiting.push_back(&one);
    const auto key = [&](const execution* of) { return std::pair(party_of(*of), of->pass); };
    std::ranges::sort(waiting, {}, key);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      contention& waits = to[party_of(*waiting[i])];
      add_wait(*waiting[i], waits);
      if (i + 1 == waiting.size() || key(waiting[i]) != key(waiting[i + 1])) end_pass(waits);
    }
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      for (std::size_t s = 0; s < runs_[r]->stages.size(); ++s) {
        if (!by_stage_ && s > 0) break;
        contention& waits = to[by_stage_ ? s : r];
        waits.frames += by_stage_ ? frames_of(runs_[r]->stages[s], r) : passes_[r].size();
      }
    }
  }

 private:
  /// Returns the number of workers, or the size of the window; 0 if waits are unknown.
  double places_of(const run_record& record) const {
    if (!has_workers(record.run)) return 0;
    if (on_ == side::device) return static_cast<double>(record.run.window);
    return static_cast<double>(record.run.workers > 0 ? record.run.workers : record.cpu_cores);
  }

  std::size_t party_of(const execution& of) const { return by_stage_ ? of.stage : of.run; }

  std::size_t frames_of(const stage_record& stage, std::size_t run) const {
    std::size_t count = 0;
    for (std::size_t pass = 0; pass < passes_[run].size(); ++pass) count += ran(stage, pass);
    return count;
  }

  void add_executions(std::size_t r) {
    const run_record& record = *runs_[r];
    if (places_of(record) <= 0) return;
    for (std::size_t s = 0; s < record.stages.size(); ++s) {
      const stage_record& stage = record.stages[s];
      if (stage.on != on_ || stage.copy) continue;
      for (std::size_t pass = 0; pass < passes_[r].size(); ++pass) {
        const auto work = work_stamps(stage, pass);
        if (!work) continue;
        execution made{r, s, pass, work->begin, work->begin, work->begin, work->end, work->end, 0};
        for (const auto* column : {&stage.enqueued, &stage.synced}) {
          if (const auto launch = sound_stamps(*column, pass)) {
            made.taken = std::min(made.begin, launch->begin);
          }
        }
        if (pass < stage.seen.size()) {
          made.free = std::max(made.end, sound_time(stage.seen[pass]));
        }
        if (const auto ready = ready_time(record, passes_[r], s, pass)) {
          made.ready = std::min(made.taken, sound_time(*ready));
        }
        made.rank = rank_of(record, stage, passes_[r][pass].due);
        executions_.push_back(made);
        longest_[r][s] = std::max(longest_[r][s], work->length());
      }
    }
  }

  nanoseconds rank_of(const run_record& record, const stage_record& stage, nanoseconds due) const {
    if (kept_ != urgency::deadline) return -stage.level;
    constexpr nanoseconds never = nanoseconds{1} << 61;
    const auto deadline = stage.deadline ? stage.deadline : record.run.deadline;
    return deadline ? sound_time(due) + sound_time(*deadline) : never;
  }

  /// Returns true if two stages compete: for workers, or for the window of one device. Pipelines
  /// that share a device declare the same devices.
  bool compete(std::size_t run, std::size_t stage, std::size_t other_run, std::size_t other) const {
    if (!shared_ && other_run != run) return false;
    return on_ == side::cpu ||
           runs_[run]->stages[stage].device_index == runs_[other_run]->stages[other].device_index;
  }

  /// Returns the bound of a stage's wait behind lower ranks; empty if no other stage can have one.
  std::optional<nanoseconds> bound_of(std::size_t run, std::size_t of) const {
    std::optional<nanoseconds> longest;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      for (std::size_t s = 0; s < runs_[r]->stages.size(); ++s) {
        if ((r == run && s == of) || longest_[r][s] == 0) continue;
        if (!compete(run, of, r, s)) continue;
        const bool lower =
            kept_ == urgency::deadline || runs_[r]->stages[s].level < runs_[run]->stages[of].level;
        if (lower) longest = std::max(longest.value_or(0), longest_[r][s]);
      }
    }
    if (places_of(*runs_[run]) <= 0) return std::nullopt;
    if (longest && on_ == side::device) {
      const std::int64_t window = runs_[run]->run.window;
      *longest = std::min(*longest, (nanoseconds{1} << 60) / window) * window;
    }
    return longest;
  }

  /// Returns true if `low` started although `high` was ready. Host stamps precede the entry in the
  /// queue by microseconds, or more if the system interrupts the thread, so a stage that starts
  /// shortly afterwards counts as started before, unless its worker had itself made `high` ready.
  bool is_inversion(const execution& low, const execution& high) const {
    constexpr nanoseconds real_delay = 50'000;
    const run_record& run = *runs_[high.run];
    if (low.taken < high.ready) return false;
    if (low.taken > high.ready + (run.epoch ? real_delay : 0)) return true;
    const auto& causes = run.stages[high.stage].causes;
    const auto by = high.pass < causes.size() ? causes[high.pass] : cause::frame_begun;
    if (by < 0 || run.stages[static_cast<std::size_t>(by)].on == side::device) return false;
    const auto worker = thread_of(run, static_cast<std::size_t>(by), high.pass);
    return worker && worker == thread_of(*runs_[low.run], low.stage, low.pass);
  }

  static std::optional<std::string> thread_of(const run_record& run, std::size_t stage,
                                              std::size_t pass) {
    const auto& threads = run.stages[stage].threads;
    if (pass >= threads.size() || threads[pass] >= run.threads.size()) return std::nullopt;
    return run.threads[threads[pass]];
  }

  void add_wait(const execution& high, contention& waits) {
    const auto bound = bounds_[high.run][high.stage];
    if (bound && !waits.behind) waits.behind.emplace(lower_rank_waits{kept_});
    if (bound) waits.behind->bound = std::max(waits.behind->bound, *bound);
    if (high.begin <= high.ready) return;
    wait_ += static_cast<double>(high.begin - high.ready);
    const double places = shared_ ? most_ : places_of(*runs_[high.run]);
    std::vector<stamp_pair> blocking;
    std::vector<stamp_pair> inverted;
    const auto during_wait = [&](nanoseconds from, nanoseconds to) {
      return stamp_pair{std::max(from, high.ready), std::min(to, high.begin)};
    };
    const auto look_at = [&](const execution& other) {
      const stamp_pair held = during_wait(other.taken, other.free);
      if (&other == &high || held.length() <= 0) return;
      if (!compete(high.run, high.stage, other.run, other.stage)) return;
      held_[party_of(other)] += static_cast<double>(held.length()) / places;
      const stamp_pair work = during_wait(other.begin, other.end);
      if (other.rank <= high.rank || work.length() <= 0) return;
      (is_inversion(other, high) ? inverted : blocking).push_back(work);
    };
    const auto next = std::ranges::lower_bound(executions_, high.begin, {}, &execution::taken);
    for (auto at = next - executions_.begin(); at > 0 && free_[at - 1U] > high.ready; --at) {
      look_at(executions_[static_cast<std::size_t>(at) - 1]);
    }
    if (!waits.behind) return;
    lower_rank_waits& behind = *waits.behind;
    behind.blocked += blocking.empty() ? 0 : 1;
    behind.inversions += inverted.empty() ? 0 : 1;
    behind.longest_blocked = std::max(behind.longest_blocked, covered(blocking));
    behind.longest_inversion = std::max(behind.longest_inversion, covered(inverted));
    if (inverted.empty()) return;
    inverted.insert(inverted.end(), blocking.begin(), blocking.end());
    behind.longest = std::max(behind.longest, covered(std::move(inverted)));
  }

  static nanoseconds covered(std::vector<stamp_pair> spans) {
    nanoseconds sum = 0;
    for (const stamp_pair& span : merged(std::move(spans))) sum += span.length();
    return sum;
  }

  /// Adds the waits of a party in a pass.
  void end_pass(contention& to) {
    const auto add = [](frame_time& into, double& time) {
      into.sum += time;
      into.longest = std::max(into.longest, time);
      time = 0;
    };
    add(to.wait, wait_);
    for (std::size_t i = 0; i < held_.size(); ++i) add(to.held_by[i], held_[i]);
  }

  const std::vector<const run_record*>& runs_;
  side on_;
  bool shared_;
  bool by_stage_;
  urgency kept_ = urgency::none;
  double most_ = 0;  ///< places of the run that has the most
  std::vector<run_passes> passes_;
  std::vector<std::vector<nanoseconds>> longest_;                ///< operation, by run and stage
  std::vector<std::vector<std::optional<nanoseconds>>> bounds_;  ///< by run and stage
  std::vector<execution> executions_;                            ///< in the order of `taken`
  std::vector<nanoseconds> free_;                                ///< largest `free` up to here
  double wait_ = 0;           ///< of the current party in the current pass
  std::vector<double> held_;  ///< likewise, by who held the workers
};

/// @param names Of the pipelines or stages.
std::vector<contention> search(const std::vector<std::vector<const run_record*>>& trials,
                               sharing share, bool by_stage,
                               const std::vector<std::string>& names) {
  std::vector<contention> all;
  for (const side on : {side::cpu, side::device}) {
    std::vector<contention> waits;
    for (const std::string& name : names) {
      waits.push_back({name, on, 0, {}, std::vector<frame_time>(names.size())});
    }
    const auto shared_one = on == side::cpu ? sharing::cpu : sharing::device;
    const bool shared = share == sharing::both || share == shared_one;
    for (const auto& runs : trials) contention_search(runs, on, shared, by_stage).add_to(waits);
    std::ranges::move(waits, std::back_inserter(all));
  }
  std::erase_if(all, [](const contention& of) { return of.wait.sum == 0 && !of.behind; });
  return all;
}

}  // namespace

std::vector<contention> contention_of(const std::vector<std::vector<const run_record*>>& trials,
                                      sharing share, const std::vector<std::string>& names) {
  return search(trials, share, false, names);
}

std::vector<contention> contention_of(const run_record& run) {
  const auto other_level = [&](const stage_record& stage) {
    return stage.level != run.stages.front().level;
  };
  const bool ranked = run.run.policy != settings{}.policy;
  if (!ranked && std::ranges::none_of(run.stages, other_level)) return {};
  std::vector<std::string> names;
  for (const stage_record& stage : run.stages) names.push_back(stage.name);
  return search({{&run}}, sharing::none, true, names);
}

std::optional<finding> inversion_finding(std::span<const contention> waits) {
  finding made{"priority_inversions"};
  std::size_t times = 0;
  const lower_rank_waits* longest = nullptr;
  for (const contention& of : waits) {
    if (!of.behind || of.behind->inversions == 0) continue;
    times += of.behind->inversions;
    made.subjects.push_back(of.name);
    const auto& behind = *of.behind;
    if (longest == nullptr || behind.longest > longest->longest) longest = &behind;
  }
  if (longest == nullptr) return std::nullopt;
  if (longest->kept != urgency::none) made.how = finding_severity::warning;
  made.with("order", longest->kept == urgency::deadline ? "a later deadline" : "lower priority");
  made.with("times", times);
  made.with("longest", static_cast<double>(longest->longest), unit::duration);
  if (longest->longest > longest->bound) {
    made.with("bound", static_cast<double>(longest->bound), unit::duration);
  }
  return made;
}

}  // namespace graphline
