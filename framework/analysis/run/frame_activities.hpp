#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// A frame's entry of a column, if it has one that does not end before it begins. Beyond 36 years
/// from the epoch, as a damaged file may say, it is moved to there, so that no difference
/// overflows.
std::optional<stamp_pair> sound_stamps(const std::vector<stamp_pair>& column, std::size_t frame);

/// When a stage was at work for a frame, by what times it: a device stage for as long as the device
/// tells, up to its end. What it waited for other streams' work is taken to lie before that.
std::optional<stamp_pair> work_stamps(const stage_record& stage, std::size_t frame);

/// A point in time, moved in the same way.
nanoseconds sound_time(nanoseconds at) noexcept;

/// Something that was done for a frame and has stamps.
struct activity {
  enum class kind {
    stage,         ///< a stage at work, by its device, synced or CPU stamps
    launch,        ///< of a device stage
    frame_launch,  ///< of the frame's graph
  };
  kind what = kind::stage;
  std::size_t stage = 0;  ///< of no meaning for `frame_launch`
  nanoseconds begin = 0;
  nanoseconds end = 0;
  bool by_device = false;           ///< stamped by the device
  std::optional<std::size_t> lane;  ///< of `run_lanes`; nothing where it is not known
};

/// What carries out one thing at a time during a run: its streams and its host threads, by number.
class run_lanes {
 public:
  /// `record` must outlive this.
  explicit run_lanes(const run_record& record);

  /// Of a device stage's execution. All streams are one lane on a device that carries out one
  /// operation at a time.
  std::size_t of_stream(std::size_t stage) const { return streams_[stage]; }

  /// Of the thread that ran a CPU stage or launched a device stage. Nothing where the record does
  /// not say and the strategy has more than one.
  std::optional<std::size_t> of_thread(std::size_t stage, std::size_t frame) const;

  /// Of the thread that drives the frames.
  std::size_t of_main() const noexcept { return stream_count_; }

  /// When the one thread that drives the frames ended what it did last before `to`, for any frame,
  /// if that was after `from`. Logarithmic in the number of frames. Empty with one frame in flight
  /// or several threads.
  std::optional<nanoseconds> main_busy_until(nanoseconds from, nanoseconds to) const;

 private:
  const run_record& record_;
  bool one_thread_;
  std::size_t stream_count_ = 0;
  std::vector<std::size_t> streams_;  ///< by stage
  std::vector<stamp_pair> main_;      ///< what the one thread did, by begin
};

/// All that was done for one frame, by index.
class frame_activities {
 public:
  frame_activities(const run_record& record, const run_lanes& lanes, std::size_t frame);

  /// Stages at work first, each in planned order.
  const std::vector<activity>& all() const noexcept { return all_; }
  const activity& operator[](std::size_t index) const { return all_[index]; }

  std::optional<std::size_t> work_of(std::size_t stage) const { return known(work_[stage]); }
  std::optional<std::size_t> launch_of(std::size_t stage) const { return known(launches_[stage]); }
  std::optional<std::size_t> frame_launch() const { return known(frame_launch_); }

  /// What ended last of all that began before `index` in the same lane and ended no more than
  /// `tolerance` after it began.
  std::optional<std::size_t> before_in_lane(std::size_t index, nanoseconds tolerance) const;

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  static std::optional<std::size_t> known(std::size_t index) {
    return index == none ? std::nullopt : std::optional(index);
  }
  std::size_t add(activity what, const std::optional<stamp_pair>& stamps);

  std::vector<activity> all_;
  std::vector<std::size_t> work_;      ///< by stage
  std::vector<std::size_t> launches_;  ///< by stage
  std::size_t frame_launch_ = none;
  std::vector<std::size_t> by_lane_;  ///< those whose lane is known: by lane, then by end
};

}  // namespace graphline
