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
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// What a stage or a part of one amounts to in a frame, as it was carried out: counted as
/// docs/costs.md says, without what only passed between layers that were computed as one. Absent:
/// not known.
struct cost_record {
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes_read;
  std::optional<std::int64_t> bytes_written;
  precision arithmetic = precision::float32;  ///< of its products
  friend bool operator==(const cost_record&, const cost_record&) = default;
};

/// Read and written together; not known where one of them is not.
inline std::optional<std::int64_t> bytes_of(const cost_record& cost) {
  if (!cost.bytes_read || !cost.bytes_written) return std::nullopt;
  return *cost.bytes_read + *cost.bytes_written;
}

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

/// A begin and an end, in nanoseconds since the run's epoch.
struct stamp_pair {
  nanoseconds begin = 0;
  nanoseconds end = 0;
  nanoseconds length() const noexcept { return end - begin; }
};

/// A part of a device stage, such as a layer of a network.
struct part_record {
  std::string name;
  std::string choice;              ///< what carries it out
  std::vector<stamp_pair> device;  ///< between the events on either side of it: layers
  cost_record cost = {};
  std::vector<nanoseconds> busy = {};  ///< of `device`, as of a stage
};

/// An operation of a device stage as a trace of the stage alone saw it.
struct operation_record {
  std::string name;
  std::vector<nanoseconds> calls;     ///< how long each took, in all traced runs
  std::vector<nanoseconds> together;  ///< of all calls in a run, for each run that had any
};

/// A file that the user wrote, as it was read.
struct source_record {
  std::string file;
  std::string text;
  friend bool operator==(const source_record&, const source_record&) = default;
};

/// What a stage waits for, as planned.
struct wait_record {
  std::size_t stage = 0;  ///< index of the earlier stage
  satisfied_by how = satisfied_by::stream_order;
  friend bool operator==(const wait_record&, const wait_record&) = default;
};

/// A tensor as planned: who hands it to whom. A copy that was put in writes one of its own.
struct tensor_record {
  std::string name;
  tensor_type type;
  side on = side::device;
  std::optional<std::size_t> writer;  ///< index of a stage; nothing for an input of the pipeline
  std::vector<std::size_t> readers;   ///< stages, ascending; none for an output
};

/// The raw samples of one stage: one entry per measured frame in each column the timing method
/// fills, none in the others. 16 bytes per frame and column.
struct stage_record {
  std::string name;
  std::string kind;
  side on = side::device;
  bool copy = false;
  graphline::priority priority = graphline::priority::normal;  ///< as declared
  std::string stream;                                          ///< name; empty for a CPU stage
  cost_record cost;                ///< the sum of its parts' where it has any
  std::vector<wait_record> waits;  ///< by earlier stage, ascending, each once
  /// Device stage, host clock around the launch: host, callback, event, layers.
  std::vector<stamp_pair> enqueued;
  /// Device stage, between its two events: event, layers; or calls of the host: callback.
  std::vector<stamp_pair> device;
  /// Of each `device`, how long the device was at work on the stage; where it tells.
  std::vector<nanoseconds> busy;
  std::vector<stamp_pair> synced;  ///< device stage, host clock between two waits: sync
  std::vector<stamp_pair> cpu;     ///< CPU stage, host clock: all but none
  /// Index into the run's `threads`: which one ran the CPU stage, or launched the device stage.
  /// Empty where neither is timed.
  std::vector<std::uint32_t> threads;
  std::vector<part_record> parts;            ///< device stage; none for what is one whole
  std::vector<operation_record> operations;  ///< device stage, when traced; apart from the frames
  std::int64_t traced_runs = 0;
};

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
inline constexpr std::size_t most_output_values = 256;

/// What became of frames that were due on a schedule. All zero for `arrival: closed`.
struct load_record {
  std::vector<nanoseconds> dropped;  ///< when they had been due, ascending
  std::int64_t found_full = 0;       ///< frames that were due while the queue was full
  std::int64_t longest_queue = 0;    ///< frames that waited at once, at most
};

/// What the system's scheduler gave a thread.
struct thread_time {
  std::string thread;  ///< its name; threads of one name count together
  nanoseconds on_cpu = 0;
  nanoseconds waited = 0;  ///< ready to run, while others had the core
};

/// What else went on over the measured frames. Nothing where it is not known.
struct conditions_record {
  nanoseconds lasted = 0;                  ///< from before the first of them to after the last
  int cores = 0;                           ///< that the process could run on
  std::optional<double> load_before = {};  ///< the system's load average over a minute
  std::optional<double> load_after = {};
  std::optional<nanoseconds> steal = {};   ///< that a hypervisor took from all these cores together
  std::optional<nanoseconds> others = {};  ///< processor time of other processes on these cores
  std::optional<double> clock_before = {};  ///< of the core that drives the run, in MHz
  std::optional<double> clock_after = {};
  std::optional<device_state> device_before = {};
  std::optional<device_state> device_after = {};
  std::vector<thread_time> threads = {};  ///< of this process, those that ran or waited
};

/// Everything one run produced, in raw form. Every report is computed from this alone.
struct run_record {
  std::string pipeline;
  std::string description;
  std::optional<source_record> source;  ///< nothing for a pipeline made in C++ and for trials
  std::vector<std::pair<std::string, std::string>> parameters;
  settings run;  ///< as it was carried out
  device_properties device;
  int cpu_cores = 0;  ///< that CPU stages could have at once; 0 where an early record does not say
  std::vector<std::pair<std::string, std::string>> environment;  ///< versions, machine, date
  memory_usage memory;          ///< of this pipeline; its peak while it was prepared
  nanoseconds clock_error = 0;  ///< of device stamps on the host's clock, at most, if drift is even
  nanoseconds clock_drift = 0;  ///< of the device's clock over the frames, taken out of the stamps
  nanoseconds processor_time = 0;  ///< of all threads of the process, over the measured frames
  std::optional<conditions_record> conditions = {};  ///< nothing where no frame was begun
  std::vector<frame_record> frames;                  ///< those that ran to their end
  /// Host clock around the launch of each frame's graph: `graphs: frame`, all methods but none.
  std::vector<stamp_pair> launches;
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

/// Ends minus begins, in order.
std::vector<nanoseconds> lengths(const std::vector<stamp_pair>& stamps);

/// How long the device was at work on a stage, or a part of one, in each frame; where it does not
/// tell, from one event to the other, which holds waits for other streams' work.
std::vector<nanoseconds> device_times(const stage_record& stage);
std::vector<nanoseconds> device_times(const part_record& part);

/// One pipeline run twice in a process, to be held against the roofline of its device.
struct roofline_record {
  run_record stages;  ///< under `timing: event`, with the calibration
  /// Under `timing: layers`, for the times of the stages' parts; without frames where no stage has
  /// any, and where the first run ended early.
  run_record layers;
};

}  // namespace graphline
