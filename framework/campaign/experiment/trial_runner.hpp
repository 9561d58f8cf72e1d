#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/device_group.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A trial to run. Lengths default to the configuration's.
struct trial_request {
  std::optional<std::int64_t> frames = {};
  std::optional<std::int64_t> warmup = {};
  /// Selects the random arrivals. Trials with the same number use the same arrivals for a member in
  /// all configurations; trials with different numbers use different arrivals.
  std::uint64_t number = 0;
  std::optional<double> rate_factor = {};   ///< on the rates of concurrent pipelines
  std::optional<nanoseconds> horizon = {};  ///< instead of the experiment's
};

/// Returns how many frames are due in a second, on average, before any scaling; empty with closed
/// arrival, and for a trace of a single moment.
std::optional<double> rate_of(const plan& p);

class trial_runner {
 public:
  virtual ~trial_runner() = default;

  /// Runs a trial and returns one record per member. If a member's run fails, its record says so.
  /// @throws run_error naming the configuration if it cannot be prepared
  /// @throws interrupted_error if `stop` is raised during preparation
  virtual std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                                      const stop_request* stop) = 0;

  /// Returns what the trials are predicted from; empty if they are measured.
  virtual std::optional<prediction_record> prediction() const { return std::nullopt; }
};

/// Returns the devices for a plan. On `host`, plans with different numbers of compute threads need
/// different devices. Devices outlive the runner.
using device_source = std::function<device_group(const plan&)>;

/// Makes a runner of trials in this process. All pipelines stay prepared between trials if they fit
/// into `memory_budget` bytes of device memory. Otherwise those of other configurations are
/// released and prepared again when needed.
///
/// Members of a configuration run concurrently. Members with an arrival other than `closed`, or
/// else the first member, are the foreground. The trial ends when the foreground ends; the `frames`
/// of other members do not matter. With a horizon, all members run until it has passed, also in a
/// configuration of one member, unless the request sets the frames.
/// @pre `planned` outlives the runner
std::unique_ptr<trial_runner> make_trial_runner(const experiment_plan& planned,
                                                device_source devices, std::uint64_t memory_budget);

}  // namespace graphline
