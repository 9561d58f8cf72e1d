#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A trial, with overrides of the configuration's length.
struct trial_request {
  std::optional<std::int64_t> frames = {};
  std::optional<std::int64_t> warmup = {};
  /// Selects the random arrivals. They differ between numbers, so that the variation over trials
  /// includes theirs. For a number and seed, they are the same for a member in all configurations.
  std::uint64_t number = 0;
};

/// Runs single trials of a planned experiment.
class trial_runner {
 public:
  virtual ~trial_runner() = default;

  /// Runs a trial and returns one record per member; a failure of a run is in its record.
  /// @throws run_error that names the configuration, if it cannot be prepared
  /// @throws interrupted_error if `stop` is raised during preparation
  virtual std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                                      const stop_request* stop) = 0;
};

/// Returns the device for a plan, which differs with the number of compute threads on `host`. The
/// device outlives the runner.
using device_source = std::function<device&(const plan&)>;

/// Makes a runner of trials in this process. Pipelines stay prepared between trials while all of
/// them fit into `memory_budget` bytes of device memory. Otherwise pipelines of other
/// configurations are released and prepared again when needed.
///
/// Members of a configuration run concurrently. Members with an arrival other than `closed`, or
/// else the first member, are the foreground. The trial ends with the foreground, and other members
/// run until then, regardless of their `frames`.
/// @pre `planned` outlives the runner
std::unique_ptr<trial_runner> make_trial_runner(const experiment_plan& planned,
                                                device_source devices, std::uint64_t memory_budget);

}  // namespace graphline
