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
  /// together; not if the warm-up failed or was stopped.
  std::function<void()> before_frames = {};
  /// Called after the last measured frame and before further device use, so that concurrent runs
  /// are not disturbed; not if a frame failed.
  std::function<void()> after_frames = {};
  /// Common origin of the stamps of concurrent runs, on the host's clock. The caller then watches
  /// the device clock.
  std::optional<nanoseconds> common_epoch = {};
  /// Observes the machine before and after the measured frames.
  std::function<machine_state()> at_machine = read_machine_state;
  const stop_request* stop = nullptr;
  progress_function on_progress = {};
};

/// A plan prepared on a device: stages prepared, memory placed, graphs captured. Runs any number of
/// times. Not thread-safe.
class session {
 public:
  /// Prepares every stage.
  /// @pre `d` outlives the session.
  /// @throws run_error naming the stage that failed
  /// @throws interrupted_error if `stop` is raised meanwhile
  session(plan p, graphline::device& d, const stop_request* stop = nullptr);
  ~session();
  session(session&&) noexcept;

  const plan& planned() const noexcept;
  graphline::device& device() const noexcept;

  /// Timing methods that the plan's settings allow; `layers` only if a stage has parts.
  std::vector<timing_method> timing_methods() const;

  /// Runs warm-up and measured frames. If a stage fails, returns the record of the frames completed
  /// before, whose `failure` names stage and frame.
  /// @throws input_error for a timing method or rate that the plan does not allow
  /// @throws run_error if the method's instrumentation cannot be prepared
  run_record run(const run_options& options = {});

  /// Abandons, from another thread, a `run` that does not return from a stage. Returns the record
  /// of the complete measured frames, marked as interrupted, without outputs and conditions; `run`
  /// then never returns, so end the program. Empty if there is no such frame or no run; the run
  /// then continues.
  std::optional<run_record> abandon_run();

  /// Traces the operations of each device stage, run alone a few times, and adds them to the
  /// record. If tracing fails, adds a warning instead. Overwrites the outputs of the last run: save
  /// them first.
  void trace_operations(run_record& record, const stop_request* stop = nullptr);

  /// Writes inputs, weights and the last run's outputs as NumPy files into `directory`, which is
  /// created if missing: input.NAME.npy, weight.STAGE.NAME.npy, output.NAME.npy.
  void save_tensors(const std::string& directory);

 private:
  /// The slot of the last of `completed` frames.
  std::optional<std::size_t> slot_of(std::int64_t completed) const;

  std::unique_ptr<prepared_pipeline> pipeline_;
  memory_usage memory_;  ///< of the prepared pipeline
  std::unique_ptr<executor> executor_;
  std::unique_ptr<measured_frames> measured_;
  std::optional<std::size_t> last_slot_;  ///< holds the outputs of the last frame
};

}  // namespace graphline
