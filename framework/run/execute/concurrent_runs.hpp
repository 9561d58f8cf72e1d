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

struct concurrent_run {
  std::string name;  ///< for messages
  graphline::session* session = nullptr;
  /// Background runs stop when all foreground runs have ended. Without effect with a horizon.
  bool foreground = false;
  std::optional<std::int64_t> frames = {};         ///< maximum; default: the plan's
  std::optional<std::int64_t> warmup = {};         ///< default: the plan's
  std::optional<double> rate = {};                 ///< frames due per second; default: the plan's
  std::optional<std::uint64_t> arrival_seed = {};  ///< see `run_options`
};

/// Runs sessions concurrently, one host thread each, and returns one record per session, in order.
/// Measured frames begin after all warm-ups, and end when the foreground runs have ended. If a run
/// fails or `stop` is raised, all runs stop. `interrupted` stays false in runs that stopped because
/// other runs ended or failed, or because the horizon passed.
///
/// Sessions on the same device share its clock, so their records contain the same clock drift and
/// error: the greatest found.
///
/// @param share With anything shared, one policy schedules all pipelines.
/// @param horizon If set, all runs stop this long after the common start. Frames that are not
/// complete by then are `unfinished`. A run without a completed or dropped frame has failed.
/// @pre No `session` is null; at least one run is in the foreground, or there is a horizon.
/// @throws What a session throws, once all sessions have ended
std::vector<run_record> run_at_once(const std::vector<concurrent_run>& runs,
                                    const stop_request* stop, sharing share = sharing::none,
                                    std::optional<nanoseconds> horizon = {});

/// What the pipelines of a configuration share. Outlives their sessions.
class pipeline_sharing {
 public:
  /// @pre The plans' schedules start stages when they are ready; windows and devices are equal.
  pipeline_sharing(sharing share, const std::vector<plan>& plans, const device_group& on);
  ~pipeline_sharing();

  const shared_resources<real_host>& of(std::size_t pipeline) const;

 private:
  std::vector<shared_resources<real_host>> parts_;
};

/// Chooses frame limits (`frames`) for background runs that let them last as long as the
/// foreground. Starts with a few thousand frames, then uses the frame times of earlier trials. With
/// a horizon, chooses the limits of all runs; those with arrivals get the frames due in it.
class frame_allowance {
 public:
  /// Upper limit. A frame takes 24 bytes, and up to 16 for each column of samples.
  static constexpr std::int64_t most_frames = std::int64_t{1} << 22;

  void give(std::size_t configuration, std::vector<concurrent_run>& runs,
            std::optional<nanoseconds> horizon = {});

  /// Notes the frame times of a trial.
  void learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
             const std::vector<run_record>& records);

 private:
  struct known_trial {
    double length = 0;                           ///< of the foreground, in ns
    std::vector<std::optional<double>> periods;  ///< by run, in ns
  };
  std::map<std::size_t, known_trial> known_;  ///< by configuration
};

}  // namespace graphline
