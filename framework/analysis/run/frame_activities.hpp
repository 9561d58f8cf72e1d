#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns a pass's stamps; empty if they are missing or end before they begin. Clamps stamps of a
/// damaged file to 36 years around the epoch so that differences do not overflow.
std::optional<stamp_pair> sound_stamps(const std::vector<stamp_pair>& column, std::size_t pass);

/// Returns the interval in which a stage worked in a pass. If the device reports busy time, this
/// is the last part of the span between the events, since waits for other streams are assumed to
/// come first. Empty if the pass did not run the stage.
std::optional<stamp_pair> work_stamps(const stage_record& stage, std::size_t pass);

/// Clamps a time to 36 years around the epoch.
nanoseconds sound_time(nanoseconds at) noexcept;

/// Sorts spans and joins those that overlap or touch.
std::vector<stamp_pair> merged(std::vector<stamp_pair> spans);

/// A timed activity of a pass.
struct activity {
  enum class kind {
    stage,         ///< stage execution, from device, synced or CPU stamps; see `skipped_at`
    launch,        ///< launch of a device stage
    frame_launch,  ///< launch of the frame's graph
  };
  kind what = kind::stage;
  std::size_t stage = 0;  ///< unused for `frame_launch`
  nanoseconds begin = 0;
  nanoseconds end = 0;
  bool by_device = false;           ///< stamped by the device
  std::optional<std::size_t> lane;  ///< index in `run_lanes`; empty if unknown
};

/// Assigns numbers to a run's lanes, which are its streams and host threads. A lane executes one
/// activity at a time.
class run_lanes {
 public:
  /// @pre `record` outlives this object.
  explicit run_lanes(const run_record& record);

  /// Returns the lane in which the device executes a stage. All streams share a lane on a device
  /// that executes one operation at a time.
  std::size_t of_stream(std::size_t stage) const { return streams_[stage]; }

  /// Returns the lane of the thread that ran a CPU stage or launched a device stage. Empty if the
  /// record does not name the thread and there are several.
  std::optional<std::size_t> of_thread(std::size_t stage, std::size_t pass) const;

  std::size_t of_main() const noexcept { return stream_count_; }

  /// Finds the last activity, in any frame, that the single host thread began before `to`. Returns
  /// the end of this activity if it is in (`from`, `to`]. Empty with one frame in flight or several
  /// threads. Takes O(log n) time for n frames.
  std::optional<nanoseconds> main_busy_until(nanoseconds from, nanoseconds to) const;

 private:
  const run_record& record_;
  bool one_thread_;
  std::size_t stream_count_ = 0;
  std::vector<std::size_t> streams_;  ///< by stage
  std::vector<stamp_pair> main_;      ///< activities of the single host thread, by begin
};

/// All activities of a pass, which runs one frame or a batch; by index.
class frame_activities {
 public:
  frame_activities(const run_record& record, const run_lanes& lanes, std::size_t pass);

  /// Returns stage executions, then launches, each in planned order.
  const std::vector<activity>& all() const noexcept { return all_; }
  const activity& operator[](std::size_t index) const { return all_[index]; }

  std::optional<std::size_t> work_of(std::size_t stage) const { return work_[stage]; }
  std::optional<std::size_t> launch_of(std::size_t stage) const { return launches_[stage]; }
  std::optional<std::size_t> frame_launch() const { return frame_launch_; }

  /// Among the activities that began before `index` in its lane and ended at most `tolerance` after
  /// `index` began, returns the one that ended last.
  std::optional<std::size_t> before_in_lane(std::size_t index, nanoseconds tolerance) const;

 private:
  std::optional<std::size_t> add(activity what, const std::optional<stamp_pair>& stamps);

  /// Returns the instant that stands for a stage that the frame did not run. A device stage keeps
  /// its place on its stream, so its successors wait for the stages before it on the stream and for
  /// those whose events it waits for.
  std::optional<stamp_pair> skipped_at(const run_record& record, std::size_t stage,
                                       std::size_t pass) const;

  std::vector<activity> all_;
  std::vector<std::optional<std::size_t>> work_;      ///< by stage
  std::vector<std::optional<std::size_t>> launches_;  ///< by stage
  std::optional<std::size_t> frame_launch_;
  std::vector<std::size_t> by_lane_;  ///< activities with a known lane, by lane, then end
};

}  // namespace graphline
