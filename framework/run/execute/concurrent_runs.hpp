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
/// long as the others, since room for every sample is taken before a run. A few at first, then by
/// the time that frames took in the trials before.
class frame_allowance {
 public:
  /// The most there can be; 24 bytes each, and 16 for each column of samples.
  static constexpr std::int64_t most_frames = std::int64_t{1} << 22;

  /// Sets `frames` of all background runs.
  void give(std::size_t configuration, std::vector<concurrent_run>& runs);

  /// Takes note of what a trial made of it, however short that was.
  void learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
             const std::vector<run_record>& records);

 private:
  std::map<std::size_t, std::vector<std::int64_t>> enough_;  ///< of a configuration's runs
};

}  // namespace graphline
