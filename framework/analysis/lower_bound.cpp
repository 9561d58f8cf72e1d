#include "framework/analysis/lower_bound.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "framework/analysis/frame_activities.hpp"

namespace graphline {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A stage as its resource sees it.
struct job {
  std::size_t stage = 0;
  nanoseconds ready = 0;  ///< at the earliest
  nanoseconds work = 0;
  nanoseconds after = 0;  ///< what follows it at least
};

/// Which stages come before which: one bit each.
class reachability {
 public:
  explicit reachability(std::size_t stages)
      : words_((stages + 63) / 64), bits_(stages * words_, 0) {}

  /// `earlier`, and all that comes before it, comes before `later`.
  void add(std::size_t earlier, std::size_t later) {
    for (std::size_t w = 0; w < words_; ++w)
      bits_[later * words_ + w] |= bits_[earlier * words_ + w];
    bits_[later * words_ + earlier / 64] |= std::uint64_t{1} << (earlier % 64);
  }
  bool comes_before(std::size_t earlier, std::size_t later) const {
    return (bits_[later * words_ + earlier / 64] >> (earlier % 64) & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// When `cores` can be through with all jobs, none of which can be split: with the k * cores + 1
/// longest of them, one core has k + 1.
nanoseconds without_splitting(std::vector<nanoseconds> work, std::size_t cores) {
  std::sort(work.begin(), work.end(), std::greater());
  nanoseconds most = 0;
  for (std::size_t last = cores; last < work.size(); last += cores) {
    nanoseconds sum = 0;
    for (std::size_t i = 0; i <= last / cores; ++i) sum += work[last - i];
    most = std::max(most, sum);
  }
  return most;
}

/// The earliest moment at which all jobs can be done, by their ready times.
nanoseconds all_done(std::vector<job>& jobs, std::size_t cores) {
  std::sort(jobs.begin(), jobs.end(), [](const job& a, const job& b) { return a.ready > b.ready; });
  nanoseconds latest = 0;
  nanoseconds sum = 0;
  std::vector<nanoseconds> work;
  for (const job& j : jobs) {
    sum += j.work;
    work.push_back(j.work);
    latest = std::max(latest, j.ready + sum / static_cast<nanoseconds>(cores));
  }
  if (cores > 1 && !jobs.empty()) {
    latest = std::max(latest, jobs.back().ready + without_splitting(std::move(work), cores));
  }
  return latest;
}

/// The stages of one frame, with their times and the order that is given.
class frame_stages {
 public:
  frame_stages(const run_record& record, std::size_t frame, schedules of)
      : record_(record), stages_(record.stages.size()), before_(record.stages.size()) {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      constexpr nanoseconds longest = nanoseconds{1} << 50;  // 13 days: of many a sum is one too
      auto stamps = work_stamps(record.stages[s], frame).value_or(stamp_pair{});
      stamps.begin = std::max(stamps.begin, stamps.end - longest);
      stages_[s].stamps = stamps;
    }
    order_ = of == schedules::this_one ? order_of_streams() : as_planned();
    follow_edges();
    if (of == schedules::this_one) follow_schedule();
    add_resources(of);
  }

  lower_bound bound() {
    find_ready_times();
    find_what_follows();
    lower_bound result = critical_path();
    for (const auto& r : resources_) share(r, result);
    for (const auto& stage : stages_) {
      result.time = std::max(result.time, stage.ready + stage.work() + stage.after);
    }
    return result;
  }

 private:
  struct stage_of_frame {
    stamp_pair stamps;
    nanoseconds ready = 0;
    nanoseconds after = 0;
    std::vector<std::size_t> earlier;
    nanoseconds work() const noexcept { return stamps.length(); }
  };
  struct resource {
    limited_by what = limited_by::device;
    std::size_t cores = 1;
    std::vector<std::size_t> stages;
  };

  std::vector<std::size_t> as_planned() const {
    std::vector<std::size_t> result(stages_.size());
    for (std::size_t s = 0; s < result.size(); ++s) result[s] = s;
    return result;
  }

  /// The order in which streams had their stages. Under `overlap` that is the one in which these
  /// became ready, as far as no stage comes before one that it waits for.
  std::vector<std::size_t> order_of_streams() const {
    auto planned = as_planned();
    if (record_.run.strategy != strategy::overlap || record_.run.graphs == graph_mode::frame) {
      return planned;
    }
    std::stable_sort(planned.begin(), planned.end(), [this](std::size_t a, std::size_t b) {
      return stages_[a].stamps.begin < stages_[b].stamps.begin;
    });
    std::vector<std::size_t> result;
    std::vector<bool> placed(planned.size(), false);
    std::vector<std::size_t> open;
    for (const std::size_t first : planned) {
      open.push_back(first);
      while (!open.empty()) {
        const std::size_t s = open.back();
        const auto& waits = record_.stages[s].waits;
        const auto missing = std::find_if(waits.begin(), waits.end(), [&](const wait_record& wait) {
          return wait.stage < s && !placed[wait.stage];
        });
        if (!placed[s] && missing != waits.end()) {
          open.push_back(missing->stage);
          continue;
        }
        if (!placed[s]) result.push_back(s);
        placed[s] = true;
        open.pop_back();
      }
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

  /// Stages of a stream in turn. One host thread launches a device stage after what it did last,
  /// and is held up by CPU stages; under `serial` by device stages too.
  void follow_schedule() {
    const bool one_thread =
        record_.run.graphs != graph_mode::frame && record_.run.strategy != strategy::overlap;
    std::vector<std::pair<std::string_view, std::size_t>> streams;  // the last stage of each yet
    std::size_t host = none;  // what the host thread was held up by last
    for (const std::size_t s : order_) {
      const auto& stage = record_.stages[s];
      const bool on_device = stage.on == side::device;
      if (on_device) {
        const auto known = std::find_if(streams.begin(), streams.end(),
                                        [&](const auto& of) { return of.first == stage.stream; });
        if (known == streams.end()) {
          streams.emplace_back(stage.stream, s);
        } else {
          add_edge(std::exchange(known->second, s), s);
        }
      }
      if (!one_thread) continue;
      if (host != none) add_edge(host, s);
      if (!on_device || record_.run.strategy == strategy::serial) host = s;
    }
  }

  void add_resources(schedules of) {
    // Host nodes of a graph are called one at a time.
    const bool one_call = of == schedules::this_one && record_.run.graphs == graph_mode::frame;
    const int cores = one_call ? 1 : record_.cpu_cores;
    resource cpu{limited_by::cpu_cores, static_cast<std::size_t>(std::max(cores, 1)), {}};
    resource device{limited_by::device, 1, {}};
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      (record_.stages[s].on == side::cpu ? cpu : device).stages.push_back(s);
    }
    if (cores > 0) resources_.push_back(std::move(cpu));
    // Spans between events may cross, where one stage waits for the other.
    const bool apart = record_.device.tells_busy_time || record_.run.timing == timing_method::sync;
    if (record_.device.one_at_a_time && apart) resources_.push_back(std::move(device));
  }

  void find_ready_times() {
    for (const std::size_t s : order_) {
      auto& stage = stages_[s];
      for (const std::size_t earlier : stage.earlier) {
        before_.add(earlier, s);
        stage.ready = std::max(stage.ready, stages_[earlier].ready + stages_[earlier].work());
      }
      for (const auto& r : resources_) {
        std::vector<job> jobs;
        for (const std::size_t e : r.stages) {
          if (before_.comes_before(e, s)) jobs.push_back({e, stages_[e].ready, stages_[e].work()});
        }
        stage.ready = std::max(stage.ready, all_done(jobs, r.cores));
      }
    }
  }

  /// The same from the end of the frame backwards.
  void find_what_follows() {
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      auto& stage = stages_[*at];
      for (const auto& r : resources_) {
        std::vector<job> jobs;
        for (const std::size_t l : r.stages) {
          if (before_.comes_before(*at, l))
            jobs.push_back({l, stages_[l].after, stages_[l].work()});
        }
        stage.after = std::max(stage.after, all_done(jobs, r.cores));
      }
      for (const std::size_t earlier : stage.earlier) {
        auto& before = stages_[earlier];
        before.after = std::max(before.after, stage.work() + stage.after);
      }
    }
  }

  /// By edges alone.
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

  /// Raises the bound to what sharing a resource takes.
  void share(const resource& r, lower_bound& bound) const {
    std::vector<job> jobs;
    std::vector<nanoseconds> work;
    for (const std::size_t s : r.stages) {
      jobs.push_back({s, stages_[s].ready, stages_[s].work(), stages_[s].after});
      work.push_back(stages_[s].work());
    }
    if (jobs.empty()) return;
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const job& a, const job& b) { return a.after > b.after; });
    nanoseconds most = 0;
    job set;
    for (const job& first : jobs) {
      nanoseconds sum = 0;
      for (const job& j : jobs) {
        if (j.ready < first.ready) continue;
        sum += j.work;
        const nanoseconds time = first.ready + sum / static_cast<nanoseconds>(r.cores) + j.after;
        if (time <= most) continue;
        most = time;
        set = {0, first.ready, sum, j.after};
      }
    }
    const auto least = std::min_element(
        jobs.begin(), jobs.end(), [](const job& a, const job& b) { return a.ready < b.ready; });
    const nanoseconds whole =
        least->ready + without_splitting(std::move(work), r.cores) + jobs.back().after;
    if (whole > most) {
      most = whole;
      set = {0, least->ready, 0, jobs.back().after};
    }
    if (most <= bound.time) return;
    bound = {most, r.what, {}};
    for (const std::size_t s : r.stages) {
      if (stages_[s].ready >= set.ready && stages_[s].after >= set.after) bound.stages.push_back(s);
    }
  }

  const run_record& record_;
  std::vector<stage_of_frame> stages_;
  reachability before_;
  std::vector<std::size_t> order_;  ///< in which no stage comes before one that it follows
  std::vector<resource> resources_;
};

}  // namespace

lower_bound lower_bound_of(const run_record& record, std::size_t frame, schedules of) {
  return frame_stages(record, frame, of).bound();
}

}  // namespace graphline
