#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/machine_state.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/device_group.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

class executor;
class pipeline_policy;
class real_host;
template <class Host>
struct shared_resources;
class frame_feed;
class measured_frames;
class prepared_pipeline;
class recording;

/// Progress of a run. Reported on the driver thread, at most ten times a second.
struct progress {
  bool warmup = false;
  std::int64_t done = 0;
  std::int64_t total = 0;
};
using progress_function = std::function<void(const progress&)>;

struct run_options {
  std::optional<timing_method> timing = {};  ///< default: the plan's
  std::optional<std::int64_t> frames = {};
  std::optional<std::int64_t> warmup = {};
  std::optional<double> rate = {};  ///< frames due per second; not with `arrival: closed`
  /// Source of the frames; the plan must have an open load. The run ends after `frames` frames, or
  /// when the feed is closed and all submitted frames are complete.
  frame_feed* feed = nullptr;
  /// Seed of random arrival times; default: the plan's.
  std::optional<std::uint64_t> arrival_seed = {};
  /// Called after a successful warm-up, so that concurrent runs can begin together.
  std::function<void()> before_frames = {};
  /// Called after the last measured frame and before any other use of the device, which would
  /// disturb concurrent runs. Not called if a frame failed.
  std::function<void()> after_frames = {};
  /// Returns the pipeline's part of a policy for several pipelines; gets the expected times of its
  /// stages. Called after a successful warm-up. Unset: the policy is the pipeline's own.
  std::function<const pipeline_policy*(std::vector<nanoseconds> expected)> join_policy = {};
  /// Expected times of all stages for a policy that needs them, and the result files with these
  /// times, for the record. Empty: the medians of the warm-up.
  std::vector<nanoseconds> expected = {};
  std::vector<std::string> expected_from = {};
  /// Folder of tensors with which the outputs of the last frame are compared; empty for none.
  std::string reference = {};
  /// Folder for the outputs of each measured frame, as FOLDER/frame.N/output.NAME.npy with N as in
  /// the record; empty for none. A frame that was cut short is left out. Frames that run together
  /// are one folder, named after the first.
  std::string frame_outputs = {};
  /// Common origin of stamps, in host time. If set, the caller watches the device clock.
  std::optional<nanoseconds> common_epoch = {};
  /// Called before and after the measured frames.
  std::function<machine_state()> at_machine = read_machine_state;
  const stop_request* stop = nullptr;
  progress_function on_progress = {};
};

/// A plan prepared on its devices, with graphs captured. Can run any number of times. Not
/// thread-safe.
class session {
 public:
  /// @param on As many as the plan has; a single device converts.
  /// @pre The devices outlive the session.
  /// @throws run_error naming the stage that failed
  /// @throws interrupted_error if `stop` is raised during the preparation
  /// @param share What the pipeline shares with others; null for nothing
  /// @param time_launches Also time repeated launches of each graph, from which reports compute
  /// what graph launch saves
  session(plan p, device_group on, const stop_request* stop = nullptr,
          const shared_resources<real_host>* share = nullptr, bool time_launches = true);
  ~session();
  session(session&&) noexcept;

  const plan& planned() const noexcept;
  const device_group& devices() const noexcept;

  /// Returns the timing methods that the plan allows; omits `layers` if no stage has parts.
  std::vector<timing_method> timing_methods() const;

  /// Runs warm-up and measured frames. If a stage fails, returns a record of the frames completed
  /// before, and `failure` names the stage and the frame.
  /// @throws input_error for a timing method or rate that the plan does not allow
  /// @throws run_error if the method's instrumentation cannot be prepared
  run_record run(const run_options& options = {});

  /// Abandons a `run` in which a stage does not return. Call on another thread, and end the program
  /// afterwards, because `run` never returns. Returns a record of the complete measured frames,
  /// marked as interrupted, without outputs and conditions.
  ///
  /// Returns empty, and lets `run` continue, if no measured frame is complete.
  std::optional<run_record> abandon_run();

  /// Runs each device stage alone a few times and adds its operations to the record, or a warning
  /// if that fails. Overwrites the outputs of the last run, so save them first.
  void trace_operations(run_record& record, const stop_request* stop = nullptr);

  /// Writes inputs, weights and the last run's outputs into `directory`; creates it if missing. The
  /// NumPy files are named input.NAME.npy, weight.STAGE.NAME.npy and output.NAME.npy.
  void save_tensors(const std::string& directory);

 private:
  /// Returns the slot of the last pass that was not cut short, if it still has its values.
  std::optional<std::size_t> slot_of(const recording& of, std::int64_t completed) const;

  std::unique_ptr<prepared_pipeline> pipeline_;
  memory_usage memory_;                 ///< memory of the prepared pipeline
  std::vector<memory_usage> memories_;  ///< by device
  std::unique_ptr<executor> executor_;
  std::unique_ptr<measured_frames> measured_;
  std::optional<std::size_t> last_slot_;  ///< slot with the outputs of the last frame
};

}  // namespace graphline
