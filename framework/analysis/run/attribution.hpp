#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Category of a piece of a frame's time.
enum class time_category {
  queue_wait,           ///< due, but not released, or no slot was free
  batch_wait,           ///< waited for other frames of its batch
  cpu,                  ///< a CPU stage runs
  launch,               ///< the host launches a device stage or the frame's graph
  device,               ///< the device executes a stage
  copy,                 ///< the device executes a copy
  stream_wait,          ///< launched but not started, because its stream or the device was busy
  worker_wait,          ///< a stage or the frame's end was ready, but no host thread had reached it
  previous_frame_wait,  ///< the stage was still running for the previous frame
  other_rank_wait,      ///< the data of another rank had not arrived
  completion_delay,     ///< the device had finished, but the host had not observed it
  untimed,              ///< not covered by the timing method
};
inline constexpr word<time_category> time_category_words[] = {
    {"queue_wait", time_category::queue_wait},
    {"batch_wait", time_category::batch_wait},
    {"cpu", time_category::cpu},
    {"launch", time_category::launch},
    {"device", time_category::device},
    {"copy", time_category::copy},
    {"stream_wait", time_category::stream_wait},
    {"worker_wait", time_category::worker_wait},
    {"previous_frame_wait", time_category::previous_frame_wait},
    {"other_rank_wait", time_category::other_rank_wait},
    {"completion_delay", time_category::completion_delay},
    {"untimed", time_category::untimed}};
template <>
struct words_of<time_category> {
  static constexpr const auto& table = time_category_words;
};

/// Returns the category for display: "stream wait", "previous-frame wait".
std::string in_words(time_category what);

/// A piece of a frame's critical path.
struct path_piece {
  time_category what = time_category::queue_wait;
  /// The stage that works or waits. Empty for `queue_wait`, `batch_wait`, for the launch of a
  /// frame's graph, and for waits after the frame's last stage.
  std::optional<std::size_t> stage;
  nanoseconds begin = 0;  ///< since the run's epoch
  nanoseconds end = 0;
  nanoseconds length() const noexcept { return end - begin; }
};

/// Attribution of one frame's end-to-end time.
struct frame_attribution {
  std::vector<path_piece> pieces;  ///< in order of time, from due to end; each length is positive
  /// End-to-end time minus the sum of all piece lengths; 0 if all stamps are consistent.
  /// Contradictory stamps make pieces overlap, and the residual is negative, by at most the clock
  /// error for each end of a piece with device stamps.
  nanoseconds residual = 0;
};

/// Finds the critical path of each frame. Walks back from the frame's end. Each step goes to the
/// last activity that the current activity waited for:
/// - The record names what a host activity waited for. If another activity of the frame kept the
///   thread busy after that, the walk goes there instead.
/// - A device stage waits for its launch, its dependencies, and the previous activity on its
///   stream. The walk goes to the activity among these that ended last.
///
/// Work on the path counts with its full measured length. The time between two consecutive
/// activities is a wait of the later activity:
/// - A device stage, and every stage in a frame's graph, has a `stream_wait`.
/// - A CPU stage or launch has a `completion_delay` until the host observed that the device stage
///   was complete, or a `previous_frame_wait` until the same stage returned in the previous frame.
///   A `worker_wait` follows.
/// - The time is `untimed` if the host waits for a device stage of which only the launch is timed,
///   or for a frame that was cut short.
///
/// A stage that the frame did not run is an instant, through which the walk passes. Frames of a
/// batch share the activities of their pass, and differ in their waits before it.
class attributor {
 public:
  /// Takes O(n log n) time for n stamps.
  /// @pre `record` outlives this object.
  explicit attributor(const run_record& record);

  /// Attributes a frame. Accepts arbitrary stamps. Takes O(m log m) time for m stages.
  frame_attribution of(std::size_t frame) const;

 private:
  const run_record& record_;
  run_lanes lanes_;
  run_passes passes_;
  std::vector<std::size_t> ends_;  ///< device stages that no stage waits for
};

}  // namespace graphline
