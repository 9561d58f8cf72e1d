#include "framework/run/execute/concurrent_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <system_error>
#include <thread>

#include "framework/base/clock.hpp"
#include "framework/base/thread_number.hpp"
#include "framework/run/execute/clock_watch.hpp"
#include "framework/run/execute/meeting.hpp"

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

class company {
 public:
  company(const std::vector<concurrent_run>& runs, const stop_request* stop)
      : runs_(runs),
        stop_(stop),
        meeting_(leads_of(runs)),
        records_(runs.size()),
        thrown_(runs.size()) {
    for (const auto& r : runs) clocks_.try_emplace(r.on, *r.on);
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
        meeting_.leave(i, true);
      } catch (...) {
        thrown_[i] = std::current_exception();
        meeting_.leave(i, true);
      }
    }
    meeting_.see_through(stop_);
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
  static std::vector<bool> leads_of(const std::vector<concurrent_run>& runs) {
    std::vector<bool> leads;
    for (const auto& r : runs) leads.push_back(r.leads);
    return leads;
  }

  void run_one(std::size_t i) noexcept {
    try {
      run_options options;
      options.frames = runs_[i].frames;
      options.warmup = runs_[i].warmup;
      options.arrival_seed = runs_[i].arrival_seed;
      options.common_epoch = epoch_;
      options.stop = meeting_.stop_of(i);
      options.before_frames = [this, i] { meeting_.begin(i); };
      options.after_frames = [this, i] { meeting_.end(i); };
      records_[i] = runs_[i].session->run(options);
    } catch (...) {
      thrown_[i] = std::current_exception();
    }
    meeting_.leave(i, thrown_[i] != nullptr || failed(records_[i]));
  }

  /// A stop that came from the others is no interruption by a person.
  void tell_why_stopped() {
    const auto why = meeting_.why();
    if (why == meeting_end::person) return;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      run_record& record = records_[i];
      if (!record.interrupted) continue;
      record.interrupted = false;
      if (why == meeting_end::leaders) {
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
      clocks_.at(runs_[i].on).settle(records_[i], epoch_);
    }
  }

  void warn_of_waits() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (records_[i].run.timing != timing_method::sync) continue;
      for (std::size_t other = 0; other < runs_.size(); ++other) {
        const bool shared = other != i && runs_[i].on == runs_[other].on;
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
    if (meeting_.why() != meeting_end::leaders || std::ranges::any_of(records_, failed)) return;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!runs_[i].leads) continue;
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
  meeting meeting_;
  std::vector<run_record> records_;         ///< each written by its own thread
  std::vector<std::exception_ptr> thrown_;  ///< likewise
  std::map<device*, clock_watch> clocks_;
  const nanoseconds epoch_ = now();
};

}  // namespace

std::vector<run_record> run_at_once(const std::vector<concurrent_run>& runs,
                                    const stop_request* stop) {
  return company(runs, stop).run();
}

}  // namespace graphline
