#include "framework/run/execute/concurrent_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
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

bool has_device_stages(const run_record& record) {
  return std::ranges::any_of(record.stages,
                             [](const auto& stage) { return stage.on == side::device; });
}

class concurrent_group {
 public:
  concurrent_group(const std::vector<concurrent_run>& runs, const stop_request* stop)
      : runs_(runs),
        stop_(stop),
        barrier_(foreground_of(runs)),
        records_(runs.size()),
        thrown_(runs.size()) {
    for (const auto& r : runs) clocks_.try_emplace(&r.session->device(), r.session->device());
  }

  std::vector<run_record> run() {
    std::vector<std::thread> threads;
    threads.reserve(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      try {
        threads.emplace_back([this, i] { run_one(i); });
      } catch (const std::system_error& e) {
        thrown_[i] = std::make_exception_ptr(
            no_thread(fmt::format("'{}' could not be given a thread to run in", runs_[i].name), e));
        barrier_.leave(i, true);
      } catch (...) {
        thrown_[i] = std::current_exception();
        barrier_.leave(i, true);
      }
    }
    barrier_.see_through(stop_);
    for (auto& t : threads) t.join();
    for (const auto& problem : thrown_) {
      if (problem) std::rethrow_exception(problem);
    }
    tell_why_stopped();
    settle_clocks();
    warn_of_waits();
    warn_of_frames_without_others();
    return std::move(records_);
  }

 private:
  static std::vector<bool> foreground_of(const std::vector<concurrent_run>& runs) {
    std::vector<bool> foreground;
    for (const auto& r : runs) foreground.push_back(r.foreground);
    return foreground;
  }

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
  void tell_why_stopped() {
    const auto why = barrier_.why();
    if (why == stop_reason::person) return;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      run_record& record = records_[i];
      if (!record.interrupted) continue;
      record.interrupted = false;
      if (why == stop_reason::foreground) {
        record.run.frames = static_cast<std::int64_t>(record.frames.size());
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
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (records_[i].run.timing != timing_method::sync) continue;
      for (std::size_t other = 0; other < runs_.size(); ++other) {
        const bool shared =
            other != i && &runs_[i].session->device() == &runs_[other].session->device();
        if (!shared || !has_device_stages(records_[other])) continue;
        records_[i].warnings.push_back(fmt::format(
            "timing: sync waits for the whole device, and so for the stages of '{}' too: stage "
            "times hold these waits; timing: event has no part in them",
            runs_[other].name));
      }
    }
  }

  /// A few frames at either end are a matter of when threads wake up.
  void warn_of_frames_without_others() {
    if (barrier_.why() != stop_reason::foreground || std::ranges::any_of(records_, failed)) return;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!runs_[i].foreground) continue;
      const auto all = static_cast<std::int64_t>(records_[i].frames.size());
      for (std::size_t other = 0; other < runs_.size(); ++other) {
        if (other == i) continue;
        const auto alone = frames_outside(records_[i], running_time_of(records_[other]));
        if (alone * 100 <= all) continue;
        records_[i].warnings.push_back(
            fmt::format("more than 1 % of the frames ran without '{}' beside them, which began "
                        "later or ended earlier",
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

/// Nanoseconds from frame to frame when a run is alone and as fast as it can be; 0 when no frame
/// came through, of which the trial itself will then tell.
double alone_frame_time(session& s, const stop_request* stop) {
  const settings& run = s.planned().run;
  run_options options;
  options.timing = timing_method::none;
  options.frames = 4 * (run.in_flight + 1);
  if (run.arrival != arrival::closed) options.rate = 1e6;
  options.stop = stop;
  const run_record record = s.run(options);
  if (record.frames.empty()) return 0;
  const nanoseconds took = record.frames.back().end - record.frames.front().begin;
  return static_cast<double>(took) / static_cast<double>(record.frames.size());
}

/// How long the foreground runs take, each alone: by their rate, or their own time if that is more.
double foreground_time(const std::vector<concurrent_run>& runs, const stop_request* stop) {
  double longest = 0;
  for (const auto& r : runs) {
    if (!r.foreground) continue;
    const settings& run = r.session->planned().run;
    const double gap = run.rate ? 1e9 / *run.rate : 0;
    const double frame = std::max(gap, alone_frame_time(*r.session, stop));
    longest = std::max(longest, frame * static_cast<double>(run.frames));
  }
  return longest;
}

}  // namespace

void frame_allowance::give(std::size_t configuration, std::vector<concurrent_run>& runs,
                           const stop_request* stop) {
  auto& enough = enough_[configuration];
  if (enough.empty()) {
    // Each slows the others down, so that all take that many times as long; more for what else may
    // come in between. What is too many costs memory for one trial only.
    const double length = foreground_time(runs, stop) * 3 * static_cast<double>(runs.size());
    for (const auto& r : runs) {
      // Of a run without a frame nothing is guessed, since room for too many would be taken again
      // and again.
      const double frame = r.foreground ? 0 : alone_frame_time(*r.session, stop);
      const double frames = frame > 0 ? length / frame + 16 : 16;
      enough.push_back(
          static_cast<std::int64_t>(std::min(frames, static_cast<double>(most_frames))));
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].foreground) runs[i].frames = enough[i];
  }
}

void frame_allowance::learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
                            const std::vector<run_record>& records) {
  auto& enough = enough_[configuration];
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].foreground) continue;
    const auto done = static_cast<std::int64_t>(records[i].frames.size());
    const std::int64_t next = done < enough[i] ? 2 * done + 16 : 4 * enough[i];
    enough[i] = std::min(next, most_frames);
  }
}

start_barrier::start_barrier(std::vector<bool> foreground)
    : foreground_(std::move(foreground)),
      stops_(std::make_unique<stop_request[]>(foreground_.size())),
      standings_(foreground_.size(), standing::preparing) {}

void start_barrier::begin(std::size_t run) {
  std::unique_lock lock(mutex_);
  move(run, standing::ready);
  changed_.wait(lock, [this] { return why_ || all_at_least(standing::ready); });
}

void start_barrier::end(std::size_t run) {
  std::unique_lock lock(mutex_);
  move(run, standing::ended);
  changed_.wait(lock, [this] { return all_at_least(standing::ended); });
}

void start_barrier::leave(std::size_t run, bool failed) {
  const std::scoped_lock lock(mutex_);
  if (failed) halt(stop_reason::failure);
  move(run, standing::left);
}

void start_barrier::see_through(const stop_request* stop) {
  constexpr auto look_every = std::chrono::milliseconds(10);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, look_every, [this] { return all_at_least(standing::left); })) {
    if (stop != nullptr && stop->raised()) halt(stop_reason::person);
  }
}

std::optional<stop_reason> start_barrier::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

bool start_barrier::all_at_least(standing s) const noexcept {
  return std::ranges::all_of(standings_, [s](standing found) { return found >= s; });
}

/// With the mutex held.
void start_barrier::move(std::size_t run, standing to) {
  standings_[run] = to;
  bool running = false;
  for (std::size_t i = 0; i < foreground_.size(); ++i) {
    running |= foreground_[i] && standings_[i] < standing::ended;
  }
  if (!running) halt(stop_reason::foreground);
  changed_.notify_all();
}

/// With the mutex held.
void start_barrier::halt(stop_reason reason) noexcept {
  if (why_) return;
  why_ = reason;
  for (std::size_t i = 0; i < foreground_.size(); ++i) stops_[i].raise();
  changed_.notify_all();
}

}  // namespace graphline
