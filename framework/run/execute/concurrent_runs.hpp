#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {

/// One of several pipelines that run at once.
struct concurrent_run {
  std::string name;  ///< for messages
  graphline::session* session = nullptr;
  /// Whether its frames decide how long it takes. The others run until all such have ended.
  bool foreground = false;
  std::optional<std::int64_t> frames = {};         ///< at most; default: the plan's
  std::optional<std::int64_t> warmup = {};         ///< likewise
  std::optional<std::uint64_t> arrival_seed = {};  ///< as in `run_options`
};

/// Runs sessions at once, a host thread each: they begin their measured frames together, after
/// their warm-ups, and end when those in the foreground have ended. Returns a record each, in
/// order. A failure of one stops the others, and so does `stop`; one that was stopped because
/// others had ended or failed is not `interrupted`. What each other's presence makes of a record is
/// told in its warnings. Throws what a session throws, once all have ended.
///
/// Sessions on one device share its clock: all their records hold the greatest error and drift that
/// was found. `session` must not be null, and at least one must be in the foreground.
std::vector<run_record> run_at_once(const std::vector<concurrent_run>& runs,
                                    const stop_request* stop);

/// How many frames the background ones of several runs at once get: so many that they last as
/// long as the others, since room for every sample is taken before a run. Guessed from short runs
/// of each alone at first, then known from the trials before.
class frame_allowance {
 public:
  /// The most there can be; 24 bytes each, and 16 for each column of samples.
  static constexpr std::int64_t most_frames = std::int64_t{1} << 22;

  /// Sets `frames` of all background runs.
  void give(std::size_t configuration, std::vector<concurrent_run>& runs, const stop_request* stop);

  /// Takes note of what a whole trial made of it.
  void learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
             const std::vector<run_record>& records);

 private:
  std::map<std::size_t, std::vector<std::int64_t>> enough_;  ///< of a configuration's runs
};

/// Why runs that go on at once were told to stop.
enum class stop_reason {
  foreground,  ///< the foreground runs have done their frames
  failure,     ///< one of them failed
  person,      ///< the stop request of the whole was raised
};

/// Keeps runs together that go on at once, each in a thread of its own: they begin together, end
/// when the foreground ones have ended, and none goes on where another fails or a person stops
/// them. Nobody waits for a run that has left.
class start_barrier {
 public:
  /// `foreground[i]`: whether run `i` decides how long it takes; at least one does.
  explicit start_barrier(std::vector<bool> foreground);

  // Of a run, from its thread.

  /// To be polled by it.
  const stop_request* stop_of(std::size_t run) const noexcept { return &stops_[run]; }

  /// Before its first measured frame: returns when all are as far, or have been told to stop.
  void begin(std::size_t run);

  /// After its last one: returns when all have ended theirs or left.
  void end(std::size_t run);

  /// It is over, well or not, and takes no further part.
  void leave(std::size_t run, bool failed);

  // From the thread that began them.

  /// Returns when all have left. Hands `stop` on to the runs within milliseconds; may be null.
  void see_through(const stop_request* stop);

  /// Why the runs were told to stop, the first reason if there were several; nothing if none was.
  std::optional<stop_reason> why() const;

 private:
  enum class standing { preparing, ready, ended, left };

  bool all_at_least(standing s) const noexcept;
  void move(std::size_t run, standing to);
  void halt(stop_reason reason) noexcept;

  const std::vector<bool> foreground_;
  std::unique_ptr<stop_request[]> stops_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<standing> standings_;
  std::optional<stop_reason> why_;
};

}  // namespace graphline
