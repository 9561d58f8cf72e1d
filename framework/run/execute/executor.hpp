#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/stop_request.hpp"
#include "framework/run/execute/frame_feed.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/recording.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {

struct batch {
  std::int64_t frames = 0;        ///< including dropped frames
  std::int64_t first_number = 0;  ///< counted from the start of the run
  recording* into = nullptr;      ///< with room for `frames`
  const stop_request* stop = nullptr;
  progress_function on_progress;  ///< may be empty
  bool warmup = false;
  frame_schedule* schedule = nullptr;  ///< due times; null: frames begin as soon as possible
  frame_feed* feed = nullptr;          ///< replaces the schedule; frames are due when submitted

  bool on_schedule() const noexcept { return schedule != nullptr || feed != nullptr; }

  /// Waits for the next frame and returns its due time; empty if no frame is left or `look` ended
  /// the wait. Calls `look` as `wait_until` does.
  template <class Waits, class Look>
  std::optional<nanoseconds> await_next(const Waits& waits, const Look& look) const {
    if (feed == nullptr) {
      const auto due = schedule->next(waits.now());
      if (!due || !wait_until(*due, waits, look)) return std::nullopt;
      schedule->begin_frame(into->complete());
      return due;
    }
    while (const std::optional<nanoseconds> unwatched = look()) {
      const frame_feed::next_frame next = feed->begin_next(*unwatched);
      if (next.is == frame_feed::state::begun) return next.due;
      if (next.is == frame_feed::state::over) break;
    }
    return std::nullopt;
  }
};

struct batch_result {
  std::int64_t completed = 0;          ///< the first `completed` frames ran all their stages
  bool interrupted = false;            ///< ended by the stop request
  std::optional<std::string> failure;  ///< message naming stage and frame
};

/// Runs frames as the plan's schedule prescribes.
class executor {
 public:
  virtual ~executor() = default;

  /// Runs the frames. If a stage throws, ends the batch and sets `failure`. On return, each frame
  /// begun is complete or abandoned, and the device is idle.
  virtual batch_result run(const batch& b) = 0;
};

/// Creates the executor for the plan's schedule on this machine.
std::unique_ptr<executor> make_executor(prepared_pipeline& pipeline);

/// Formats the exception being handled as "stage 'head' (network), frame 12: MESSAGE"; omits the
/// stage if it is unknown. Call within a catch block.
std::string describe_failure(const plan& p, std::optional<std::size_t> stage, std::int64_t frame);

/// Reports progress at most ten times a second. The caller passes the time, to save clock reads.
class progress_meter {
 public:
  explicit progress_meter(const batch& b) : batch_(b) {}

  void frame_done(std::int64_t done, nanoseconds at) {
    if (!batch_.on_progress || at - last_ < 100'000'000) return;
    last_ = at;
    batch_.on_progress({batch_.warmup, done, batch_.frames});
  }

 private:
  const batch& batch_;
  nanoseconds last_ = 0;
};

}  // namespace graphline
