#include "framework/run/execute/concurrent_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "framework/base/clock.hpp"
#include "framework/base/thread_number.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/machine_watch.hpp"
#include "framework/run/execute/real_host.hpp"
#include "framework/run/execute/run_policy.hpp"

namespace graphline {
namespace {

/// Frees the unused sample capacity of a run that ended early.
void shrink_samples(run_record& record) {
  record.frames.shrink_to_fit();
  for (auto& stage : record.stages) {
    for (auto* column : {&stage.enqueued, &stage.device, &stage.synced, &stage.cpu}) {
      column->shrink_to_fit();
    }
    stage.busy.shrink_to_fit();
    for (auto& part : stage.parts) {
      part.device.shrink_to_fit();
      part.busy.shrink_to_fit();
    }
  }
}

/// Interval of the measured frames, relative to the common epoch.
struct running_time {
  nanoseconds begin = std::numeric_limits<nanoseconds>::max();
  nanoseconds end = std::numeric_limits<nanoseconds>::min();
};

running_time running_time_of(const run_record& record) {
  if (record.frames.empty()) return {};
  return {record.frames.front().begin, record.frames.back().end};
}

std::int64_t frames_outside(const run_record& record, const running_time& other) {
  return std::ranges::count_if(record.frames, [&](const frame_record& f) {
    return f.end <= other.begin || f.begin >= other.end;
  });
}

bool failed(const run_record& record) {
  return record.failure.has_value();
}

enum class stop_reason {
  foreground,  ///< all foreground runs have completed their frames, or the horizon has passed
  failure,     ///< a run failed
  caller,      ///< the caller's stop request was raised
};

/// Synchronizes concurrent runs, each on a separate thread. The runs begin together and stop when
/// all foreground runs have ended, the horizon has passed, a run fails, or the caller requests it.
class start_barrier {
 public:
  start_barrier(const std::vector<concurrent_run>& runs, std::optional<nanoseconds> horizon)
      : runs_(runs),
        horizon_(horizon),
        stops_(std::make_unique<stop_request[]>(runs.size())),
        phases_(runs.size(), phase::preparing) {}

  // A run calls these functions on its thread.

  /// Returns the stop request that the run polls.
  const stop_request* stop_request_of(std::size_t run) const noexcept { return &stops_[run]; }

  /// Call after the warm-up. Waits until every run has called it or left; returns false if the runs
  /// are stopped.
  bool meet(std::size_t run) { return await(run, phase::warm); }

  /// Call before the first measured frame. Waits like `meet`.
  void begin(std::size_t run) { await(run, phase::ready); }

  /// Call after the last measured frame. Waits until every run has called it or left.
  void end(std::size_t run) {
    std::unique_lock lock(mutex_);
    enter(run, phase::ended);
    changed_.wait(lock, [this] { return all_at_least(phase::ended); });
  }

  /// Removes the run from the group; stops the other runs if it failed.
  void leave(std::size_t run, bool failed) {
    const std::scoped_lock lock(mutex_);
    if (failed) halt(stop_reason::failure);
    enter(run, phase::left);
  }

  /// Call on the thread that started the runs. Waits until all runs have left; returns why they
  /// were stopped. Polls `stop`, which may be null, every 10 ms.
  stop_reason wait_for_all(const stop_request* stop) {
    constexpr auto poll_interval = std::chrono::milliseconds(10);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, poll_interval, [this] { return all_at_least(phase::left); })) {
      if (stop != nullptr && stop->raised()) halt(stop_reason::caller);
    }
    return *reason_;
  }

 private:
  enum class phase { preparing, warm, ready, ended, left };

  bool await(std::size_t run, phase reached) {
    std::unique_lock lock(mutex_);
    enter(run, reached);
    changed_.wait(lock, [&] { return reason_ || all_at_least(reached); });
    return !reason_;
  }

  bool all_at_least(phase s) const noexcept {
    return std::ranges::all_of(phases_, [s](phase found) { return found >= s; });
  }

  void enter(std::size_t run, phase to) {
    phases_[run] = to;
    bool running = false;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      running |= (horizon_ || runs_[i].foreground) && phases_[i] < phase::ended;
    }
    if (!running) halt(stop_reason::foreground);
    // All others wait in `begin`, so none polls its request.
    if (to == phase::ready && horizon_ && !reason_ && all_at_least(to)) {
      const nanoseconds end = now() + *horizon_;
      for (std::size_t i = 0; i < runs_.size(); ++i) stops_[i].raise_at(end);
    }
    changed_.notify_all();
  }

  void halt(stop_reason reason) noexcept {
    if (reason_) return;
    reason_ = reason;
    for (std::size_t i = 0; i < runs_.size(); ++i) stops_[i].raise();
    changed_.notify_all();
  }

  const std::vector<concurrent_run>& runs_;
  std::optional<nanoseconds> horizon_;
  std::unique_ptr<stop_request[]> stops_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<phase> phases_;
  std::optional<stop_reason> reason_;
};

class concurrent_group {
 public:
  concurrent_group(const std::vector<concurrent_run>& runs, const stop_request* stop, sharing share,
                   std::optional<nanoseconds> horizon)
      : runs_(runs),
        stop_(stop),
        one_policy_(share != sharing::none),
        horizon_(horizon),
        barrier_(runs, horizon),
        scheduled_(runs.size()),
        records_(runs.size()),
        thrown_(runs.size()) {
    for (const auto& r : runs) {
      for (device* d : r.session->devices().all()) clocks_.try_emplace(d, *d);
    }
  }

  std::vector<run_record> run() {
    std::vector<std::thread> threads;
    threads.reserve(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      try {
        threads.emplace_back([this, i] { run_one(i); });
      } catch (const std::system_error& e) {
        thrown_[i] = std::make_exception_ptr(
            thread_start_error(fmt::format("cannot start a thread for '{}'", runs_[i].name), e));
        barrier_.leave(i, true);
      } catch (...) {
        thrown_[i] = std::current_exception();
        barrier_.leave(i, true);
      }
    }
    const stop_reason why = barrier_.wait_for_all(stop_);
    for (auto& t : threads) t.join();
    for (const auto& problem : thrown_) {
      if (problem) std::rethrow_exception(problem);
    }
    if (horizon_ && why == stop_reason::foreground) check_horizon();
    mark_stopped_runs(why);
    settle_clocks();
    warn_about_sync();
    if (!horizon_ && why == stop_reason::foreground) warn_about_lone_frames();
    return std::move(records_);
  }

 private:
  void run_one(std::size_t i) noexcept {
    try {
      run_options options;
      options.frames = runs_[i].frames;
      options.warmup = runs_[i].warmup;
      options.rate = runs_[i].rate;
      options.arrival_seed = runs_[i].arrival_seed;
      options.common_epoch = epoch_;
      options.stop = barrier_.stop_request_of(i);
      if (one_policy_) {
        options.join_policy = [this, i](auto expected) { return join(i, std::move(expected)); };
      }
      options.before_frames = [this, i] { barrier_.begin(i); };
      options.after_frames = [this, i] { barrier_.end(i); };
      records_[i] = runs_[i].session->run(options);
    } catch (...) {
      thrown_[i] = std::current_exception();
    }
    barrier_.leave(i, thrown_[i] != nullptr || failed(records_[i]));
  }

  /// Makes the policy once all expected times are known; null if the runs are stopped.
  const pipeline_policy* join(std::size_t run, std::vector<nanoseconds> expected) {
    const plan& p = runs_[run].session->planned();
    scheduled_[run] = {&p, std::move(expected)};
    if (!barrier_.meet(run)) return nullptr;
    std::call_once(policy_made_, [&] { policy_.emplace(p.policy, p.run.seed, scheduled_); });
    return &policy_->of(run);
  }

  void check_horizon() {
    for (run_record& record : records_) {
      const settings& run = record.run;
      const std::size_t left = record.load.unfinished.size();
      if (record.frames.size() + record.load.dropped.size() == 0 && !record.failure) {
        record.failure = "the horizon passed before a frame completed";
      } else if (run.arrival == arrival::closed && !record.interrupted) {
        record.warnings.push_back(
            "reached its limit of frames before the horizon, so the concurrent pipelines ran "
            "without this one at the end");
      } else if (left > static_cast<std::size_t>(run.in_flight * run.batch_frames) &&
                 left * 100 > frames_due(record)) {
        record.warnings.push_back(
            "more than 1 % of the frames due within the horizon were not complete at its end; "
            "times leave them out");
      }
    }
  }

  /// Clears `interrupted` of runs that stopped because other runs ended or failed.
  void mark_stopped_runs(stop_reason why) {
    if (why == stop_reason::caller) return;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      run_record& record = records_[i];
      if (!record.interrupted) continue;
      record.interrupted = false;
      if (why == stop_reason::foreground) {
        record.run.frames = static_cast<std::int64_t>(frames_due(record));
        shrink_samples(record);
        continue;
      }
      const auto cause = std::ranges::find_if(records_, failed);
      const auto& name = runs_[static_cast<std::size_t>(cause - records_.begin())].name;
      record.warnings.push_back(
          fmt::format("stopped after {} frames, because '{}' failed", record.frames.size(), name));
    }
  }

  void settle_clocks() {
    if (std::ranges::none_of(records_, failed)) {
      for (auto& [on, clock] : clocks_) clock.end();
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const device_group& on = runs_[i].session->devices();
      for (std::size_t d = 0; d < on.size(); ++d) {
        clocks_.at(&on[d]).settle(records_[i], epoch_, d);
      }
    }
  }

  void warn_about_sync() {
    for (run_record& record : records_) {
      if (record.run.timing != timing_method::sync) continue;
      record.warnings.push_back(
          "timing: sync waits for the whole device, so stage times contain waits for stages of the "
          "concurrent pipelines; timing: event avoids this");
    }
  }

  /// Ignores up to 1 % of the frames, because runs begin and end a few frames apart.
  void warn_about_lone_frames() {
    if (std::ranges::any_of(records_, failed)) return;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!runs_[i].foreground) continue;
      const auto all = static_cast<std::int64_t>(records_[i].frames.size());
      for (std::size_t other = 0; other < runs_.size(); ++other) {
        if (other == i) continue;
        const auto alone = frames_outside(records_[i], running_time_of(records_[other]));
        if (alone * 100 <= all) continue;
        records_[i].warnings.push_back(fmt::format(
            "more than 1 % of the frames did not overlap '{}', whose frames began later "
            "or ended earlier than those of this pipeline",
            runs_[other].name));
      }
    }
  }

  const std::vector<concurrent_run>& runs_;
  const stop_request* stop_;
  bool one_policy_;
  std::optional<nanoseconds> horizon_;
  start_barrier barrier_;
  std::vector<scheduled_pipeline> scheduled_;  ///< by run; written by the run's thread
  std::once_flag policy_made_;
  std::optional<run_policy> policy_;
  std::vector<run_record> records_;         ///< by run; written by the run's thread
  std::vector<std::exception_ptr> thrown_;  ///< by run; written by the run's thread
  std::map<device*, clock_watch> clocks_;
  const nanoseconds epoch_ = now();
};

}  // namespace

std::vector<run_record> run_at_once(const std::vector<concurrent_run>& runs,
                                    const stop_request* stop, sharing share,
                                    std::optional<nanoseconds> horizon) {
  return concurrent_group(runs, stop, share, horizon).run();
}

pipeline_sharing::pipeline_sharing(sharing share, const std::vector<plan>& plans,
                                   const device_group& on) {
  const auto resources = std::make_shared<ready_resources<real_host>>(plans.front().run.window,
                                                                      plans.front().devices.size());
  std::vector<const plan*> all;
  for (const plan& p : plans) all.push_back(&p);
  if (share != sharing::device) resources->workers.start(on, all);
  for (std::uint16_t i = 0; i < plans.size(); ++i) {
    parts_.push_back({share != sharing::device ? resources : nullptr,
                      share != sharing::cpu ? resources : nullptr, i});
  }
}

pipeline_sharing::~pipeline_sharing() = default;

const shared_resources<real_host>& pipeline_sharing::of(std::size_t pipeline) const {
  return parts_[pipeline];
}

namespace {

/// Returns the mean time between frame begins, in nanoseconds; empty without frames. One frame
/// suffices here; the frame period in reports needs more.
std::optional<double> rough_period(const run_record& record) {
  if (record.frames.empty()) return std::nullopt;
  const frame_record& first = record.frames.front();
  const frame_record& last = record.frames.back();
  if (record.frames.size() == 1) return static_cast<double>(last.end - first.begin);
  return static_cast<double>(last.begin - first.begin) /
         static_cast<double>(record.frames.size() - 1);
}

}  // namespace

void frame_allowance::give(std::size_t configuration, std::vector<concurrent_run>& runs,
                           std::optional<nanoseconds> horizon) {
  constexpr nanoseconds short_frame = 1'000;
  const std::int64_t at_first =
      std::clamp<std::int64_t>(horizon.value_or(0) / short_frame, 4096, most_frames);
  known_trial& known = known_[configuration];
  known.periods.resize(runs.size());
  const double length = horizon ? static_cast<double>(*horizon) : known.length;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    concurrent_run& run = runs[i];
    const plan& p = run.session->planned();
    if (p.run.arrival == arrival::closed ? horizon || !run.foreground : !run.foreground) {
      run.frames = at_first;
      if (!known.periods[i]) continue;
      // Allows three times the estimated number, because frame times vary.
      const double frames = 3 * length / std::max(*known.periods[i], 1.0) + 16;
      run.frames = static_cast<std::int64_t>(std::min(frames, static_cast<double>(most_frames)));
    } else if (horizon) {
      const auto seed = run.arrival_seed.value_or(p.run.seed);
      const auto due = frames_due_before(*horizon, p, run.rate, seed, most_frames);
      run.frames = std::max<std::int64_t>(1, due);
    }
  }
}

void frame_allowance::learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
                            const std::vector<run_record>& records) {
  known_trial& known = known_[configuration];
  known.length = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto period = rough_period(records[i]);
    if (period) known.periods[i] = period;
    if (!runs[i].foreground) continue;
    const auto frames = static_cast<double>(runs[i].session->planned().run.frames);
    known.length = std::max(known.length, frames * period.value_or(0));
  }
}

}  // namespace graphline
