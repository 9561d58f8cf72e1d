#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

/// What a graph cost before the first frame and what it spares the host in each. Nanoseconds by the
/// host's clock.
struct graph_record {
  std::string name;               ///< of the stage, or "frame"
  std::vector<graph_node> nodes;  ///< in an order that satisfies every dependency
  std::size_t operations = 0;     ///< nodes that compute
  std::size_t executables = 0;    ///< one per frame in flight; the three below are of all together
  nanoseconds capture = 0;
  nanoseconds instantiate = 0;   ///< with its way to the device
  nanoseconds first_launch = 0;  ///< from the first launch of an executable until it is complete

  // Repetitions after that, of one executable: fewer of what takes long. A frame's CPU stages did
  // nothing in them.
  std::vector<nanoseconds> later_launch;  ///< from launch until complete
  std::vector<nanoseconds> launch;        ///< of the host, to launch
  std::vector<nanoseconds> eager;         ///< of the host, to enqueue the same one by one
};

template <class Archive>
void fields(Archive& a, part_of_record<graph_record> auto& of) {
  constexpr std::size_t most_executables = 1 << 9;  // one for each frame in flight
  a.value("name", of.name);
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

/// A file that the user wrote, as it was read.
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

/// A tensor as planned: who hands it to whom. A copy that was put in writes one of its own.
struct tensor_record {
  std::string name;
  tensor_type type;
  side on = side::device;
  std::optional<std::size_t> writer;  ///< index of a stage; nothing for an input of the pipeline
  std::vector<std::size_t> readers;   ///< stages, ascending; none for an output
};

template <class Archive>
void fields(Archive& a, part_of_record<tensor_record> auto& of) {
  a.value("name", of.name);
  a.type(of.type);
  a.value("on", of.on);
  a.value("writer", of.writer, index_below(a.stages));
  a.value("readers", of.readers, index_below(a.stages));
}

/// When a frame was due, when it began and when the host had seen its last stage complete. Under
/// `arrival: closed` it is due when it begins.
struct frame_record {
  nanoseconds due = 0;
  nanoseconds begin = 0;
  nanoseconds end = 0;
};

/// A tensor that nobody reads, after the last frame.
struct output_record {
  std::string tensor;
  tensor_type type;
  /// 16 hex digits: 64-bit FNV-1a over the bytes taken as little-endian words of 8, the last one
  /// filled up with zeros, its upper half folded onto the lower (h ^= h >> 32) after each word.
  std::string checksum;
  bool finite = true;  ///< false: holds NaN or infinity
  /// Up to `most_output_values` of its elements, evenly spaced from the first, so that results can
  /// be compared as numbers where checksums differ.
  std::vector<double> values = {};
};

template <class Archive>
void fields(Archive& a, part_of_record<output_record> auto& of) {
  a.value("tensor", of.tensor);
  a.type(of.type);
  a.value("checksum", of.checksum);
  a.value("finite", of.finite);
  a.value("values", of.values);
}
inline constexpr std::size_t most_output_values = 256;

/// What became of frames that were due on a schedule. All zero for `arrival: closed`.
struct load_record {
  std::vector<nanoseconds> dropped;  ///< when they had been due, ascending
  /// When those had been due, ascending, that a run which ended early left in the queue or undone.
  std::vector<nanoseconds> unfinished;
  nanoseconds ended = 0;           ///< the moment up to which frames were due
  std::int64_t found_full = 0;     ///< frames that were due while the queue was full
  std::int64_t longest_queue = 0;  ///< frames that waited at once, at most
};

template <class Archive>
void fields(Archive& a, part_of_record<load_record> auto& of) {
  a.value("dropped", of.dropped, any_time);
  a.value("unfinished", of.unfinished, any_time);
  a.value("ended_ns", of.ended, any_time);
  a.value("found_full", of.found_full);
  a.value("longest_queue", of.longest_queue);
}

/// What the system's scheduler gave a thread.
struct thread_time {
  std::string thread;  ///< its name; threads of one name count together
  nanoseconds on_cpu = 0;
  nanoseconds waited = 0;  ///< ready to run, while others had the core
};

template <class Archive>
void fields(Archive& a, part_of_record<thread_time> auto& of) {
  a.value("thread", of.thread);
  a.value("on_cpu_ns", of.on_cpu, any_time);
  a.value("waited_ns", of.waited, any_time);
}

/// A time in which no thread of the process ran, and none waited for a core.
struct standstill_record {
  nanoseconds begin = 0;
  nanoseconds length = 0;  ///< at least, to some 20 ms
  bool suspended = false;  ///< with the machine, whose clock stood still too
};

template <class Archive>
void fields(Archive& a, part_of_record<standstill_record> auto& of) {
  a.value("begin_ns", of.begin, any_time);
  a.value("length_ns", of.length, any_time);
  a.value("suspended", of.suspended);
}

/// What else went on over the measured frames. Nothing where it is not known.
struct conditions_record {
  nanoseconds lasted = 0;                  ///< from before the first of them to after the last
  int cores = 0;                           ///< that the process could run on
  std::optional<double> load_before = {};  ///< the system's load average over a minute
  std::optional<double> load_after = {};
  std::optional<nanoseconds> steal = {};   ///< that a hypervisor took from all these cores together
  std::optional<nanoseconds> others = {};  ///< processor time of other processes on these cores
  std::optional<nanoseconds> throttled = {};  ///< threads held back by the group's CPU quota
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

/// Everything one run produced, in raw form. Every report is computed from this alone.
struct run_record {
  std::string pipeline;
  std::string description;
  std::optional<source_record> source;  ///< nothing for a pipeline made in C++ and for trials
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::pair<std::string, std::string>> files;  ///< path and checksum of what it read
  settings run;                                            ///< as it was carried out
  device_properties device;
  int cpu_cores = 0;  ///< that CPU stages could have at once; 0: not known
  std::vector<std::pair<std::string, std::string>> environment;  ///< versions, machine, date
  memory_usage memory;          ///< of this pipeline; its peak while it was prepared
  nanoseconds clock_error = 0;  ///< of device stamps on the host's clock, at most, if drift is even
  nanoseconds clock_drift = 0;  ///< of the device's clock over the frames, taken out of the stamps
  nanoseconds processor_time = 0;  ///< of all threads of the process, over the measured frames
  std::optional<conditions_record> conditions = {};  ///< nothing where no frame was begun
  std::vector<frame_record> frames;                  ///< those that ran to their end
  /// Host clock around the launch of each frame's graph: `graphs: frame`, all methods but none.
  std::vector<stamp_pair> launches;
  /// Stage whose return or completion ended each frame. All methods but none; empty in a frame's
  /// graph.
  std::vector<std::uint32_t> ended_by;
  std::vector<std::string> threads;  ///< host threads that had a part, by name: "main", "worker 1"
  load_record load;
  std::optional<graphline::calibration> calibration;  ///< of the device, where there was one
  std::vector<stage_record> stages;                   ///< in planned order
  std::vector<tensor_record> tensors;
  std::vector<graph_record> graphs;  ///< one per device stage, or the frame's; none without graphs
  std::vector<output_record> outputs;
  std::vector<std::string> warnings;
  bool interrupted = false;            ///< stopped by a person before all frames were done
  std::optional<std::string> failure;  ///< what ended the run early
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
  a.value("cpu_cores", of.cpu_cores);
  a.value("environment", of.environment);
  a.value("memory", of.memory);
  a.value("clock_error_ns", of.clock_error, any_time);
  a.value("clock_drift_ns", of.clock_drift, any_time);
  a.value("processor_time_ns", of.processor_time, any_time);
  a.value("conditions", of.conditions);
  a.value("frames", of.frames);
  a.frames = of.frames.size();
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

/// Whether a time in it ends before it begins: a clock went back meanwhile, and no time can be
/// relied on.
bool goes_back(const run_record& record) noexcept;

/// Frames that were due by the end of the run, whatever became of them.
std::size_t frames_due(const run_record& record) noexcept;

}  // namespace graphline
