#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// How long stages take in virtual time, and what they decide. Times are not negative.
struct virtual_times {
  /// Time of a CPU stage on its core, or of a device stage or copy on the device. Called when the
  /// stage starts; not called for a stage that is skipped or has no rows.
  std::function<nanoseconds(std::size_t stage, const frame_position& frame)> work;

  /// Host time of a launch: of a device stage, or of the frame's graph with the number of stages as
  /// index.
  std::function<nanoseconds(std::size_t stage, const frame_position& frame)> issue;

  /// Rows of a stage that depends on the frame, as in `stage_record::rows`; unset if no stage does.
  std::function<std::int32_t(std::size_t stage, const frame_position& frame)> rows = {};

  std::vector<nanoseconds> expected = {};  ///< by stage, for the policy; empty: all 0
};

/// The machine of a virtual session.
struct virtual_machine {
  std::vector<device_properties> devices;  ///< for the record, one for each of the plan
  int cores = 1;                           ///< for CPU stages
  nanoseconds wake_up = 0;  ///< from posting a CPU stage to its start on an idle core
  /// From a device stage's completion to its observation, and from the time to which a thread
  /// sleeps to its wake-up: both wake a thread.
  nanoseconds completion_delay = 0;
  /// From a launch on an idle device to the start of its work: after it was idle for `long_idle` or
  /// longer, and after less.
  nanoseconds device_start = 0;
  nanoseconds device_restart = 0;
  nanoseconds long_idle = 0;
};

/// Values that a run has instead of the plan's.
struct virtual_run_options {
  std::optional<std::int64_t> frames = {};
  std::optional<double> rate = {};                 ///< frames due per second; with arrivals
  std::optional<std::uint64_t> arrival_seed = {};  ///< of random arrival times; default: `seed`
};

/// Runs a plan in virtual time: the same executors as `session`, on `model` devices and a virtual
/// host. Devices do not slow each other. Stages compute nothing. Tensors have no memory, except
/// those that decide rows and conditions. Never reads the system's clock. Not thread-safe.
class virtual_session {
 public:
  /// @throws input_error if the plan's settings have no meaning in virtual time
  virtual_session(plan p, virtual_machine on);
  ~virtual_session();

  const plan& planned() const noexcept { return planned_; }

  /// Runs measured frames without warm-up. The record has no outputs, graphs, conditions, memory
  /// and environment.
  run_record run(const virtual_times& times, const virtual_run_options& options = {});

 private:
  class world;

  plan planned_;
  virtual_machine machine_;
  std::unique_ptr<world> world_;
};

}  // namespace graphline
