#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/stop_request.hpp"
#include "framework/run/execute/frame_feed.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/recording.hpp"
#include "framework/run/execute/run_policy.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// The warm-up or the measured frames of a run.
struct phase {
  std::int64_t frames = 0;        ///< including dropped frames
  std::int64_t first_number = 0;  ///< counted from the start of the run
  recording* into = nullptr;      ///< with room for `frames`
  const stop_request* stop = nullptr;
  progress_function on_progress;  ///< may be empty
  bool warmup = false;
  frame_schedule* schedule = nullptr;  ///< due times; null: frames begin as soon as possible
  frame_feed* feed = nullptr;          ///< replaces the schedule; frames are due when submitted

  /// Called on any thread when all stages of a pass are complete, before its slot is used again.
  /// What it throws ends the phase. May be empty.
  std::function<void(std::size_t slot, const frame_position&)> on_pass_end = {};
  std::int64_t together = 1;                ///< frames that run together without a schedule
  const pipeline_policy* policy = nullptr;  ///< the plan's; null: the oldest ready stage first

  /// Returns the `frame_position::cut_at` of a pass that begins at host time `at`: when the
  /// deadlines of all its frames have passed.
  nanoseconds cut_at(const begun_frames& begun, nanoseconds at) const noexcept {
    if (warmup || !into->cuts()) return INT64_MAX;
    return (begun.due.empty() ? at : begun.due.back()) + into->cut_after() + 1;
  }

  bool on_schedule() const noexcept { return schedule != nullptr || feed != nullptr; }

  /// Returns the position of a pass without a schedule; it has no frame beyond the last.
  frame_position position_of(std::int64_t pass) const noexcept {
    const std::int64_t first = pass * together;
    return {pass, first, first_number + first,
            std::clamp<std::int64_t>(frames - first, 0, together)};
  }

  /// Waits for the next frames; empty if no frame is left or `look` ended the wait. Calls `look` as
  /// `wait_until` does.
  template <class Waits, class Look>
  begun_frames await_next(const Waits& waits, const Look& look) {
    if (feed == nullptr) {
      while (const auto at = schedule->next(waits.now())) {
        if (!wait_until(*at, waits, look)) break;
        const begun_frames begun = schedule->begin_frames(into->complete(), waits.now());
        if (!begun.due.empty()) return begun;
      }
      return {};
    }
    while (const std::optional<nanoseconds> unwatched = look()) {
      const frame_feed::next_frame next = feed->begin_next(*unwatched);
      submitted = next.due;
      if (next.is == frame_feed::state::begun) return {{&submitted, 1}, submitted};
      if (next.is == frame_feed::state::over) break;
    }
    return {};
  }

  nanoseconds submitted = 0;  ///< due time of the feed's last frame
};

struct phase_result {
  std::int64_t completed = 0;          ///< the first `completed` passes ended
  bool interrupted = false;            ///< ended by the stop request
  std::optional<std::string> failure;  ///< message naming stage and frame
};

/// Runs frames as the plan's schedule prescribes.
class executor {
 public:
  virtual ~executor() = default;

  /// Runs the frames. If a stage throws, ends the phase and sets `failure`. On return, each frame
  /// begun is complete or abandoned, and the device is idle.
  virtual phase_result run(phase& b) = 0;
};

template <class Host>
struct shared_resources;
class real_host;

/// Creates the executor for the plan's schedule on this machine.
/// @param share Null for a pipeline that shares nothing.
std::unique_ptr<executor> make_executor(prepared_pipeline& pipeline,
                                        const shared_resources<real_host>* share = nullptr);

/// Formats the exception being handled as "stage 'head' (network), frame 12: MESSAGE"; omits the
/// stage if it is unknown. Call within a catch block.
std::string describe_failure(const plan& p, std::optional<std::size_t> stage, std::int64_t frame);

/// Reports progress at most ten times a second. The caller passes the time, to save clock reads.
class progress_meter {
 public:
  explicit progress_meter(const phase& b) : phase_(b) {}

  void frame_done(std::int64_t done, nanoseconds at) {
    if (!phase_.on_progress || at - last_ < 100'000'000) return;
    last_ = at;
    phase_.on_progress({phase_.warmup, done, phase_.frames});
  }

 private:
  const phase& phase_;
  nanoseconds last_ = 0;
};

}  // namespace graphline
