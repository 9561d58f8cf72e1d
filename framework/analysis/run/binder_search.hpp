#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/analysis/run/attribution.hpp"
#include "framework/analysis/run/frame_activities.hpp"

namespace graphline {

/// What held an activity of a frame back.
struct binder {
  std::optional<std::size_t> activity;  ///< nothing: the begin of the frame
  nanoseconds end = 0;                  ///< of the binder as far as it held back
  time_category gap =
      time_category::worker_wait;  ///< what lies between that and the activity's begin
};

/// Decides what held the activities of one frame back: of all that had to end before, what ended
/// last. Each is found once, so that a walk from one to the next ends whatever the stamps are.
class binder_search {
 public:
  /// All arguments must outlive this.
  binder_search(const run_record& record, const frame_activities& done);

  /// How far stamps of one frame may contradict each other: each that the device has made may be
  /// off by the clocks' error. Nothing for the frame's own begin and end, which are the host's.
  nanoseconds tolerance(std::size_t a, std::optional<std::size_t> b = {}) const;

  /// What ended last before the end of the frame, and what the time after it is.
  binder of_end(nanoseconds end);

  /// What held back an activity.
  binder of(std::size_t index);

 private:
  enum class sure { yes, no };  ///< that it had to end before, whatever the stamps say
  void consider(std::optional<std::size_t> earlier, time_category gap, sure is);
  void consider_launch(std::optional<std::size_t> launch);
  void consider_completion(std::size_t stage);
  void consider_for_device();
  void consider_for_host();
  bool waits_unseen() const;

  const run_record& record_;
  const frame_activities& done_;
  nanoseconds clock_error_;
  std::vector<bool> found_;

  // Of the search under way.
  std::size_t later_ = 0;
  nanoseconds begin_ = 0;  ///< of `later_`
  std::optional<nanoseconds> latest_;
  binder best_;
};

}  // namespace graphline
