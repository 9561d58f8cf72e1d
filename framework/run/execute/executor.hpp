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

/// Frames to run one after another, in one go.
struct batch {
  std::int64_t frames = 0;        ///< with a schedule: those of it, dropped ones among them
  std::int64_t first_number = 0;  ///< of its first frame, counted from the start of the run
  recording* into = nullptr;      ///< with room for `frames`
  const stop_request* stop = nullptr;
  progress_function on_progress;  ///< may be empty
  bool warmup = false;
  frame_schedule* schedule = nullptr;  ///< when frames are due; null: each when it can begin
  frame_feed* feed = nullptr;          ///< in place of a schedule: each when it is submitted

  bool on_schedule() const noexcept { return schedule != nullptr || feed != nullptr; }

  /// Waits for the next frame and returns its due time. Calls `look` as `wait_until` does. Empty if
  /// no frame is left or `look` ended the wait.
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
      if (next.is == frame_feed::standing::begun) return next.due;
      if (next.is == frame_feed::standing::over) break;
    }
    return std::nullopt;
  }
};

/// How a batch went.
struct batch_result {
  std::int64_t completed = 0;          ///< frames, from the first on, all of whose stages ran
  bool interrupted = false;            ///< the stop request ended it
  std::optional<std::string> failure;  ///< what ended it, naming stage and frame
};

/// Runs frames under one strategy.
class executor {
 public:
  virtual ~executor() = default;

  /// Returns when every frame begun is complete or abandoned and the device is idle. A stage's
  /// exception ends the batch and is told in the result.
  virtual batch_result run(const batch& b) = 0;
};

/// Carries out the plan's schedule on this machine.
std::unique_ptr<executor> make_executor(prepared_pipeline& pipeline);

/// "stage 'head' (network), frame 12: WHAT", from within a catch block; without the stage where it
/// is not known.
std::string describe_failure(const plan& p, std::optional<std::size_t> stage, std::int64_t frame);

/// Tells progress to a function at most ten times a second, from stamps the caller has anyway.
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
