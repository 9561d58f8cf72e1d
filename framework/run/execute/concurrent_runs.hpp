#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
  /// Foreground runs determine the duration; other runs last until the foreground has ended.
  bool foreground = false;
  std::optional<std::int64_t> frames = {};         ///< maximum; default: the plan's
  std::optional<std::int64_t> warmup = {};         ///< default: the plan's
  std::optional<std::uint64_t> arrival_seed = {};  ///< see `run_options`
};

/// Runs sessions concurrently, one host thread each, and returns one record per session, in order.
/// Measured frames begin together, after all warm-ups, and end when the foreground runs have ended.
/// If a run fails or `stop` is raised, all runs stop. A run is not `interrupted` if it stopped
/// because other runs ended or failed. Warnings of a record state how the other runs affected it.
///
/// Sessions on the same device use the same clock, so their records all contain the greatest clock
/// error and drift found.
///
/// @pre No `session` is null; at least one run is in the foreground.
/// @throws What a session throws, once all sessions have ended.
std::vector<run_record> run_at_once(const std::vector<concurrent_run>& runs,
                                    const stop_request* stop);

/// Chooses the frame limit of background runs, so that they last as long as the foreground: room
/// for every sample is reserved before a run. Starts with a few thousand frames, then uses the
/// frame times of earlier trials.
class frame_allowance {
 public:
  /// Upper limit. A frame takes 24 bytes, and 16 more for each column of samples.
  static constexpr std::int64_t most_frames = std::int64_t{1} << 22;

  /// Sets `frames` of the background runs.
  void give(std::size_t configuration, std::vector<concurrent_run>& runs);

  /// Learns from the records of a trial, however short.
  void learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
             const std::vector<run_record>& records);

 private:
  std::map<std::size_t, std::vector<std::int64_t>> enough_;  ///< by configuration, then run
};

}  // namespace graphline
