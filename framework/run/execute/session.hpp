#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/machine_state.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

class executor;
class frame_feed;
class measured_frames;
class prepared_pipeline;

/// Progress of a run, reported on its driver thread about ten times a second at most.
struct progress {
  bool warmup = false;
  std::int64_t done = 0;
  std::int64_t total = 0;
};
using progress_function = std::function<void(const progress&)>;

/// Options of one run of a session.
struct run_options {
  std::optional<timing_method> timing = {};  ///< default: the plan's
  std::optional<std::int64_t> frames = {};
  std::optional<std::int64_t> warmup = {};
  std::optional<double> rate = {};  ///< frames due per second; not with `arrival: closed`
  /// Source of frames instead of a clock; the plan must have an open load. The run ends after
  /// `frames` frames, or once the feed is closed and the submitted frames are complete.
  frame_feed* feed = nullptr;
  /// Seed of the arrival times under `arrival: poisson`; default: the plan's seed.
  std::optional<std::uint64_t> arrival_seed = {};
  /// Called between the warm-up and the first measured frame, so that concurrent runs can begin
  /// together. Not called if the warm-up failed or was stopped.
  std::function<void()> before_frames = {};
  /// Called after the last measured frame and before any other use of the device, so that
  /// concurrent runs are not disturbed. Not called if a frame failed.
  std::function<void()> after_frames = {};
  /// Common origin of the stamps of concurrent runs, on the host's clock. If set, the caller
  /// watches the device clock.
  std::optional<nanoseconds> common_epoch = {};
  /// Observes the machine before and after the measured frames.
  std::function<machine_state()> at_machine = read_machine_state;
  const stop_request* stop = nullptr;
  progress_function on_progress = {};
};

/// A plan prepared on a device, with graphs captured. Runs any number of times. Not thread-safe.
class session {
 public:
  /// @pre `d` outlives the session.
  /// @throws run_error naming the stage that failed
  /// @throws interrupted_error if `stop` is raised during the preparation
  session(plan p, graphline::device& d, const stop_request* stop = nullptr);
  ~session();
  session(session&&) noexcept;

  const plan& planned() const noexcept;
  graphline::device& device() const noexcept;

  /// Returns the timing methods that the plan's settings allow; `layers` only if a stage has parts.
  std::vector<timing_method> timing_methods() const;

  /// Runs warm-up and measured frames. If a stage fails, returns a record of the frames completed
  /// before; its `failure` names the stage and the frame.
  /// @throws input_error for a timing method or rate that the plan does not allow
  /// @throws run_error if the method's instrumentation cannot be prepared
  run_record run(const run_options& options = {});

  /// Abandons a `run` in which a stage does not return; call on another thread. Returns the record
  /// of the complete measured frames, marked as interrupted, without outputs and conditions. `run`
  /// then never returns, so end the program. Returns empty if no measured frame is complete or
  /// nothing runs; a run then continues.
  std::optional<run_record> abandon_run();

  /// Runs each device stage alone a few times, traces its operations and adds them to the record.
  /// If that fails, adds a warning. Overwrites the outputs of the last run, so save them first.
  void trace_operations(run_record& record, const stop_request* stop = nullptr);

  /// Writes inputs, weights and the last run's outputs into `directory`, which is created if
  /// missing. The NumPy files are named input.NAME.npy, weight.STAGE.NAME.npy and output.NAME.npy.
  void save_tensors(const std::string& directory);

 private:
  /// Returns the slot of the last of `completed` frames.
  std::optional<std::size_t> slot_of(std::int64_t completed) const;

  std::unique_ptr<prepared_pipeline> pipeline_;
  memory_usage memory_;  ///< memory of the prepared pipeline
  std::unique_ptr<executor> executor_;
  std::unique_ptr<measured_frames> measured_;
  std::optional<std::size_t> last_slot_;  ///< slot with the outputs of the last frame
};

}  // namespace graphline
