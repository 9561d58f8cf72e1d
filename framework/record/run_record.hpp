#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/precision.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/device/device.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/record/fields.hpp"
#include "framework/record/stage_record.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// Setup cost of a graph, and host time to submit its operations with and without the graph. Times
/// are on the host's clock.
struct graph_record {
  std::string name;               ///< of the stage, or "frame"
  std::int64_t rows = 0;          ///< the stage's bucket; 0 without buckets
  std::vector<graph_node> nodes;  ///< in topological order
  std::size_t operations = 0;     ///< nodes that compute
  std::size_t executables = 0;    ///< one per frame in flight; the next three times are their sums
  nanoseconds capture = 0;
  nanoseconds instantiate = 0;   ///< including the upload to the device
  nanoseconds first_launch = 0;  ///< from an executable's first launch to its completion

  // Repeated launches of one executable, in which CPU stages do nothing; fewer for longer graphs.
  // Empty in trials of an experiment.
  std::vector<nanoseconds> later_launch;  ///< from launch to completion
  std::vector<nanoseconds> launch;        ///< host time to launch the graph
  std::vector<nanoseconds> eager;         ///< host time to enqueue its operations one by one
};

template <class Archive>
void fields(Archive& a, part_of_record<graph_record> auto& of) {
  constexpr std::size_t most_executables = 1 << 9;  // one for each frame in flight
  a.value("name", of.name);
  a.value("rows", of.rows, row_count);
  a.value("operations", of.operations);
  a.value("executables", of.executables, index_below(most_executables));
  a.value("capture_ns", of.capture, any_time);
  a.value("instantiate_ns", of.instantiate, any_time);
  a.value("first_launch_ns", of.first_launch, any_time);
  a.value("later_launch_ns", of.later_launch, any_time);
  a.value("launch_ns", of.launch, any_time);
  a.value("eager_ns", of.eager, any_time);
  a.value("nodes", of.nodes);
}

/// An input file as it was read.
struct source_record {
  std::string file;
  std::string text;
  friend bool operator==(const source_record&, const source_record&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<source_record> auto& of) {
  a.value("file", of.file);
  a.value("text", of.text);
}

/// A tensor of the plan. An inserted copy may write it.
struct tensor_record {
  std::string name;
  tensor_type type;
  side on = side::device;
  std::optional<std::size_t> writer;  ///< stage index; empty for a pipeline input
  std::vector<std::size_t> readers;   ///< stage indices, ascending; none for an output
};

template <class Archive>
void fields(Archive& a, part_of_record<tensor_record> auto& of) {
  a.value("name", of.name);
  a.type(of.type);
  a.value("on", of.on);
  a.value("writer", of.writer, index_below(a.stages));
  a.value("readers", of.readers, index_below(a.stages));
}

/// Times at which a frame was due, began, and was seen complete by the host. With `arrival:
/// closed`, a frame is due when it begins.
struct frame_record {
  nanoseconds due = 0;
  nanoseconds begin = 0;
  nanoseconds end = 0;
};

/// Frames that ran together, through the pipeline once.
struct batch_record {
  std::int32_t frames = 0;
  /// When the first of them was due and a slot was free, so that it began to wait for others.
  nanoseconds ready = 0;
};

/// An output tensor after the last frame.
struct output_record {
  std::string tensor;
  tensor_type type;
  /// 16 hex digits: 64-bit FNV-1a over little-endian 8-byte words, the last word padded with zeros,
  /// with h ^= h >> 32 after each word.
  std::string checksum;
  bool finite = true;  ///< false: contains NaN or infinity
  /// Rows of the last frame, which the other values describe; 0 if it has none or skipped the
  /// producer. Empty if the tensor is whole in every frame.
  std::optional<std::int64_t> rows = {};
  /// Up to `most_output_values` evenly spaced elements, to compare results whose checksums differ.
  std::vector<double> values = {};
  /// Largest absolute difference from a reference tensor, and the same divided by the largest
  /// absolute value of the reference, if that is not 0. `most_error` if only one of two elements is
  /// a number, or if infinities differ. Empty without a reference.
  std::optional<double> error = {};
  std::optional<double> relative_error = {};
};
inline constexpr double most_error = std::numeric_limits<double>::max();

template <class Archive>
void fields(Archive& a, part_of_record<output_record> auto& of) {
  a.value("tensor", of.tensor);
  a.type(of.type);
  a.value("checksum", of.checksum);
  a.value("finite", of.finite);
  a.value("rows", of.rows, rows_within(of.type.shape));
  a.value("values", of.values);
  a.value("error", of.error);
  a.value("relative_error", of.relative_error);
}
inline constexpr std::size_t most_output_values = 256;

/// Outcome of the load. With `arrival: closed`, zero or empty apart from frames cut short.
struct load_record {
  /// Due times of the frames that did not complete because a full queue or `late` dropped them,
  /// ascending.
  std::vector<nanoseconds> dropped;
  std::vector<nanoseconds> unfinished;  ///< due times of frames that an aborted run left, ascending
  nanoseconds ended = 0;                ///< end of the arrivals
  std::int64_t found_full = 0;          ///< arrivals that found the queue full
  std::int64_t longest_queue = 0;       ///< maximum queue length
  std::int64_t cut_short = 0;           ///< dropped frames that had begun: `late: skip_rest`
};

template <class Archive>
void fields(Archive& a, part_of_record<load_record> auto& of) {
  a.value("dropped", of.dropped, any_time);
  a.value("unfinished", of.unfinished, any_time);
  a.value("ended_ns", of.ended, any_time);
  a.value("found_full", of.found_full);
  a.value("longest_queue", of.longest_queue);
  a.value("cut_short", of.cut_short);
}

/// Scheduling statistics of a thread.
struct thread_time {
  std::string thread;  ///< its name; threads of one name count together
  nanoseconds on_cpu = 0;
  nanoseconds waited = 0;  ///< runnable but not running
};

template <class Archive>
void fields(Archive& a, part_of_record<thread_time> auto& of) {
  a.value("thread", of.thread);
  a.value("on_cpu_ns", of.on_cpu, any_time);
  a.value("waited_ns", of.waited, any_time);
}

/// A period in which no thread of the process was running or runnable.
struct standstill_record {
  nanoseconds begin = 0;
  nanoseconds length = 0;  ///< a lower bound, to about 20 ms
  bool suspended = false;  ///< the machine was suspended
};

template <class Archive>
void fields(Archive& a, part_of_record<standstill_record> auto& of) {
  a.value("begin_ns", of.begin, any_time);
  a.value("length_ns", of.length, any_time);
  a.value("suspended", of.suspended);
}

/// State of the machine during the measured frames. Unknown values are empty.
struct conditions_record {
  nanoseconds lasted = 0;                  ///< duration of the measured frames
  int cores = 0;                           ///< in the affinity mask of the process
  std::optional<double> load_before = {};  ///< load average over one minute
  std::optional<double> load_after = {};
  std::optional<nanoseconds> steal = {};      ///< taken by a hypervisor, summed over these cores
  std::optional<nanoseconds> others = {};     ///< CPU time of other processes on these cores
  std::optional<nanoseconds> throttled = {};  ///< throttling by the cgroup's CPU quota
  std::optional<double> clock_before = {};    ///< of the core that drives the run, in MHz
  std::optional<double> clock_after = {};
  std::optional<device_state> device_before = {};
  std::optional<device_state> device_after = {};
  std::vector<thread_time> threads = {};            ///< of this process, those that ran or waited
  std::vector<standstill_record> standstills = {};  ///< of this process, in order
};

template <class Archive>
void fields(Archive& a, part_of_record<conditions_record> auto& of) {
  a.value("lasted_ns", of.lasted, any_time);
  a.value("cores", of.cores);
  a.value("load_before", of.load_before);
  a.value("load_after", of.load_after);
  a.value("steal_ns", of.steal, any_time);
  a.value("others_ns", of.others, any_time);
  a.value("clock_mhz_before", of.clock_before);
  a.value("clock_mhz_after", of.clock_after);
  a.value("device_before", of.device_before);
  a.value("device_after", of.device_after);
  a.value("threads", of.threads);
  a.value("throttled_ns", of.throttled, any_time);
  a.value("standstills", of.standstills);
}

/// A figure of a predicted run: its 95 % interval, by resampling the source's frames.
struct predicted_figure {
  std::string name;  ///< "mean" or "p95" of the end-to-end times in ns, "throughput" in frame/s
  double low = 0;
  double high = 0;
};

template <class Archive>
void fields(Archive& a, part_of_record<predicted_figure> auto& of) {
  a.value("name", of.name);
  a.value("low", of.low, from_0);
  a.value("high", of.high, from_0);
}

/// The end-to-end times of a predicted run in which one stage takes 10 % less time.
struct faster_stage {
  std::string stage;
  nanoseconds mean = 0;
  nanoseconds p50 = 0;  ///< the lower median
  std::optional<nanoseconds> p95 = {};
};

template <class Archive>
void fields(Archive& a, part_of_record<faster_stage> auto& of) {
  a.value("stage", of.stage);
  a.value("mean_ns", of.mean, any_time);
  a.value("p50_ns", of.p50, any_time);
  a.value("p95_ns", of.p95, any_time);
}

/// The longest time of a stage in a bound on a frame's time.
struct longest_stage {
  std::string stage;
  nanoseconds at_most = 0;
  bool stated = false;  ///< by the user; else the longest in the sources
};

template <class Archive>
void fields(Archive& a, part_of_record<longest_stage> auto& of) {
  a.value("stage", of.stage);
  a.value("at_most_ns", of.at_most, any_time);
  a.value("stated", of.stated);
}

/// A bound on a frame's time from when it is due to its end.
struct worst_case {
  nanoseconds bound = 0;
  nanoseconds issue = 0;                   ///< part of it: issue times of all stages
  nanoseconds delays = 0;                  ///< part of it: other delays of the host and the device
  std::optional<nanoseconds> period = {};  ///< between due frames; `bound` must not exceed it
  std::vector<longest_stage> stages;       ///< that take time or have a stated one
};

template <class Archive>
void fields(Archive& a, part_of_record<worst_case> auto& of) {
  a.value("bound_ns", of.bound, any_time);
  a.value("issue_ns", of.issue, any_time);
  a.value("delays_ns", of.delays, any_time);
  a.value("period_ns", of.period, any_time);
  a.value("stages", of.stages);
}

/// Factors of the times of a device stage on another device.
struct stage_factor {
  std::string stage;
  double low = 1;
  double best = 1;
  double high = 1;
};

template <class Archive>
void fields(Archive& a, part_of_record<stage_factor> auto& of) {
  a.value("stage", of.stage);
  a.value("low", of.low, from_0);
  a.value("best", of.best, from_0);
  a.value("high", of.high, from_0);
}

/// A prediction for another device than the source's.
struct device_change {
  std::string source_device;
  bool public_figures = true;  ///< ceilings of both devices are public figures, else measured
  std::vector<stage_factor> factors;
};

template <class Archive>
void fields(Archive& a, part_of_record<device_change> auto& of) {
  a.value("source_device", of.source_device);
  a.value("public_figures", of.public_figures);
  a.value("factors", of.factors);
}

/// Where a predicted run comes from.
struct prediction_record {
  std::vector<std::string> sources;  ///< result files of the runs whose stage times were used
  settings source_run;
  int source_cores = 0;              ///< for CPU stages; 0: unknown
  std::int64_t source_frames = 0;    ///< whose times were used
  std::int64_t replicates = 0;       ///< runs in virtual time behind the intervals
  nanoseconds wake_up = 0;           ///< from posting a CPU stage to its start on an idle core
  nanoseconds completion_delay = 0;  ///< from a device stage's completion to its observation
  /// From a launch on a device that was idle for 50 us or longer to the start of its work, and on
  /// one that was idle for less.
  nanoseconds device_start = 0;
  nanoseconds device_restart = 0;
  std::vector<std::pair<std::string, std::string>> scaled;  ///< factors of stages' times, by name
  std::vector<predicted_figure> figures;
  std::vector<faster_stage> sensitivity = {};  ///< of each stage that takes time; if requested
  std::optional<graphline::worst_case> worst_case = {};  ///< if requested
  std::optional<graphline::device_change> device_change = {};
};

template <class Archive>
void fields(Archive& a, part_of_record<prediction_record> auto& of) {
  a.value("sources", of.sources);
  a.value("source_settings", of.source_run);
  a.value("source_cores", of.source_cores);
  a.value("source_frames", of.source_frames, from_1);
  a.value("replicates", of.replicates, from_0);
  a.value("wake_up_ns", of.wake_up, any_time);
  a.value("completion_delay_ns", of.completion_delay, any_time);
  a.value("device_start_ns", of.device_start, any_time);
  a.value("device_restart_ns", of.device_restart, any_time);
  a.value("scaled", of.scaled);
  a.value("figures", of.figures);
  a.value("sensitivity", of.sensitivity);
  a.value("worst_case", of.worst_case);
  a.value("device_change", of.device_change);
}

/// What the settings do not tell of a run's policy.
struct policy_record {
  urgency order = urgency::none;           ///< that it keeps
  std::vector<std::string> expected_from;  ///< result files with the expected times of stages
};

template <class Archive>
void fields(Archive& a, part_of_record<policy_record> auto& of) {
  a.value("order", of.order);
  a.value("expected_from", of.expected_from);
}

/// A device that a run's pipeline declares.
struct device_record {
  std::string name;  ///< in the pipeline
  device_properties properties;
  memory_usage memory = {};     ///< used by the pipeline, at its peak also in preparation
  nanoseconds clock_error = 0;  ///< as in the run
  nanoseconds clock_drift = 0;
  std::optional<device_state> before = {};  ///< the measured frames
  std::optional<device_state> after = {};
  std::optional<graphline::calibration> calibration = {};  ///< if it was calibrated; see the run's
};

template <class Archive>
void fields(Archive& a, part_of_record<device_record> auto& of) {
  a.value("name", of.name);
  a.value("properties", of.properties);
  a.value("memory", of.memory);
  a.value("clock_error_ns", of.clock_error, any_time);
  a.value("clock_drift_ns", of.clock_drift, any_time);
  a.value("before", of.before);
  a.value("after", of.after);
  a.value("calibration", of.calibration);
}

/// Raw results of a run, from which all its reports are computed.
struct run_record {
  std::string pipeline;
  std::string description;
  std::optional<source_record> source;  ///< empty for pipelines built in C++ and for trials
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::pair<std::string, std::string>> files;  ///< paths and checksums of its inputs
  settings run;                                            ///< as executed
  device_properties device;                                ///< the first
  std::vector<device_record> devices;  ///< all; empty if the pipeline declares none
  int cpu_cores = 0;                   ///< available to CPU stages; 0: unknown
  std::vector<std::pair<std::string, std::string>> environment;  ///< versions, machine, date
  memory_usage memory;  ///< of this pipeline; the peak includes preparation
  /// CLOCK_MONOTONIC at the time from which all stamps count; empty in virtual time.
  std::optional<nanoseconds> epoch = {};
  nanoseconds clock_error = 0;  ///< maximum error of device stamps, assuming even drift
  nanoseconds clock_drift = 0;  ///< of the device's clock during the run; corrected in the stamps
  nanoseconds processor_time = 0;  ///< CPU time of the process during the measured frames
  std::optional<conditions_record> conditions = {};  ///< empty if no frame began
  std::optional<prediction_record> prediction = {};  ///< of a run in virtual time
  std::optional<policy_record> policy = {};          ///< empty if stages start in the default order
  std::vector<frame_record> frames;                  ///< completed frames
  /// With `batch_frames`, the passes through the pipeline: each entry stands for that many of
  /// `frames`, in order, and the columns of stages have one entry per pass. Empty without.
  std::vector<batch_record> batches;
  /// Host clock before and after each frame's graph launch. Filled with `graphs: frame`, under all
  /// timing methods except none.
  std::vector<stamp_pair> launches;
  /// Index of the stage whose return or completion ended each frame. Filled under every timing
  /// method except `none`, but not with `graphs: frame`.
  std::vector<std::uint32_t> ended_by;
  std::vector<std::string> threads;  ///< names of the host threads involved: "main", "worker 1"
  load_record load;
  /// Of the device, if it was calibrated. With several, each of `devices` has its own.
  std::optional<graphline::calibration> calibration;
  std::vector<stage_record> stages;  ///< in planned order
  std::vector<tensor_record> tensors;
  std::vector<graph_record> graphs;  ///< one per device stage, or the frame's
  std::vector<output_record> outputs;
  std::vector<std::string> warnings;
  bool interrupted = false;            ///< stopped by the user before all frames completed
  std::optional<std::string> failure;  ///< error that ended the run
};

template <class Archive>
void fields(Archive& a, part_of_record<run_record> auto& of) {
  a.value("pipeline", of.pipeline);
  a.value("description", of.description);
  a.value("source", of.source);
  a.value("parameters", of.parameters);
  a.value("files", of.files);
  a.value("settings", of.run);
  a.value("device", of.device);
  a.value("devices", of.devices);
  a.devices = std::max<std::size_t>(1, of.devices.size());
  a.value("cpu_cores", of.cpu_cores);
  a.value("environment", of.environment);
  a.value("memory", of.memory);
  a.value("epoch_ns", of.epoch, from_0);
  a.value("clock_error_ns", of.clock_error, any_time);
  a.value("clock_drift_ns", of.clock_drift, any_time);
  a.value("processor_time_ns", of.processor_time, any_time);
  a.value("conditions", of.conditions);
  a.value("prediction", of.prediction);
  a.value("policy", of.policy);
  a.value("frames", of.frames);
  a.batches("batches", of.batches, of.frames.size());
  a.frames = of.batches.empty() ? of.frames.size() : of.batches.size();
  a.column("launches", of.launches);
  a.value("threads", of.threads);
  a.threads = of.threads.size();
  a.value("load", of.load);
  a.value("calibration", of.calibration);
  a.value("stages", of.stages);
  a.column("ended_by", of.ended_by, index_below(a.stages));
  a.value("tensors", of.tensors);
  a.value("graphs", of.graphs);
  a.value("outputs", of.outputs);
  a.value("warnings", of.warnings);
  a.value("interrupted", of.interrupted);
  a.value("failure", of.failure);
}

/// Returns a figure of a prediction; null if it has none of this name.
const predicted_figure* figure_of(const prediction_record& of, std::string_view name) noexcept;

/// Returns the properties of the device of a device stage.
inline const device_properties& device_of(const run_record& record, const stage_record& stage) {
  return record.devices.empty() ? record.device : record.devices[stage.device_index].properties;
}

/// Returns the calibration of a device; empty if it was not calibrated.
inline std::optional<calibration>& calibration_of(run_record& record, std::size_t device) {
  return record.devices.size() > 1 ? record.devices[device].calibration : record.calibration;
}
inline const std::optional<calibration>& calibration_of(const run_record& record,
                                                        std::size_t device) {
  return record.devices.size() > 1 ? record.devices[device].calibration : record.calibration;
}

/// Returns true if any interval ends before it begins, which makes all times unreliable.
bool goes_back(const run_record& record) noexcept;

/// Returns the sum of completed, dropped and unfinished frames.
std::size_t frames_due(const run_record& record) noexcept;

}  // namespace graphline
