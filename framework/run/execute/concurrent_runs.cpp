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
#include "framework/run/execute/machine_watch.hpp"

namespace graphline {
namespace {

/// A run that ended with the others had room for many more samples than came.
void give_back_room(run_record& record) {
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

/// From the first measured frame to the last, since the epoch of all.
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

/// Why runs that go on at once were told to stop.
enum class stop_reason {
  foreground,  ///< the foreground runs have done their frames
  failure,     ///< one of them failed
  person,      ///< the stop request of the whole was raised
};

/// Keeps runs together that go on at once, each in a thread of its own: they begin together, end
/// when the foreground ones have ended, and none goes on where another fails or a person stops
/// them. Nobody waits for a run that has left.
class start_barrier {
 public:
  explicit start_barrier(const std::vector<concurrent_run>& runs)
      : runs_(runs),
        stops_(std::make_unique<stop_request[]>(runs.size())),
        standings_(runs.size(), standing::preparing) {}

  // Of a run, from its thread.

  /// To be polled by it.
  const stop_request* stop_of(std::size_t run) const noexcept { return &stops_[run]; }

  /// Before its first measured frame: returns when all are as far, or have been told to stop.
  void begin(std::size_t run) {
    std::unique_lock lock(mutex_);
    move(run, standing::ready);
    changed_.wait(lock, [this] { return why_ || all_at_least(standing::ready); });
  }

  /// After its last one: returns when all have ended theirs or left.
  void end(std::size_t run) {
    std::unique_lock lock(mutex_);
    move(run, standing::ended);
    changed_.wait(lock, [this] { return all_at_least(standing::ended); });
  }

  /// It is over, well or not, and takes no further part.
  void leave(std::size_t run, bool failed) {
    const std::scoped_lock lock(mutex_);
    if (failed) halt(stop_reason::failure);
    move(run, standing::left);
  }

  /// From the thread that began them: returns when all have left, the first reason why they were
  /// told to stop. Hands `stop`, which may be null, on to the runs within milliseconds.
  stop_reason see_through(const stop_request* stop) {
    constexpr auto look_every = std::chrono::milliseconds(10);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, look_every, [this] { return all_at_least(standing::left); })) {
      if (stop != nullptr && stop->raised()) halt(stop_reason::person);
    }
    return *why_;
  }

 private:
  enum class standing { preparing, ready, ended, left };

  bool all_at_least(standing s) const noexcept {
    return std::ranges::all_of(standings_, [s](standing found) { return found >= s; });
  }

  void move(std::size_t run, standing to) {
    standings_[run] = to;
    bool running = false;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      running |= runs_[i].foreground && standings_[i] < standing::ended;
    }
    if (!running) halt(stop_reason::foreground);
    changed_.notify_all();
  }

  void halt(stop_reason reason) noexcept {
    if (why_) return;
    why_ = reason;
    for (std::size_t i = 0; i < runs_.size(); ++i) stops_[i].raise();
    changed_.notify_all();
  }

  const std::vector<concurrent_run>& runs_;
  std::unique_ptr<stop_request[]> stops_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<standing> standings_;
  std::optional<stop_reason> why_;
};

class concurrent_group {
 public:
  concurrent_group(const std::vector<concurrent_run>& runs, const stop_request* stop)
      : runs_(runs), stop_(stop), barrier_(runs), records_(runs.size()), thrown_(runs.size()) {
    for (const auto& r : runs) clocks_.try_emplace(&r.session->device(), r.session->device());
  }

  std::vector<run_record> run() {
    std::vector<std::thread> threads;
    threads.reserve(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      try {
        threads.emplace_back([this, i] { run_one(i); });
      } catch (const std::system_error& e) {
        thrown_[i] = std::make_exception_ptr(thread_start_error(
            fmt::format("'{}' could not be given a thread to run in", runs_[i].name), e));
        barrier_.leave(i, true);
      } catch (...) {
        thrown_[i] = std::current_exception();
        barrier_.leave(i, true);
      }
    }
    const stop_reason why = barrier_.see_through(stop_);
    for (auto& t : threads) t.join();
    for (const auto& problem : thrown_) {
      if (problem) std::rethrow_exception(problem);
    }
    tell_why_stopped(why);
    settle_clocks();
    warn_of_waits();
    if (why == stop_reason::foreground) warn_of_frames_without_others();
    return std::move(records_);
  }

 private:
  void run_one(std::size_t i) noexcept {
    try {
      run_options options;
      options.frames = runs_[i].frames;
      options.warmup = runs_[i].warmup;
      options.arrival_seed = runs_[i].arrival_seed;
      options.common_epoch = epoch_;
      options.stop = barrier_.stop_of(i);
      options.before_frames = [this, i] { barrier_.begin(i); };
      options.after_frames = [this, i] { barrier_.end(i); };
      records_[i] = runs_[i].session->run(options);
    } catch (...) {
      thrown_[i] = std::current_exception();
    }
    barrier_.leave(i, thrown_[i] != nullptr || failed(records_[i]));
  }

  /// A stop that came from the others is no interruption by a person.
  void tell_why_stopped(stop_reason why) {
    if (why == stop_reason::person) return;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      run_record& record = records_[i];
      if (!record.interrupted) continue;
      record.interrupted = false;
      if (why == stop_reason::foreground) {
        record.run.frames = static_cast<std::int64_t>(frames_due(record));
        give_back_room(record);
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
      clocks_.at(&runs_[i].session->device()).settle(records_[i], epoch_);
    }
  }

  void warn_of_waits() {
    for (run_record& record : records_) {
      if (record.run.timing != timing_method::sync) continue;
      record.warnings.push_back(
          "timing: sync waits for the whole device, and so for the stages of pipelines beside this "
          "one: stage times hold these waits; timing: event has no part in them");
    }
  }

  /// A few frames at either end are a matter of when threads wake up.
  void warn_of_frames_without_others() {
    if (std::ranges::any_of(records_, failed)) return;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!runs_[i].foreground) continue;
      const auto all = static_cast<std::int64_t>(records_[i].frames.size());
      for (std::size_t other = 0; other < runs_.size(); ++other) {
        if (other == i) continue;
        const auto alone = frames_outside(records_[i], running_time_of(records_[other]));
        if (alone * 100 <= all) continue;
        records_[i].warnings.push_back(
            fmt::format("more than 1 % of the frames ran without '{}' beside them: its frames "
                        "began later or ended earlier than those of this pipeline",
                        runs_[other].name));
      }
    }
  }

  const std::vector<concurrent_run>& runs_;
  const stop_request* stop_;
  start_barrier barrier_;
  std::vector<run_record> records_;         ///< each written by its own thread
  std::vector<std::exception_ptr> thrown_;  ///< likewise
  std::map<device*, clock_watch> clocks_;
  const nanoseconds epoch_ = now();
};

}  // namespace

std::vector<run_record> run_at_once(const std::vector<concurrent_run>& runs,
                                    const stop_request* stop) {
  return concurrent_group(runs, stop).run();
}

namespace {

/// Nanoseconds from one frame's begin to the next; nothing without a frame. Rougher than the frame
/// period of reports, and known of the few frames too from which that says nothing.
std::optional<double> rough_period(const run_record& record) {
  if (record.frames.empty()) return std::nullopt;
  const frame_record& first = record.frames.front();
  const frame_record& last = record.frames.back();
  if (record.frames.size() == 1) return static_cast<double>(last.end - first.begin);
  return static_cast<double>(last.begin - first.begin) /
         static_cast<double>(record.frames.size() - 1);
}

}  // namespace

void frame_allowance::give(std::size_t configuration, std::vector<concurrent_run>& runs) {
  constexpr std::int64_t at_first = 4096;
  auto& enough = enough_[configuration];
  enough.resize(runs.size(), at_first);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].foreground) runs[i].frames = enough[i];
  }
}

void frame_allowance::learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
                            const std::vector<run_record>& records) {
  double length = 0;  // of a whole trial
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].foreground) continue;
    const auto frames = static_cast<double>(runs[i].session->planned().run.frames);
    length = std::max(length, frames * rough_period(records[i]).value_or(0));
  }
  // Three times as many as it took, for what may come in between.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto period = rough_period(records[i]);
    if (!period) continue;
    const double frames = 3 * length / std::max(*period, 1.0) + 16;
    enough_[configuration][i] =
        static_cast<std::int64_t>(std::min(frames, static_cast<double>(most_frames)));
  }
}

}  // namespace graphline
