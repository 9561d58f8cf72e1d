#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/precision.hpp"
#include "framework/record/fields.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// What a stage or a part of one amounts to in a frame, as it was carried out: counted as
/// docs/costs.md says, without what only passed between layers that were computed as one. Absent:
/// not known.
struct cost_record {
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes_read;
  std::optional<std::int64_t> bytes_written;
  precision arithmetic = precision::float32;          ///< of its products
  std::optional<std::int64_t> bytes_rearranged = {};  ///< beyond these, by an implementation
  friend bool operator==(const cost_record&, const cost_record&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<cost_record> auto& of) {
  a.value("flops", of.flops, any_amount);
  a.value("bytes_read", of.bytes_read, any_amount);
  a.value("bytes_written", of.bytes_written, any_amount);
  a.value("bytes_rearranged", of.bytes_rearranged, any_amount);
  a.value("precision", of.arithmetic);
}

/// Read and written together; not known where one of them is not.
inline std::optional<std::int64_t> bytes_of(const cost_record& cost) {
  if (!cost.bytes_read || !cost.bytes_written) return std::nullopt;
  return *cost.bytes_read + *cost.bytes_written;
}

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

template <class Archive>
void fields(Archive& a, part_of_record<part_record> auto& of) {
  a.value("name", of.name);
  a.value("choice", of.choice);
  a.value("cost", of.cost);
  a.column("device", of.device);
  a.busy("busy", of.busy, of.device);
}

/// An operation of a device stage as a trace of the stage alone saw it.
struct operation_record {
  std::string name;
  std::string part;                   ///< the part that it is of; empty where it is of none
  std::vector<nanoseconds> calls;     ///< how long each took, in all traced runs
  std::vector<nanoseconds> together;  ///< of all calls in a run, for each run that had any
};

template <class Archive>
void fields(Archive& a, part_of_record<operation_record> auto& of) {
  a.value("name", of.name);
  a.value("part", of.part);
  a.value("calls", of.calls, any_time);
  a.value("together", of.together, any_time);
}

/// What a stage waits for, as planned.
struct wait_record {
  std::size_t stage = 0;  ///< index of the earlier stage
  satisfied_by how = satisfied_by::stream_order;
  friend bool operator==(const wait_record&, const wait_record&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<wait_record> auto& of) {
  a.value("stage", of.stage, index_below(a.stages));  // those before it, while a list is being read
  a.value("how", of.how);
}

/// Values of `stage_record::causes` below 0.
namespace cause {
inline constexpr std::int32_t frame_begun = -1;     ///< the host waited for nothing else
inline constexpr std::int32_t previous_frame = -2;  ///< for the same stage of the previous frame
}  // namespace cause

/// The raw samples of one stage: one entry per measured frame in each column the timing method
/// fills, none in the others. 16 bytes per frame and column of stamps.
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
  /// What the host waited for last before it ran the CPU stage or launched the device stage, beside
  /// a thread: the index of a stage that returned or completed, or a value of `cause`. All methods
  /// but none; empty in a frame's graph.
  std::vector<std::int32_t> causes;
  /// When the host saw the device stage complete. Same methods; empty if the host does not wait for
  /// the stage.
  std::vector<nanoseconds> seen;
  std::vector<part_record> parts;            ///< device stage; none for what is one whole
  std::vector<operation_record> operations;  ///< device stage, when traced; apart from the frames
  std::int64_t traced_runs = 0;
};

template <class Archive>
void fields(Archive& a, part_of_record<stage_record> auto& of) {
  a.value("name", of.name);
  a.value("kind", of.kind);
  a.value("on", of.on);
  a.value("copy", of.copy);
  a.value("stream", of.stream);
  a.value("priority", of.priority);
  a.value("waits", of.waits);
  a.value("cost", of.cost);
  a.column("enqueued", of.enqueued);
  a.column("device", of.device);
  a.busy("busy", of.busy, of.device);
  a.column("synced", of.synced);
  a.column("cpu", of.cpu);
  a.column("threads", of.threads, index_below(a.threads));
  a.column("causes", of.causes, cause_below(a.stages));
  a.column("seen", of.seen, any_time);
  a.value("parts", of.parts);
  a.value("operations", of.operations);
  a.value("traced_runs", of.traced_runs, of.operations.empty() ? from_0 : from_1);
}

/// Ends minus begins, in order.
std::vector<nanoseconds> lengths(const std::vector<stamp_pair>& stamps);

/// How long the device was at work on a stage, or a part of one, in each frame; where it does not
/// tell, from one event to the other, which holds waits for other streams' work.
std::vector<nanoseconds> device_times(const stage_record& stage);
std::vector<nanoseconds> device_times(const part_record& part);

}  // namespace graphline
