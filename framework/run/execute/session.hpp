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

/// Told how far a run is, from the thread that drives it, at most about ten times a second.
struct progress {
  bool warmup = false;
  std::int64_t done = 0;
  std::int64_t total = 0;
};
using progress_function = std::function<void(const progress&)>;

/// What may differ from run to run of one session.
struct run_options {
  std::optional<timing_method> timing = {};  ///< default: the plan's
  std::optional<std::int64_t> frames = {};
  std::optional<std::int64_t> warmup = {};
  std::optional<double> rate = {};  ///< frames due in a second; not for `arrival: closed`
  /// Where frames come from, in place of the clock of an open load, which the plan has to have. The
  /// run ends after `frames` frames, or once the feed is closed and all submitted ones are done.
  frame_feed* feed = nullptr;
  /// Of the moments at which frames are due under `arrival: poisson`; default: the plan's seed.
  std::optional<std::uint64_t> arrival_seed = {};
  /// Called once between the warm-up and the first measured frame, so that several runs can begin
  /// together; not when the warm-up has failed or was stopped.
  std::function<void()> before_frames = {};
  /// Called once after the last measured frame, before the device is used for anything else, so
  /// that what comes then disturbs no other run; not when a frame has failed.
  std::function<void()> after_frames = {};
  /// Of runs that go on at once: the moment on the host's clock from which all their stamps count.
  /// Whoever began them then watches the clock of their device.
  std::optional<nanoseconds> common_epoch = {};
  /// How the machine is looked at before and after the measured frames.
  std::function<machine_state()> at_machine = read_machine_state;
  const stop_request* stop = nullptr;
  progress_function on_progress = {};
};

/// A plan made ready on a device: stages prepared, memory placed, graphs captured. Runs it any
/// number of times. Not for use by two threads at once.
class session {
 public:
  /// Prepares every stage. Throws `run_error` naming the stage that failed, `interrupted_error`
  /// when `stop` is raised meanwhile. `d` must outlive the session.
  session(plan p, graphline::device& d, const stop_request* stop = nullptr);
  ~session();
  session(session&&) noexcept;

  const plan& planned() const noexcept;
  graphline::device& device() const noexcept;

  /// The timing methods that make sense for the plan: those that its settings allow, `layers` only
  /// where a stage has parts to tell apart.
  std::vector<timing_method> timing_methods() const;

  /// Runs warm-up and measured frames. A failure in a stage does not throw: the record that comes
  /// back holds the frames completed before it, and `failure` says what happened, naming stage and
  /// frame. Throws `input_error` for a timing method or a rate that the plan does not allow,
  /// `run_error` where what the method takes cannot be prepared.
  run_record run(const run_options& options = {});

  /// From another thread, for a `run` that does not come back from a stage: the record of the
  /// measured frames that are complete, as an interrupted one, without outputs and conditions. That
  /// `run` never returns then; end the program. Nothing where there is no such frame or no such
  /// run, which then goes on.
  std::optional<run_record> abandon_run();

  /// Runs each device stage alone a few times while the device notes its operations, and adds these
  /// to the record. What cannot be traced, and why, becomes a warning of the record. The outputs of
  /// the last run are overwritten: save them first.
  void trace_operations(run_record& record, const stop_request* stop = nullptr);

  /// Writes the inputs, the weights and, as the last run left them, the outputs as NumPy files into
  /// `directory`, made if it is missing: input.NAME.npy, weight.STAGE.NAME.npy, output.NAME.npy.
  void save_tensors(const std::string& directory);

 private:
  /// The slot of the last of so many frames.
  std::optional<std::size_t> slot_of(std::int64_t completed) const;

  std::unique_ptr<prepared_pipeline> pipeline_;
  memory_usage memory_;  ///< of the pipeline, once prepared
  std::unique_ptr<executor> executor_;
  std::unique_ptr<measured_frames> measured_;
  std::optional<std::size_t> last_slot_;  ///< holds the outputs of the last frame
};

}  // namespace graphline
