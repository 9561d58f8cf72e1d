#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "framework/base/stop_request.hpp"

namespace graphline {

/// Why runs that go on at once were told to stop.
enum class meeting_end {
  leaders,  ///< those that decide how long it takes have done their frames
  failure,  ///< one of them failed
  person,   ///< the stop request of the whole was raised
};

/// Keeps runs together that go on at once, each in a thread of its own: they begin together, end
/// when the leading ones have ended, and none goes on where another fails or a person stops them.
/// Nobody waits for a run that has left.
class meeting {
 public:
  /// `leads[i]` tells whether run `i` is one of those that decide how long it takes; at least one.
  explicit meeting(std::vector<bool> leads);

  // Of a run, from its thread.

  /// To be polled by it.
  const stop_request* stop_of(std::size_t run) const noexcept { return &stops_[run]; }

  /// Before its first measured frame: returns when all are as far, or have been told to stop.
  void begin(std::size_t run);

  /// After its last one: returns when all have ended theirs or left.
  void end(std::size_t run);

  /// It is over, well or not, and takes no further part.
  void leave(std::size_t run, bool failed);

  // Of who holds the meeting.

  /// Returns when all have left. Hands `stop` on to the runs within milliseconds; may be null.
  void see_through(const stop_request* stop);

  /// Why the runs were told to stop, the first reason if there were several; nothing if none was.
  std::optional<meeting_end> why() const;

 private:
  enum class standing { preparing, ready, ended, left };

  bool all_at_least(standing s) const noexcept;
  void move(std::size_t run, standing to);
  void halt(meeting_end reason) noexcept;

  const std::vector<bool> leads_;
  std::unique_ptr<stop_request[]> stops_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<standing> standings_;
  std::optional<meeting_end> why_;
};

}  // namespace graphline
