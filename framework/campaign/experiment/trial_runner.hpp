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

/// Which trial of a configuration, and how long it is where that differs from its settings.
struct trial_request {
  std::optional<std::int64_t> frames = {};
  std::optional<std::int64_t> warmup = {};
  /// Random arrivals differ from number to number, so that the spread between trials holds their
  /// luck too; under one number a member's are the same in every configuration of equal seed.
  std::uint64_t number = 0;
};

/// Runs single trials of a planned experiment, wherever that happens.
class trial_runner {
 public:
  virtual ~trial_runner() = default;

  /// One trial of a configuration: a record per member. A failure of a run is told in its record.
  /// Throws `run_error` naming the configuration when it cannot be prepared, `interrupted_error`
  /// when `stop` is raised while it is.
  virtual std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                                      const stop_request* stop) = 0;
};

/// The device to run a plan on. Plans that differ in compute threads of `host` need different ones;
/// what it returns stays open until the runner is gone.
using device_source = std::function<device&(const plan&)>;

/// Runs trials in this process. Pipelines stay prepared from trial to trial as long as all of them
/// together fit into `memory_budget` bytes of device memory; otherwise those of other
/// configurations are given up and prepared anew. `planned` must outlive the runner.
///
/// Several members of a configuration run at once. Those with an arrival other than `closed` decide
/// how long that takes, or the first where none has one; the others go on until they have ended,
/// whatever their `frames`.
std::unique_ptr<trial_runner> make_trial_runner(const experiment_plan& planned,
                                                device_source devices, std::uint64_t memory_budget);

}  // namespace graphline
