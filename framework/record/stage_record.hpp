#pragma once

#include <algorithm>
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

/// Cost of a stage or part per frame, by the rules of docs/costs.md. Excludes traffic within a
/// group of fused layers. Unknown values are empty.
struct cost_record {
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes_read;
  std::optional<std::int64_t> bytes_written;
  precision arithmetic = precision::float32;          ///< of products
  std::optional<std::int64_t> bytes_rearranged = {};  ///< extra traffic of the implementation
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

inline std::optional<std::int64_t> bytes_of(const cost_record& cost) {
  if (!cost.bytes_read || !cost.bytes_written) return std::nullopt;
  return *cost.bytes_read + *cost.bytes_written;
}

/// A number of rows for which a device stage is prepared, and the cost of a frame that takes it.
struct bucket_record {
  std::int64_t rows = 0;
  cost_record cost = {};
};

template <class Archive>
void fields(Archive& a, part_of_record<bucket_record> auto& of) {
  a.value("rows", of.rows, row_count);
  a.value("cost", of.cost);
}

/// An interval in nanoseconds since the run's epoch.
struct stamp_pair {
  nanoseconds begin = 0;
  nanoseconds end = 0;
  nanoseconds length() const noexcept { return end - begin; }
};

/// A part of a device stage, such as a layer of a network.
struct part_record {
  std::string name;
  std::string choice;              ///< its kernel
  std::vector<stamp_pair> device;  ///< between the events around it: layers
  cost_record cost = {};
  std::vector<nanoseconds> busy = {};  ///< as `stage_record::busy`
  /// Index in `stage_record::buckets` of the frames that run this part; 0 without buckets. Other
  /// frames have intervals of no length.
  std::size_t bucket = 0;
};

template <class Archive>
void fields(Archive& a, part_of_record<part_record> auto& of) {
  a.value("name", of.name);
  a.value("choice", of.choice);
  a.value("cost", of.cost);
  a.value("bucket", of.bucket, index_below(a.buckets));
  a.column("device", of.device);
  a.busy("busy", of.busy, of.device);
}

/// An operation of a device stage, traced while no other stage runs.
struct operation_record {
  std::string name;
  std::string part;                   ///< part that it belongs to, if any
  std::vector<nanoseconds> calls;     ///< duration of each call, in all traced runs
  std::vector<nanoseconds> together;  ///< sum per traced run with calls
};

template <class Archive>
void fields(Archive& a, part_of_record<operation_record> auto& of) {
  a.value("name", of.name);
  a.value("part", of.part);
  a.value("calls", of.calls, any_time);
  a.value("together", of.together, any_time);
}

struct wait_record {
  std::size_t stage = 0;  ///< index of the earlier stage
  satisfied_by how = satisfied_by::stream_order;
  friend bool operator==(const wait_record&, const wait_record&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<wait_record> auto& of) {
  a.value("stage", of.stage, index_below(a.stages));  // an earlier stage
  a.value("how", of.how);
}

/// Negative values in `stage_record::causes`.
namespace cause {
inline constexpr std::int32_t frame_begun = -1;     ///< the frame's start
inline constexpr std::int32_t previous_frame = -2;  ///< the same stage of the previous frame
inline constexpr std::int32_t dropped_frame = -3;   ///< likewise, of a frame that was cut short
inline constexpr std::int32_t other_rank = -4;      ///< data of another rank
}  // namespace cause

/// Negative values in `stage_record::preferred`.
namespace choice {
inline constexpr std::int32_t other_pipeline = -1;  ///< over a stage of another pipeline
inline constexpr std::int32_t held_back = -2;       ///< the policy had held the stage back
}  // namespace choice

/// Negative value in `stage_record::rows`: the stage was skipped.
inline constexpr std::int32_t skipped = -1;

/// Raw samples of a stage. Columns that the timing method fills have one entry per measured frame;
/// the others are empty.
struct stage_record {
  std::string name;
  std::string kind;
  side on = side::device;
  std::size_t device_index = 0;  ///< of a device stage: index in the run's `devices`
  bool copy = false;
  graphline::priority priority = graphline::priority::normal;  ///< as declared
  std::int64_t level = 0;                                      ///< declared priority, for policies
  std::optional<nanoseconds> deadline = {};                    ///< after the frame's due time
  std::string stream;                                          ///< name; empty for a CPU stage
  cost_record cost;                                            ///< the sum over its parts, if any
  std::vector<wait_record> waits;  ///< by earlier stage, ascending, each once
  std::int64_t capacity = 0;       ///< most rows of a frame; 0 without `rows`
  /// Of a device stage with `rows`, ascending; the last is the capacity.
  std::vector<bucket_record> buckets = {};
  /// Rows that the frame has, or 1 for a stage without `rows`; may exceed the capacity, which then
  /// ran. A frame with 0 rows and one with `skipped` did not run the stage: its intervals have no
  /// length and state when that was decided. Filled under all methods, for stages that are decided
  /// per frame; the others run in every frame.
  std::vector<std::int32_t> rows = {};
  /// Device stage: host clock before and after its launch, under host, callback, event and layers.
  std::vector<stamp_pair> enqueued;
  /// Device stage: times of its two events, under event and layers, or of its two host functions,
  /// under callback.
  std::vector<stamp_pair> device;
  /// Time for which the device worked on the stage in each `device` interval, if it reports this.
  std::vector<nanoseconds> busy;
  std::vector<stamp_pair> synced;  ///< device stage, host clock between two waits: sync
  std::vector<stamp_pair> cpu;     ///< CPU stage, host clock: all but none
  /// Index in the run's `threads` of the thread that ran the CPU stage or launched the device
  /// stage. Empty if neither is timed.
  std::vector<std::uint32_t> threads;
  /// What the host waited for last, other than a thread, before it ran the CPU stage or launched
  /// the device stage: index of the stage that returned or completed, or a value of `cause`. Filled
  /// under all methods except none, but not with `graphs: frame`.
  std::vector<std::int32_t> causes;
  /// Stage that would have started instead without the policy, plus 1: the oldest of those that
  /// were ready; 0 if that was this stage, or a value of `choice`. Filled with `causes` if the run
  /// has a policy.
  std::vector<std::int32_t> preferred = {};
  /// Time at which the host saw the device stage complete, under the same methods. Empty if the
  /// host does not wait for the stage.
  std::vector<nanoseconds> seen;
  std::vector<part_record> parts;            ///< device stage; empty if it is not divided
  std::vector<operation_record> operations;  ///< device stage, if traced; not in measured frames
  std::int64_t traced_runs = 0;
};

template <class Archive>
void fields(Archive& a, part_of_record<stage_record> auto& of) {
  a.value("name", of.name);
  a.value("kind", of.kind);
  a.value("on", of.on);
  a.value("device_index", of.device_index, index_below(a.devices));
  a.value("copy", of.copy);
  a.value("stream", of.stream);
  a.value("priority", of.priority);
  a.value("level", of.level, any_level);
  a.value("deadline_ns", of.deadline, any_time);
  a.value("waits", of.waits);
  a.value("cost", of.cost);
  a.value("capacity", of.capacity, row_count);
  a.value("buckets", of.buckets);
  a.buckets = std::max<std::size_t>(1, of.buckets.size());
  a.column("rows", of.rows, of.capacity > 0 ? rows_of_frame : ran_or_skipped);
  a.column("enqueued", of.enqueued);
  a.column("device", of.device);
  a.busy("busy", of.busy, of.device);
  a.column("synced", of.synced);
  a.column("cpu", of.cpu);
  a.column("threads", of.threads, index_below(a.threads));
  a.column("causes", of.causes, cause_below(a.stages));
  a.column("preferred", of.preferred, preferred_below(a.all_stages));
  a.column("seen", of.seen, any_time);
  a.value("parts", of.parts);
  a.value("operations", of.operations);
  a.value("traced_runs", of.traced_runs, of.operations.empty() ? from_0 : from_1);
}

/// Returns true if the stage ran in a frame.
inline bool ran(const stage_record& stage, std::size_t frame) noexcept {
  return frame >= stage.rows.size() || stage.rows[frame] > 0;
}

/// Returns the index in `buckets` of the bucket that a frame takes; 0 without buckets.
/// @pre the stage ran in the frame
std::size_t bucket_of(const stage_record& stage, std::size_t frame) noexcept;

std::vector<nanoseconds> lengths(const std::vector<stamp_pair>& stamps);

/// Returns the device time of a stage or part in each frame: `busy` if the device reports it, else
/// the time between its events, which includes waiting for other streams.
std::vector<nanoseconds> device_times(const stage_record& stage);
std::vector<nanoseconds> device_times(const part_record& part);

}  // namespace graphline
