#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What a piece of a frame's time went to. Every report has these words for it.
enum class time_category {
  queue_wait,   ///< due, and not yet begun
  cpu,          ///< a CPU stage at work
  launch,       ///< the host launching a device stage or the frame's graph
  device,       ///< a device stage at work
  copy,         ///< a copy on the device
  stream_wait,  ///< launched, and its stream or the device was busy or had not started it
  worker_wait,  ///< ready, and no host thread had taken it up; of no stage: all was done, and the
                ///< host thread had not come to the end of the frame
  previous_frame_wait,  ///< the same stage was still at work on the frame before
  completion_delay,     ///< the device was done, and the host had not yet seen it
  untimed,              ///< what the timing method does not see
};
inline constexpr word<time_category> time_category_words[] = {
    {"queue_wait", time_category::queue_wait},
    {"cpu", time_category::cpu},
    {"launch", time_category::launch},
    {"device", time_category::device},
    {"copy", time_category::copy},
    {"stream_wait", time_category::stream_wait},
    {"worker_wait", time_category::worker_wait},
    {"previous_frame_wait", time_category::previous_frame_wait},
    {"completion_delay", time_category::completion_delay},
    {"untimed", time_category::untimed}};
template <>
struct words_of<time_category> {
  static constexpr const auto& table = time_category_words;
};

/// The word as people read it: "stream wait", "previous-frame wait".
std::string in_words(time_category what);

/// A stretch of the path that bounds a frame, on which everything waits for what came before it.
struct path_piece {
  time_category what = time_category::queue_wait;
  /// Whose work it is, or who waits; nothing for `queue_wait`, the launch of a frame's graph, and
  /// the host's last look at a frame.
  std::optional<std::size_t> stage;
  nanoseconds begin = 0;  ///< since the run's epoch
  nanoseconds end = 0;
  nanoseconds length() const noexcept { return end - begin; }
};

/// Where one frame's end-to-end time went.
struct frame_attribution {
  std::vector<path_piece> pieces;  ///< by time, from due to end; lengths are not negative
  /// End to end minus the lengths of all pieces: what the pieces overlap where stamps contradict
  /// each other, at most the clocks' error for each end of a stretch that the device has stamped.
  /// Not positive; 0 where no stamps contradict each other.
  nanoseconds residual = 0;
};

/// Finds the critical path of each frame: back from its end, at each step to what the host or the
/// device waited for last. For the host that is the cause in the record or, after that, what else
/// of the frame kept its thread; for a device stage, by stamps, what ended last of the stages it
/// waits for, its launch and what was before it on its stream. A piece of work on the path counts
/// with its whole measured length.
///
/// The time between two such pieces is a wait of the later one:
/// - of a device stage, and of every stage in a frame's graph, `stream_wait`;
/// - of a CPU stage or a launch, `completion_delay` until the host had seen the device stage
///   complete, or `previous_frame_wait` until the same stage returned in the previous frame; then
///   `worker_wait`;
/// - `untimed` where the host waits for a device stage of which only the launch is timed.
class attributor {
 public:
  /// `record` must outlive this. Takes n log n steps for n stamps.
  explicit attributor(const run_record& record);

  /// For a frame of the record, whatever its stamps are. Takes m log n steps for m stages.
  frame_attribution of(std::size_t frame) const;

 private:
  const run_record& record_;
  run_lanes lanes_;
  std::vector<std::size_t> ends_;  ///< device stages that no stage waits for
};

}  // namespace graphline
